"""Which rows each tree of a booster sees."""

import math
from typing import Any

import coterie._engine as _engine
from coterie.errors import InvalidParameter

__all__ = ["automatic_share", "sampling_of"]

_METHODS = {
    "uniform": _engine.SamplingMethod.uniform,
    "gradient_based": _engine.SamplingMethod.minimal_variance,
    "bayesian": _engine.SamplingMethod.bayesian,
}

_ALL_BELOW = 200_000
_LEAST_SHARE = 0.3


def sampling_of(method: str, subsample: float | str, n_rows: int) -> tuple[Any, float]:
    """The engine's method and the share of rows that a tree sees; every row once if that share is 1."""
    if method == "bayesian":
        if subsample not in ("auto", 1):
            raise InvalidParameter(
                f"subsample={subsample!r} has no meaning with sampling_method='bayesian', which weights every row "
                "and leaves none out. Leave subsample at 'auto', or choose 'uniform' or 'gradient_based'."
            )
        return _METHODS[method], 1.0
    share = automatic_share(n_rows) if isinstance(subsample, str) else float(subsample)
    return (_METHODS[method] if share < 1 else _engine.SamplingMethod.none), share


def automatic_share(n_rows: int) -> float:
    """All of up to 200,000 rows; of more, the geometric mean of 200,000 and their number, and 0.3 of them at least.

    Examples
    --------
    >>> [automatic_share(n_rows) for n_rows in (50_000, 800_000, 10_000_000)]
    [1.0, 0.5, 0.3]
    """
    return min(1.0, max(_LEAST_SHARE, math.sqrt(_ALL_BELOW / n_rows)))
