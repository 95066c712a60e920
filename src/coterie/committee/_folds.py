"""How a committee holds rows out: a number of folds is drawn here, everything else is scikit-learn's."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from coterie._params import Whole
from coterie._typing import AnyArray, Task
from coterie.ensembles._out_of_fold import Fold, folds_of, splitter_of
from coterie.errors import InvalidInput

__all__ = ["drawn_folds"]


def drawn_folds(
    cv: Any, X: Any, y: AnyArray, groups: AnyArray | None, task: Task, seed: int, owner: str
) -> list[Fold]:
    """The folds that `cv` stands for.

    A number: rows are mixed first, classes are spread evenly, and rows of a group stay together. `y` are codes of
    classes or numbers.
    """
    n_rows = len(y)
    if cv is not None and not Whole(2).accepts(cv):
        splitter = splitter_of(cv, y, classifier=task == "classification")
        given = {} if groups is None else {"groups": groups}
        return folds_of(splitter, X, y, n_rows, owner, **given)
    n_parts = n_rows if groups is None else int(groups.max()) + 1
    n_folds = min(5 if cv is None else int(cv), n_parts)
    if n_folds < 2:
        what = "rows" if groups is None else "groups"
        raise InvalidInput(
            f"{owner} holds rows out, and n_samples={n_rows} with {n_parts} {what} cannot be parted: expected at least "
            f"two {what}."
        )
    place = np.zeros((n_rows, 1))
    return folds_of(_Quiet(_splitter(n_folds, y, groups, task, seed)), place, y, n_rows, owner, groups=groups)


def _splitter(n_folds: int, y: AnyArray, groups: AnyArray | None, task: Task, seed: int) -> Any:
    draws: dict[str, Any] = {"n_splits": n_folds, "shuffle": True, "random_state": seed % 2**32}
    spread = task == "classification" and np.bincount(y).max() >= n_folds
    if groups is None:
        return StratifiedKFold(**draws) if spread else KFold(**draws)
    return StratifiedGroupKFold(**draws) if spread else GroupKFold(**draws)


class _Quiet:
    """A splitter that does not mind rare classes: members that miss one say that it has no chance."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter

    def __repr__(self) -> str:
        return repr(self._splitter)

    def split(self, X: Any, y: Any, groups: Any = None) -> list[Any]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            pairs = list(self._splitter.split(X, y, groups))
        return [(train, test) for train, test in pairs if len(train) and len(test)]
