"""The rounds of AdaBoost: fit a member, decide on its vote, count the vote.

Two ways to keep the weights have one shape. `MemberRounds` keeps arrays with an entry for each row and serves every
learner, and votes that are found anew after each round. `StumpRounds` leaves the rows to the engine, where a stump
treats all rows of one class on one side alike: two sides times K classes are all there is to know.

Totally corrective boosting finds the votes of all members anew after each round. The functions that find them are
given what the members so far predict for the rows, and the first weights of the rows, which sum to one. Votes are not
negative.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.adaboost._stumps import StumpFitter, stump_shares
from coterie.adaboost._votes import MOST_VOTE, MemberVotes, gains_of, leads_of
from coterie.errors import InvalidInput


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

    def drawn_rows(self, weight: FloatArray, seed: int) -> RowArray: ...


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

    def drawn_rows(self, seed: int) -> RowArray:
        """The rows that a member of this seed is fitted to, with the weights as they are; a row may be there twice."""
        return self._fitter.drawn_rows(self.row_weights(), seed)

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
