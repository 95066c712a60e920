"""The rounds of AdaBoost: fit a member, decide on its vote, count the vote.

Two ways to keep the weights have one shape. `MemberRounds` keeps arrays with an entry for each row and serves every
learner, and votes that are found anew after each round. `StumpRounds` leaves the rows to the engine, where a stump
treats all rows of one class on one side alike: two sides times K classes are all there is to know.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.adaboost._stumps import StumpFitter, stump_shares
from coterie.adaboost._votes import MemberVotes, gains_of


@dataclass(frozen=True)
class Tally:
    """What is known after a vote was counted.

    Attributes
    ----------
    votes : of the members so far, if they were found anew, else None
    loss : the exponential loss, 1 before the first member
    train_error : the share of the weight of the rows that are wrong
    """

    votes: FloatArray | None
    loss: float
    train_error: float


class Rounds(Protocol):
    """What the loop of a fit works with."""

    def fit_member(self, seed: int) -> tuple[Any, MemberVotes]:
        """A new member, fitted to the weights as they are, and how it does."""

    def recall(self, member: Any) -> MemberVotes:
        """The same for a member that is known."""

    def is_useful(self) -> bool:
        """Whether the latest member can still improve the votes."""

    def count(self, vote: float, votes: FloatArray | None = None) -> Tally:
        """Count a vote of the latest member.

        `votes` are all votes after that: they are known of a member that is recalled, and change nothing where votes
        stay as they were.
        """

    def row_weights(self) -> FloatArray:
        """The weights that the next member would see; they sum to one."""


def scores_of_shares(shares: FloatArray) -> FloatArray:
    """One score for two classes, the second minus the first; else one for each class."""
    return shares[:, 1:] - shares[:, :1] if shares.shape[1] == 2 else shares


class Fitter(Protocol):
    """Fits members to weighted rows, and computes the shares that they give on these rows."""

    def fit(self, weight: FloatArray, seed: int) -> Any: ...

    def own_shares(self, member: Any) -> FloatArray: ...


class MemberRounds:
    """Weights of the rows as arrays.

    Parameters
    ----------
    fitter : fits members
    codes : classes of the rows
    weight : first weights, which sum to one
    """

    def __init__(self, fitter: Fitter, codes: AnyArray, n_classes: int, weight: FloatArray) -> None:
        self._fitter = fitter
        self._codes = codes
        self._first = weight
        self._weight = weight
        self._margins = np.zeros(len(codes))  # minus the logarithm of weight over first weight
        self._scores = scores_of_shares(np.zeros((len(codes), n_classes)))
        self._latest_shares = np.zeros((len(codes), n_classes))

    def fit_member(self, seed: int) -> tuple[Any, MemberVotes]:
        member = self._fitter.fit(self.row_weights(), seed)
        return member, self.recall(member)

    def recall(self, member: Any) -> MemberVotes:
        self._latest_shares = self._fitter.own_shares(member)
        wrong = chosen_classes(scores_of_shares(self._latest_shares)) != self._codes
        all_right = not bool((wrong & (self._first > 0)).any())
        return MemberVotes(self.row_weights(), gains_of(self._latest_shares, self._codes), wrong, all_right)

    def is_useful(self) -> bool:
        return True

    def count(self, vote: float, votes: FloatArray | None = None) -> Tally:
        self._margins += vote * gains_of(self._latest_shares, self._codes)
        self._scores += vote * scores_of_shares(self._latest_shares)
        self._reweight()
        return self._tally(None)

    def _reweight(self) -> None:
        exponents = -self._margins
        exponents -= exponents[self._first > 0].max()
        weight = np.where(self._first > 0, self._first * np.exp(np.minimum(exponents, 0.0)), 0.0)
        self._weight = weight / weight.sum()

    def _tally(self, votes: FloatArray | None) -> Tally:
        kept = self._first > 0
        with np.errstate(over="ignore"):
            loss = float(self._first[kept] @ np.exp(-self._margins[kept]))
        wrong = float(self._first[chosen_classes(self._scores) != self._codes].sum())
        return Tally(votes, loss, wrong)

    def row_weights(self) -> FloatArray:
        return self._weight


def chosen_classes(scores: FloatArray) -> AnyArray:
    """The class with the highest score; on a tie, the first."""
    return scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)


class StumpRounds:
    """Weights of the rows in the engine.

    Weights there are multiplied by factors relative to that of a right prediction, so that rows that are right stay as
    they are: `_shift` is the logarithm of what has been left out, and of the first sum of the weights.
    """

    def __init__(
        self, fitter: StumpFitter, codes: AnyArray, n_classes: int, weight: FloatArray | None
    ) -> None:
        self._fitter = fitter
        self._engine = fitter.rounds
        self._n_classes = n_classes
        self._first_total = float(len(codes) if weight is None else weight.sum())
        self._shift = -math.log(self._first_total)
        self._stump: Any = None
        self._shares = np.zeros((2, n_classes))
        self._gains = np.zeros(2 * n_classes)
        self._mass = np.zeros(2 * n_classes)

    def fit_member(self, seed: int) -> tuple[Any, MemberVotes]:
        self._stump = self._engine.find()
        sums = self._engine.sums(self._stump)
        member = self._fitter.described(self._stump, sums)
        return member, self._member_votes(member, sums)

    def recall(self, member: Any) -> MemberVotes:
        self._stump = self._fitter.native(member)
        return self._member_votes(member, self._engine.sums(self._stump))

    def _member_votes(self, member: Any, sums: FloatArray) -> MemberVotes:
        self._shares = stump_shares(member, self._fitter.algorithm)
        centred = 2 * (self._shares - self._shares.mean(axis=1, keepdims=True))
        self._gains = centred.ravel()
        self._mass = sums / sums.sum()
        predicted = chosen_classes(scores_of_shares(self._shares))
        wrong = (np.arange(self._n_classes) != predicted[:, None]).ravel()
        return MemberVotes(self._mass, self._gains, wrong, all_right=not self._mass[wrong].any())

    def is_useful(self) -> bool:
        return True

    def count(self, vote: float, votes: FloatArray | None = None) -> Tally:
        exponents = -vote * self._gains
        present = self._mass > 0
        largest = float(exponents[present].max())
        # The factor of a right prediction is one, unless others would then leave the range of floats.
        reference = float(exponents[np.argmax(np.where(present, self._gains, -np.inf))])
        reference = reference if largest - reference < 300 else largest
        factors = np.exp(np.where(present, np.minimum(exponents - reference, 300.0), 0.0))
        self._shift += reference
        steps = (vote * scores_of_shares(self._shares)).ravel()
        total, exponent, wrong = self._engine.count(self._stump, factors, steps)
        log_loss = math.log(total) + exponent * math.log(2) + self._shift
        loss = math.exp(log_loss) if log_loss < 700 else math.inf
        return Tally(None, loss, wrong / self._first_total)

    def row_weights(self) -> FloatArray:
        weight: FloatArray = self._engine.weights()
        return np.asarray(weight / weight.sum())
