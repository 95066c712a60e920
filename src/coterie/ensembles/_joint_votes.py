"""All votes at once: what totally corrective boosting does after each round.

Both functions take the gains of the members so far, a column for each, and the first weights of the rows, which sum to
one. Votes are not negative.
"""

import numpy as np
from scipy.optimize import linprog

from coterie._typing import BoolArray, FloatArray
from coterie.errors import InvalidInput

__all__ = ["exponential_votes", "margin_votes"]

_NEWTON_STEPS = 100
_SMALL_SLOPE = 1e-12


def exponential_votes(gains: FloatArray, weight: FloatArray, start: FloatArray, most: float) -> FloatArray:
    """The votes from 0 to `most` with the least exponential loss: Newton steps that stay within these bounds.

    The logarithm of the loss is minimised. Its slopes are minus the agreements of the members under the weights that
    the votes lead to: at the minimum those with a vote say nothing new.
    """
    votes = start.copy()
    value, row_weight = _log_loss(gains, weight, votes)
    for _ in range(_NEWTON_STEPS):
        slope = -(gains.T @ row_weight)
        free = ~(((votes <= 0) & (slope > 0)) | ((votes >= most) & (slope < 0)))
        if np.abs(slope[free]).max(initial=0.0) < _SMALL_SLOPE:
            break
        direction = np.zeros_like(votes)
        direction[free] = _newton_direction(gains[:, free], row_weight, slope[free])
        size = 1.0
        while size > 1e-10:
            tried = np.clip(votes + size * direction, 0.0, most)
            new_value, new_weight = _log_loss(gains, weight, tried)
            if new_value <= value + 1e-4 * float(slope @ (tried - votes)):
                break
            size /= 2
        else:
            break
        moved = np.abs(tried - votes).max()
        votes, value, row_weight = tried, new_value, new_weight
        if moved < 1e-14 * max(1.0, votes.max()):
            break
    return votes


def _log_loss(gains: FloatArray, weight: FloatArray, votes: FloatArray) -> tuple[float, FloatArray]:
    """The logarithm of the loss, and the weights of the rows after these votes."""
    exponents = -(gains @ votes)
    shift = float(exponents[weight > 0].max())
    row_weight = weight * np.exp(np.minimum(exponents - shift, 0.0))
    total = float(row_weight.sum())
    return shift + float(np.log(total)), row_weight / total


def _newton_direction(gains: FloatArray, row_weight: FloatArray, slope: FloatArray) -> FloatArray:
    curvature = (gains * row_weight[:, None]).T @ gains - np.outer(slope, slope)
    # Members that say the same leave a valley without a floor of its own: a little more curvature makes one.
    curvature[np.diag_indices_from(curvature)] += 1e-10 * max(1e-300, float(np.trace(curvature)))
    return np.asarray(-np.linalg.solve(curvature, slope))


def margin_votes(gains: FloatArray, weight: FloatArray, nu: float) -> tuple[FloatArray, FloatArray, float]:
    """Votes that sum to one with the largest soft margin: all but a share `nu` of the weight should reach it.

    The linear programme of LPBoost (Demiriz, Bennett and Shawe-Taylor, 2002), solved for the weights of the rows: the
    votes are the prices of its constraints.

    Returns
    -------
    The votes; the weights of the rows, which sum to one; and the largest agreement of a member under them.
    """
    n_rows, n_members = gains.shape
    found = linprog(
        np.append(np.zeros(n_rows), 1.0),
        A_ub=np.column_stack([gains.T, -np.ones(n_members)]),
        b_ub=np.zeros(n_members),
        A_eq=np.append(np.ones(n_rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[*((0.0, upper) for upper in weight / nu), (None, None)],
        method="highs",
    )
    if found.x is None:
        raise InvalidInput(
            f"The linear programme of corrective='margin' has no answer: {found.message} Weights of very different "
            "size can cause this; corrective='exponential' has no such limit."
        )
    votes = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
    row_weight = _normalised(np.maximum(found.x[:-1], 0.0), weight > 0)
    return votes / votes.sum(), row_weight, float((row_weight @ gains).max())


def _normalised(row_weight: FloatArray, kept: BoolArray) -> FloatArray:
    row_weight = np.where(kept, row_weight, 0.0)
    return np.asarray(row_weight / row_weight.sum())
