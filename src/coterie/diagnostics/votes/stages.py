"""What a fitted model says after some of its rounds or members."""

from collections.abc import Iterator
from inspect import signature
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.bagging._base import BaggingBase
from coterie.diagnostics.votes.sklearn_ballots import answers_side_by_side
from coterie.diagnostics.votes.voting_margins import chosen_rounds
from coterie.errors import InvalidParameter

__all__ = ["n_stages_of", "staged_answers"]


def staged_answers(model: Any, X: Any, stages: Any) -> tuple[RowArray, list[AnyArray]]:
    """The numbers of the stages that were asked for, and what `predict` would say after each.

    `stages` is None for the model as it is; "all", a number or some numbers for models that have rounds or members.
    """
    if stages is None:
        return np.array([n_stages_of(model) or 1]), [np.asarray(model.predict(X))]
    n_stages = n_stages_of(model)
    if n_stages is None:
        raise InvalidParameter(
            f"stages={in_short(stages)}: {type(model).__name__} has no rounds and no members that could be asked one "
            "by one. Expected None."
        )
    numbers = chosen_rounds(stages, n_stages)
    return numbers, list(_asked(model, X, numbers))


def n_stages_of(model: Any) -> int | None:
    """How many rounds or members a model has; None if they cannot be asked."""
    members = getattr(model, "estimators_", None)
    if hasattr(model, "staged_predict"):
        known = getattr(model, "n_estimators_", getattr(model, "n_iter_", None))
        return int(known) if known is not None else None if members is None else len(members)
    if _takes_n_trees(model) or isinstance(model, BaggingBase) or _is_side_by_side(model):
        return len(members)  # type: ignore[arg-type]
    return None


def _takes_n_trees(model: Any) -> bool:
    return hasattr(model, "forest_") and "n_trees" in signature(model.predict).parameters


def _is_side_by_side(model: Any) -> bool:
    """scikit-learn's forests and bagging."""
    names = {kind.__name__ for kind in type(model).__mro__ if kind.__module__.startswith("sklearn.ensemble.")}
    return bool(names & {"BaseForest", "BaseBagging"}) and hasattr(model, "estimators_")


def _asked(model: Any, X: Any, numbers: RowArray) -> Iterator[AnyArray]:
    if hasattr(model, "staged_predict"):
        wanted = set(numbers.tolist())
        staged = islice(model.staged_predict(X), int(numbers[-1]))
        return (np.array(said) for number, said in enumerate(staged, start=1) if number in wanted)
    if _takes_n_trees(model):
        return (np.asarray(model.predict(X, n_trees=int(number))) for number in numbers)
    members = model._answers_of(X) if isinstance(model, BaggingBase) else answers_side_by_side(model, X)
    return _means(model, members, numbers)


def _means(model: Any, members: Iterator[FloatArray], numbers: RowArray) -> Iterator[AnyArray]:
    """The mean of the first members, or the class for which it is largest."""
    total: FloatArray | float = 0.0
    wanted = set(numbers.tolist())
    for number, said in enumerate(islice(members, int(numbers[-1])), start=1):
        total = total + said
        if number in wanted:
            assert not isinstance(total, float)
            if is_classifier(model):
                yield np.asarray(model.classes_)[total.argmax(axis=1)]
            else:
                mean = total / number
                yield mean[:, 0] if mean.shape[1] == 1 else mean
