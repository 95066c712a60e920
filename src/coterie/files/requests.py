"""Requests of metadata routing as plain names: which arguments of which method an estimator takes."""

from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from coterie.errors import ModelFileError

REQUEST_ATTRIBUTE = "_metadata_request"
_METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "split",
    "transform",
    "inverse_transform",
)


def requests_of(estimator: Any) -> dict[str, dict[str, Any]]:
    """By method and argument: whether it is requested, or under which other name."""
    request = getattr(estimator, "__dict__", {}).get(REQUEST_ATTRIBUTE)
    if request is None:
        return {}
    requested = {method: dict(getattr(request, method).requests) for method in _METHODS}
    return {method: own for method, own in requested.items() if own}


def set_requests(estimator: Any, requests: Any) -> None:
    """Give an estimator the requests of the one that was stored."""
    if not isinstance(requests, dict) or not all(isinstance(own, dict) for own in requests.values()):
        raise ModelFileError("requests arguments in another form.")
    request = MetadataRequest(owner=estimator)
    for method, own in requests.items():
        if method not in _METHODS:
            raise ModelFileError(f"requests arguments of {method!r:.40}, which is no method.")
        for name, requested in own.items():
            if not (requested is None or isinstance(requested, bool | str)):
                raise ModelFileError(f"requests the argument {name!r:.40} in another form.")
        getattr(request, method)._requests = dict(own)
    vars(estimator)[REQUEST_ATTRIBUTE] = request
