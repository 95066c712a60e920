"""How fits on a cluster go about it: `coterie.cluster_settings`."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from coterie._params import Integer, Real, in_short
from coterie.errors import InvalidParameter


@dataclass(frozen=True)
class ClusterSettings:
    """See `cluster_settings`."""

    max_restarts: int = 3
    step_timeout: float = 30.0
    epoch_seconds: float = 10.0
    client: Any = None


_SETTINGS: ContextVar[ClusterSettings | None] = ContextVar("cluster_settings", default=None)

_ALLOWED: dict[str, Any] = {
    "max_restarts": Integer(0),
    "step_timeout": Real(0, None, closed="neither"),
    "epoch_seconds": Real(0, None, closed="neither"),
}


def current_settings() -> ClusterSettings:
    """Those of the innermost `cluster_settings`."""
    return _SETTINGS.get() or ClusterSettings()


@contextmanager
def cluster_settings(**given: Any) -> Iterator[ClusterSettings]:
    """Settings of the fits inside that are made on a cluster; none of them changes a model.

    Parameters
    ----------
    max_restarts : int, default=3
        How often a fit begins anew, from its last finished round, after workers were lost.
    step_timeout : float, default=30.0
        Seconds without any sign of life after which a worker counts as lost, though its connection is open.
    epoch_seconds : float, default=10.0
        About how long workers grow rounds between two looks of the client.
    client : dask.distributed.Client, optional
        The client to use, if it is not the default one.

    Examples
    --------
    >>> with cluster_settings(max_restarts=10) as settings:
    ...     settings.max_restarts, settings.step_timeout
    (10, 30.0)
    """
    for name, value in given.items():
        if name != "client" and name not in _ALLOWED:
            allowed = ", ".join([*_ALLOWED, "client"])
            raise InvalidParameter.expecting(
                f"cluster_settings has no setting {name!r}", allowed, name, value
            )
        if name in _ALLOWED and not _ALLOWED[name].accepts(value):
            raise InvalidParameter.expecting(
                f"{name}={in_short(value)}", _ALLOWED[name].describe(), name, value
            )
    settings = replace(current_settings(), **given)
    token = _SETTINGS.set(settings)
    try:
        yield settings
    finally:
        _SETTINGS.reset(token)
