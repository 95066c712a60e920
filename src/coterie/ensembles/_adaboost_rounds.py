"""The rounds of AdaBoost: ask a member, decide on its vote, count the vote.

Two ways to keep the weights have one shape. `MemberRounds` keeps arrays with an entry for each row and serves every
learner, and votes that are found anew after each round. `StumpRounds` leaves the rows to the engine, where a stump
treats all rows of one class on one side alike: a ballot of two sides times K classes says all there is to know.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.ensembles._adaboost_votes import MOST_VOTE, Ballot, gains_of
from coterie.ensembles._joint_votes import exponential_votes, margin_votes
from coterie.ensembles._stumps import StumpFitter, stump_shares

__all__ = ["MemberRounds", "Rounds", "StumpRounds", "Tally", "scores_of_shares"]


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

    def ask(self, seed: int) -> tuple[Any, Ballot]:
        """A new member, fitted to the weights as they are, and how it does."""

    def recall(self, member: Any) -> Ballot:
        """The same for a member that is known."""

    def is_useful(self, ballot: Ballot) -> bool:
        """Whether votes can still be improved by this member."""

    def count(self, vote: float, votes: FloatArray | None = None) -> Tally:
        """Count a vote of the member that was asked last; `votes` are all votes, where they are known."""

    def row_weights(self) -> FloatArray:
        """The weights that the next member would see; they sum to one."""


def scores_of_shares(shares: FloatArray) -> FloatArray:
    """One score for two classes, the second minus the first; else one for each class."""
    return shares[:, 1:] - shares[:, :1] if shares.shape[1] == 2 else shares


class Fitter(Protocol):
    """Fits members to weighted rows, and says what they make of these rows."""

    def fit(self, weight: FloatArray, seed: int) -> Any: ...

    def own_shares(self, member: Any) -> FloatArray: ...


class MemberRounds:
    """Weights of the rows as arrays.

    Parameters
    ----------
    fitter : fits members
    codes : classes of the rows
    weight : first weights, which sum to one
    corrective : "exponential" or "margin", if all votes are found anew after each round
    nu : for "margin"
    """

    def __init__(
        self,
        fitter: Fitter,
        codes: AnyArray,
        n_classes: int,
        weight: FloatArray,
        *,
        corrective: str | None = None,
        nu: float = 0.1,
    ) -> None:
        self._fitter = fitter
        self._codes = codes
        self._first = weight
        self._weight = weight
        self._corrective = corrective
        self._nu = nu
        self._most_agreement = -math.inf
        self._margins = np.zeros(len(codes))  # minus the logarithm of weight over first weight
        self._scores = scores_of_shares(np.zeros((len(codes), n_classes)))
        self._asked = np.zeros((len(codes), n_classes))
        # For corrective votes, of all members so far: how large votes are, which are negative, gains and scores.
        self._sizes = np.empty(0)
        self._signs: list[float] = []
        self._gains: list[FloatArray] = []
        self._said: list[FloatArray] = []
        self._weight_is_known = True

    def ask(self, seed: int) -> tuple[Any, Ballot]:
        if not self._weight_is_known:
            self._solve_margins(np.column_stack(self._gains))
        member = self._fitter.fit(self._weight, seed)
        return member, self.recall(member)

    def recall(self, member: Any) -> Ballot:
        self._asked = self._fitter.own_shares(member)
        wrong = _chosen(scores_of_shares(self._asked)) != self._codes
        all_right = not bool((wrong & (self._first > 0)).any())
        return Ballot(self._weight, gains_of(self._asked, self._codes), wrong, all_right)

    def is_useful(self, ballot: Ballot) -> bool:
        return abs(ballot.agreement) > self._most_agreement + 1e-9

    def count(self, vote: float, votes: FloatArray | None = None) -> Tally:
        gains, said = gains_of(self._asked, self._codes), scores_of_shares(self._asked)
        if self._corrective is None:
            self._margins += vote * gains
            self._scores += vote * said
            self._weight = self._reweighted()
            return self._tally(None)
        # A member with a negative vote takes part as its opposite, whose votes are not negative.
        self._signs.append(math.copysign(1.0, vote))
        self._gains.append(self._signs[-1] * gains)
        self._said.append(self._signs[-1] * said)
        all_gains = np.column_stack(self._gains)
        self._sizes = self._best_sizes(all_gains, abs(vote)) if votes is None else np.abs(votes)
        self._margins = all_gains @ self._sizes
        self._scores = np.tensordot(self._sizes, np.stack(self._said), axes=1)
        if self._corrective == "exponential":
            self._weight = self._reweighted()
        else:
            self._weight_is_known = votes is None
        return self._tally(np.copysign(self._sizes, self._signs))

    def _best_sizes(self, gains: FloatArray, vote: float) -> FloatArray:
        if self._corrective == "margin":
            return self._solve_margins(gains)
        return exponential_votes(gains, self._first, np.append(self._sizes, min(vote, MOST_VOTE)), MOST_VOTE)

    def _solve_margins(self, gains: FloatArray) -> FloatArray:
        sizes, self._weight, self._most_agreement = margin_votes(gains, self._first, self._nu)
        self._weight_is_known = True
        return sizes

    def _reweighted(self) -> FloatArray:
        exponents = -self._margins
        exponents -= exponents[self._first > 0].max()
        weight = np.where(self._first > 0, self._first * np.exp(np.minimum(exponents, 0.0)), 0.0)
        return np.asarray(weight / weight.sum())

    def _tally(self, votes: FloatArray | None) -> Tally:
        kept = self._first > 0
        with np.errstate(over="ignore"):
            loss = float(self._first[kept] @ np.exp(-self._margins[kept]))
        wrong = float(self._first[_chosen(self._scores) != self._codes].sum())
        return Tally(votes, loss, wrong)

    def row_weights(self) -> FloatArray:
        if not self._weight_is_known:
            self._solve_margins(np.column_stack(self._gains))
        return self._weight


def _chosen(scores: FloatArray) -> AnyArray:
    """The class with the highest score; on a tie, the first."""
    return scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)


class StumpRounds:
    """Weights of the rows in the engine.

    Weights there are multiplied by factors relative to that of a right answer, so that rows that are right stay as they
    are: `_shift` is the logarithm of what has been left out, and of the first sum of the weights.
    """

    def __init__(
        self, fitter: StumpFitter, codes: AnyArray, n_classes: int, weight: FloatArray | None
    ) -> None:
        self._fitter = fitter
        self._engine = fitter.rounds
        self._n_classes = n_classes
        self._first_total = float(len(codes) if weight is None else weight.sum())
        self._shift = -math.log(self._first_total)
        self._asked: Any = None
        self._shares = np.zeros((2, n_classes))
        self._gains = np.zeros(2 * n_classes)
        self._mass = np.zeros(2 * n_classes)

    def ask(self, seed: int) -> tuple[Any, Ballot]:
        self._asked = self._engine.find()
        sums = self._engine.sums(self._asked)
        member = self._fitter.described(self._asked, sums)
        return member, self._ballot(member, sums)

    def recall(self, member: Any) -> Ballot:
        self._asked = self._fitter.native(member)
        return self._ballot(member, self._engine.sums(self._asked))

    def _ballot(self, member: Any, sums: FloatArray) -> Ballot:
        self._shares = stump_shares(member, self._fitter.algorithm)
        centred = 2 * (self._shares - self._shares.mean(axis=1, keepdims=True))
        self._gains = centred.ravel()
        self._mass = sums / sums.sum()
        said = _chosen(scores_of_shares(self._shares))
        wrong = (np.arange(self._n_classes) != said[:, None]).ravel()
        return Ballot(self._mass, self._gains, wrong, all_right=not self._mass[wrong].any())

    def is_useful(self, ballot: Ballot) -> bool:
        return True

    def count(self, vote: float, votes: FloatArray | None = None) -> Tally:
        exponents = -vote * self._gains
        present = self._mass > 0
        largest = float(exponents[present].max())
        # The factor of a right answer is one, unless others would then leave the range of floats.
        reference = float(exponents[np.argmax(np.where(present, self._gains, -np.inf))])
        reference = reference if largest - reference < 300 else largest
        factors = np.exp(np.where(present, np.minimum(exponents - reference, 300.0), 0.0))
        self._shift += reference
        steps = (vote * scores_of_shares(self._shares)).ravel()
        total, exponent, wrong = self._engine.count(self._asked, factors, steps)
        log_loss = math.log(total) + exponent * math.log(2) + self._shift
        loss = math.exp(log_loss) if log_loss < 700 else math.inf
        return Tally(None, loss, wrong / self._first_total)

    def row_weights(self) -> FloatArray:
        weight: FloatArray = self._engine.weights()
        return np.asarray(weight / weight.sum())
