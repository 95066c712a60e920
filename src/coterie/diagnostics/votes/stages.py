"""What a fitted model predicts after some of its rounds or members."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray, RowArray
from coterie.diagnostics.sklearn_adapters import with_protocols
from coterie.diagnostics.votes.voting_margins import chosen_rounds
from coterie.errors import InvalidParameter


def staged_predictions(model: Any, X: Any, stages: Any) -> tuple[RowArray, list[AnyArray]]:
    """The numbers of the chosen stages, and what `predict` would be after each.

    `stages` is None for the model as it is; "all", a number or some numbers for models that have rounds or members.
    """
    n_stages = n_stages_of(model)
    if stages is None:
        return np.array([n_stages or 1]), [np.asarray(model.predict(X))]
    if n_stages is None:
        raise InvalidParameter(
            f"stages={in_short(stages)}: {type(model).__name__} has no rounds, and no members that could predict "
            "without the others. Expected None.",
            parameter="stages",
            received=stages,
            allowed="None",
        )
    numbers = chosen_rounds(stages, n_stages)
    return numbers, list(_predictions_after(model, X, numbers))


def n_stages_of(model: Any) -> int | None:
    """How many rounds or members a model has; None if they cannot be looked at one by one."""
    if hasattr(model, "staged_predict"):
        members = getattr(model, "estimators_", None)
        known = getattr(model, "n_estimators_", getattr(model, "n_iter_", None))
        return int(known) if known is not None else None if members is None else len(members)
    ensemble = with_protocols(model)
    return int(ensemble.n_estimators_) if hasattr(ensemble, "predict_after") else None


def _predictions_after(model: Any, X: Any, numbers: RowArray) -> Iterator[AnyArray]:
    if not hasattr(model, "staged_predict"):
        found: Iterator[AnyArray] = with_protocols(model).predict_after(X, numbers)
        return found
    wanted = set(numbers.tolist())
    staged = islice(model.staged_predict(X), int(numbers[-1]))
    return (np.array(own) for number, own in enumerate(staged, start=1) if number in wanted)
