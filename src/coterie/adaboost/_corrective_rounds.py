"""Rounds of totally corrective boosting: after each of them the votes of all members are found anew.

The two functions that find votes are given what the members so far predict for the rows, and the first weights of the
rows, which sum to one. Votes are not negative.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from coterie._typing import AnyArray, FloatArray
from coterie.adaboost._rounds import Fitter, MemberRounds, Tally, scores_of_shares
from coterie.adaboost._votes import MOST_VOTE, gains_of, leads_of
from coterie.errors import InvalidInput

_NEWTON_STEPS = 100
_SMALL_SLOPE = 1e-12


def exponential_votes(gains: FloatArray, weight: FloatArray, start: FloatArray, most: float) -> FloatArray:
    """The votes from 0 to `most` with the least exponential loss: Newton steps that stay within these bounds.

    `gains` has a column for each member. The logarithm of the loss is minimised. Its slopes are minus the agreements of
    the members under the weights that the votes lead to: at the minimum those with a vote add nothing new.
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
    # Members that predict the same leave a valley without a floor of its own: a little more curvature makes one.
    curvature[np.diag_indices_from(curvature)] += 1e-10 * max(1e-300, float(np.trace(curvature)))
    return np.asarray(-np.linalg.solve(curvature, slope))


@dataclass(frozen=True)
class MarginVotes:
    """The solution of the linear programme.

    Attributes
    ----------
    votes : they sum to one
    pair_weight : of each row and each of its wrong classes, shape (n_rows, n_classes - 1); all sum to one
    agreement : the largest that a member has under these weights
    """

    votes: FloatArray
    pair_weight: FloatArray
    agreement: float


def margin_votes(leads: FloatArray, weight: FloatArray, nu: float) -> MarginVotes:
    """Votes with the largest soft margin: all but a share `nu` of the weight should reach it.

    The margin of a row is the lead of its own class over the best of the others. This is the linear programme of
    LPBoost (Demiriz, Bennett and Shawe-Taylor, 2002), solved for the weights: the votes are the prices of its
    constraints.

    Parameters
    ----------
    leads : shape (n_rows, n_classes - 1, n_members)
        By how much the share of the own class is above that of each of the others.
    weight : of the rows; they sum to one
    """
    n_rows, n_others, n_members = leads.shape
    n_pairs = n_rows * n_others
    by_member = np.column_stack([leads.reshape(n_pairs, n_members).T, -np.ones(n_members)])
    # No row may weigh more than its share of nu.
    row_of_pair = sparse.csr_array(
        (np.ones(n_pairs), np.repeat(np.arange(n_rows), n_others), np.arange(n_pairs + 1)),
        shape=(n_pairs, n_rows),
    )
    by_row = sparse.hstack([row_of_pair.T, sparse.csr_array((n_rows, 1))])
    found = linprog(
        np.append(np.zeros(n_pairs), 1.0),
        A_ub=sparse.vstack([sparse.csr_array(by_member), by_row], format="csr"),
        b_ub=np.append(np.zeros(n_members), weight / nu),
        A_eq=np.append(np.ones(n_pairs), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * n_pairs, (None, None)],
        method="highs",
    )
    if found.x is None:
        raise InvalidInput(
            f"The linear programme of corrective='margin' has no solution: {found.message} Weights of very different "
            "size can cause this; corrective='exponential' has no such limit."
        )
    votes = np.maximum(-np.asarray(found.ineqlin.marginals)[:n_members], 0.0)
    pair_weight = np.maximum(found.x[:-1], 0.0).reshape(n_rows, n_others)
    pair_weight[weight == 0] = 0.0
    pair_weight /= pair_weight.sum()
    agreement = float(np.tensordot(pair_weight, leads, axes=2).max())
    return MarginVotes(votes / votes.sum(), pair_weight, agreement)


class JointVotes(Protocol):
    """What the votes of all members should be, and what follows from them."""

    def take(self, shares: FloatArray) -> None:
        """A new member gives these shares to the classes of the training rows."""

    def best_sizes(self, start: FloatArray) -> FloatArray:
        """The best votes, none negative; `start` is where to look first."""

    def is_useful(self, shares: FloatArray) -> bool:
        """Whether a member with these shares would improve them."""

    def row_weights(self) -> FloatArray | None:
        """The weights that go with the best votes; None: those of the exponential loss."""


class LeastLoss:
    """The votes with the least exponential loss."""

    def __init__(self, codes: AnyArray, weight: FloatArray) -> None:
        self._codes = codes
        self._weight = weight
        self._gains: list[FloatArray] = []

    def take(self, shares: FloatArray) -> None:
        self._gains.append(gains_of(shares, self._codes))

    def best_sizes(self, start: FloatArray) -> FloatArray:
        start = np.minimum(start, MOST_VOTE)
        return exponential_votes(np.column_stack(self._gains), self._weight, start, MOST_VOTE)

    def is_useful(self, shares: FloatArray) -> bool:
        return True

    def row_weights(self) -> FloatArray | None:
        return None


class WidestMargin:
    """The votes with the largest soft margin; the weights come from the same linear programme."""

    def __init__(self, codes: AnyArray, weight: FloatArray, nu: float) -> None:
        self._codes = codes
        self._weight = weight
        self._nu = nu
        self._leads: list[FloatArray] = []
        self._solved: MarginVotes | None = None

    def take(self, shares: FloatArray) -> None:
        self._leads.append(leads_of(shares, self._codes))
        self._solved = None

    def best_sizes(self, start: FloatArray) -> FloatArray:
        return self._solution().votes

    def is_useful(self, shares: FloatArray) -> bool:
        """Its agreement must be above that of every member so far, which the votes lower."""
        if not self._leads:
            return True
        agreement = float(np.vdot(self._solution().pair_weight, leads_of(shares, self._codes)))
        return abs(agreement) > self._solution().agreement + 1e-9

    def row_weights(self) -> FloatArray | None:
        return np.asarray(self._solution().pair_weight.sum(axis=1)) if self._leads else None

    def _solution(self) -> MarginVotes:
        if self._solved is None:
            self._solved = margin_votes(np.stack(self._leads, axis=2), self._weight, self._nu)
        return self._solved


class CorrectiveRounds(MemberRounds):
    """Keeps the shares of all members. A member with a negative vote counts as its opposite, with a positive one."""

    def __init__(
        self, fitter: Fitter, codes: AnyArray, n_classes: int, weight: FloatArray, joint_votes: JointVotes
    ) -> None:
        super().__init__(fitter, codes, n_classes, weight)
        self._joint_votes = joint_votes
        self._signs: list[float] = []
        self._kept_shares: list[FloatArray] = []
        self._sizes = np.empty(0)

    def is_useful(self) -> bool:
        return self._joint_votes.is_useful(self._latest_shares)

    def count(self, vote: float, votes: FloatArray | None = None) -> Tally:
        self._signs.append(math.copysign(1.0, vote))
        self._kept_shares.append(self._signs[-1] * self._latest_shares)
        self._joint_votes.take(self._kept_shares[-1])
        start = np.append(self._sizes, abs(vote))
        self._sizes = self._joint_votes.best_sizes(start) if votes is None else np.abs(votes)
        shares = np.tensordot(self._sizes, np.stack(self._kept_shares), axes=1)
        self._margins = gains_of(shares, self._codes)
        self._scores = scores_of_shares(shares)
        self._reweight()
        return self._tally(np.copysign(self._sizes, self._signs))

    def row_weights(self) -> FloatArray:
        weight = self._joint_votes.row_weights()
        return self._weight if weight is None else weight
