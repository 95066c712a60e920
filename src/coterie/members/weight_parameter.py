"""What `fit` of any learner takes: sample weights, by what name, and what metadata routing hands on; and its tags."""

from typing import Any

from sklearn import get_config
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from coterie.errors import InvalidParameter, InvalidType


def weight_parameter(estimator: Any, *, pass_on: bool = False) -> str | None:
    """The argument of `fit` that weighs rows: for a pipeline, through its last step; None if it takes none.

    With `pass_on` a meta-estimator that hands on whatever it is given counts as one that takes weights.
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_parameter(last, pass_on=pass_on)
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


def takes_weight(learner: Any) -> bool:
    """Whether `fit` of a learner, or of the last step of a pipeline, takes weights."""
    return weight_parameter(learner, pass_on=True) is not None


def router_of(ensemble: Any, learner: Any) -> MetadataRouter:
    """Weights are for the ensemble, everything else is for `fit` of the learner."""
    router = MetadataRouter(owner=ensemble).add_self_request(ensemble)
    return router.add(estimator=learner, method_mapping=MethodMapping().add(caller="fit", callee="fit"))


def params_of_learner(ensemble: Any, others: dict[str, Any]) -> dict[str, Any]:
    """What `fit` of the learner is given of what `fit` of the ensemble was given beside weights."""
    if not others:
        return {}
    if not get_config()["enable_metadata_routing"]:
        raise routing_is_off(others, "sample_weight")
    return dict(process_routing(ensemble, "fit", **others).estimator.fit)


def routing_is_off(others: dict[str, Any], taken: str) -> InvalidParameter:
    """The error of a `fit` that was given more than it takes without scikit-learn's routing."""
    return InvalidParameter(
        f"fit received {sorted(others)}, and takes {taken} alone unless metadata routing is on:",
        parameter=min(others),
        received=others[min(others)],
        allowed=taken,
        hint="sklearn.set_config(enable_metadata_routing=True).",
    )


def take_input_tags(tags: Any, learner: Any) -> None:
    """The ensemble takes the tables that its learner takes."""
    try:
        own = get_tags(learner)
    except Exception:  # fit explains whatever is wrong with the learner
        return
    for name in ("allow_nan", "sparse", "categorical", "string"):
        setattr(tags.input_tags, name, getattr(own.input_tags, name))
