"""Whether `fit` of any learner takes sample weights, and what it calls them."""

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from coterie.errors import InvalidType


def weight_parameter(estimator: Any, *, pass_on: bool = False) -> str | None:
    """The argument of `fit` that weighs rows: for a pipeline, through its last step; None if it takes none.

    With `pass_on` a meta-estimator that hands on whatever it is given counts as one that takes weights.
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = None if last is None or isinstance(last, str) else weight_parameter(last, pass_on=pass_on)
        return None if inner is None else f"{name}__{inner}"
    takes = has_fit_parameter(estimator, "sample_weight") or (pass_on and _passes_on(estimator))
    return "sample_weight" if takes else None


def weight_params(estimator: Any, sample_weight: Any) -> dict[str, Any]:
    """How `fit` of this estimator takes weights by name; an error if it takes none."""
    if sample_weight is None:
        return {}
    name = weight_parameter(estimator, pass_on=True)
    if name is None:
        step = _last_step(estimator)
        raise InvalidType(
            f"Underlying estimator {type(step).__name__} does not support sample weights.",
            parameter="sample_weight",
            received=step,
            allowed="None for such members",
            hint="Leave sample_weight out, or choose members that take it.",
        )
    return {name: sample_weight}


def _last_step(estimator: Any) -> Any:
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def _passes_on(step: Any) -> bool:
    """A meta-estimator whose fit passes on what it is given."""
    return (
        isinstance(step, FrozenEstimator)
        or has_fit_parameter(step, "fit_params")
        or has_fit_parameter(step, "params")
    )
