"""What an estimator asks of metadata routing, as plain names: which arguments of which method it wants to be given."""

from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from coterie.errors import ModelFileError

__all__ = ["HELD_AS", "requests_of", "set_requests"]

HELD_AS = "_metadata_request"
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


def requests_of(held: Any) -> dict[str, dict[str, Any]]:
    """By method and argument: whether it is wanted, or under which other name."""
    request = getattr(held, "__dict__", {}).get(HELD_AS)
    if request is None:
        return {}
    asked = {method: dict(getattr(request, method).requests) for method in _METHODS}
    return {method: own for method, own in asked.items() if own}


def set_requests(made: Any, requests: Any) -> None:
    """Let an estimator ask for the same as the one that was stored."""
    if not isinstance(requests, dict) or not all(isinstance(own, dict) for own in requests.values()):
        raise ModelFileError("asks for arguments in another form.")
    request = MetadataRequest(owner=made)
    for method, own in requests.items():
        if method not in _METHODS:
            raise ModelFileError(f"asks for arguments of {method!r:.40}, which is no method.")
        for name, wanted in own.items():
            if not (wanted is None or isinstance(wanted, bool | str)):
                raise ModelFileError(f"asks for the argument {name!r:.40} in another form.")
        getattr(request, method)._requests = dict(own)
    vars(made)[HELD_AS] = request
