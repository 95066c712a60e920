"""Rounds of totally corrective boosting: after each of them the votes of all members are found anew."""

import math
from typing import Protocol

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.adaboost._corrective_weights import MarginVotes, exponential_votes, margin_votes
from coterie.adaboost._rounds import Fitter, MemberRounds, Tally, scores_of_shares
from coterie.adaboost._votes import MOST_VOTE, gains_of, leads_of


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
