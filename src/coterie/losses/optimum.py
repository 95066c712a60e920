"""Constants that fit best where no formula has them: on top of an offset that differs from row to row."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logsumexp, softmax

from coterie._typing import FloatArray

__all__ = ["LEAST_SHARE", "best_log_odds", "best_log_shares", "crossing"]

LEAST_SHARE = 1e-7  # no share is taken for nothing or all, so its logarithm is a number


def crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function meets zero, which lies between `low` and `high` up to rounding.

    Examples
    --------
    >>> round(crossing(lambda x: x**3 - 8, 0.0, 5.0), 9)
    2.0
    """
    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    fine = 4 * float(np.finfo(np.float64).eps)
    least = max(1e-300, 1e-18 * (high - low))
    return float(brentq(function, low, high, xtol=least, rtol=fine, maxiter=2000))


def best_log_odds(share: float, offset: FloatArray | None, weight: FloatArray | None) -> float:
    """The constant that makes the mean probability of rows with these log odds equal to `share`."""
    share = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
    alone = float(np.log(share / (1 - share)))
    if offset is None:
        return alone
    part = _parts(weight, len(offset))
    offset, part = offset[part > 0], part[part > 0]
    return crossing(
        lambda constant: float(part @ expit(offset + constant)) - share,
        alone - float(offset.max()),
        alone - float(offset.min()),
    )


def best_log_shares(shares: FloatArray, offset: FloatArray | None, weight: FloatArray | None) -> FloatArray:
    """The constants, zero on average, that make the mean probabilities of K classes equal to `shares`."""
    shares = np.clip(shares, LEAST_SHARE, 1.0)
    if offset is None:
        return np.asarray(np.log(shares) - np.log(shares).mean())
    part = _parts(weight, len(offset))
    offset, part = offset[part > 0], part[part > 0]
    offset = offset - offset.max(axis=1, keepdims=True)
    shares = shares / shares.sum()
    constants = np.log(shares) - np.log(shares).mean()
    for _ in range(200):
        better = _step_to_shares(constants, shares, offset, part)
        moved = np.abs(better - constants).max()
        constants = better
        if moved < 1e-13 * max(1.0, float(np.abs(constants).max())):
            break
    return np.asarray(constants)


def _step_to_shares(
    constants: FloatArray, shares: FloatArray, offset: FloatArray, part: FloatArray
) -> FloatArray:
    """Newton's step, halved until the loss does not grow."""

    def cost(at: FloatArray) -> float:
        return float(part @ logsumexp(offset + at, axis=1) - shares @ at)

    p = softmax(offset + constants, axis=1)
    expected = part @ p
    curvature = np.diag(expected) - (p * part[:, None]).T @ p
    # Scores shifted together give the same probabilities: that direction is flat, and is left alone.
    step = np.linalg.pinv(curvature, rcond=1e-12, hermitian=True) @ (shares - expected)
    step -= step.mean()
    here = cost(constants)
    for _ in range(60):
        if cost(constants + step) <= here:
            return np.asarray(constants + step)
        step /= 2
    return constants


def _parts(weight: FloatArray | None, n_rows: int) -> FloatArray:
    """What each row counts, in all 1."""
    return np.full(n_rows, 1 / n_rows) if weight is None else weight / weight.sum()
