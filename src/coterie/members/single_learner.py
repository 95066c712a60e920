"""The tags and the metadata routing of ensembles of copies of one learner."""

from typing import Any

from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from coterie.errors import InvalidParameter


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
