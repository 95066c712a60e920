"""How a committee holds rows out: a number of folds is drawn here, everything else is scikit-learn's."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from coterie._params import Integer
from coterie._typing import AnyArray, Task
from coterie.errors import InvalidInput
from coterie.members.out_of_fold import Fold, folds_of, splitter_of


def drawn_folds(
    cv: Any, X: Any, y: AnyArray, groups: AnyArray | None, task: Task, seed: int, owner: str
) -> list[Fold]:
    """The folds that `cv` stands for.

    A number: rows are mixed first, classes are spread evenly, and rows of a group stay together. `y` are codes of
    classes or numbers.
    """
    n_rows = len(y)
    if cv is not None and not Integer(2).accepts(cv):
        splitter = splitter_of(cv, y, classifier=task == "classification")
        given = {} if groups is None else {"groups": groups}
        return folds_of(splitter, X, y, n_rows, owner, **given)
    n_parts = n_rows if groups is None else int(groups.max()) + 1
    n_folds = min(5 if cv is None else int(cv), n_parts)
    if n_folds < 2:
        what = "rows" if groups is None else "groups"
        raise InvalidInput.expecting(
            f"{owner} holds rows out, and n_samples={n_rows} with {n_parts} {what} cannot be split",
            f"at least two {what}",
            "cv",
            cv,
        )
    splitter = _splitter(n_folds, y, groups, task, seed)
    with warnings.catch_warnings():
        # Members that were fitted without a rare class give it no probability.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        pairs = list(splitter.split(np.zeros((n_rows, 1)), y, groups))
    return [Fold(train, test) for train, test in pairs if len(train) and len(test)]


def thinned(folds: list[Fold], most: int, seed: int) -> list[Fold]:
    """The same folds with fewer rows held out, drawn at random, if they are more than `most` in all.

    Examples
    --------
    >>> [fold] = thinned([Fold(np.arange(5), np.arange(5, 15))], 4, seed=0)
    >>> len(fold.train), len(fold.test)
    (5, 4)
    """
    total = sum(len(fold.test) for fold in folds)
    if total <= most:
        return folds
    rng = np.random.default_rng(seed)
    return [
        Fold(fold.train, np.sort(rng.permutation(fold.test)[: max(1, len(fold.test) * most // total)]))
        for fold in folds
    ]


def _splitter(n_folds: int, y: AnyArray, groups: AnyArray | None, task: Task, seed: int) -> Any:
    draws: dict[str, Any] = {"n_splits": n_folds, "shuffle": True, "random_state": seed % 2**32}
    spread = task == "classification" and np.bincount(y).max() >= n_folds
    if groups is None:
        return StratifiedKFold(**draws) if spread else KFold(**draws)
    return StratifiedGroupKFold(**draws) if spread else GroupKFold(**draws)
