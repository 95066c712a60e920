"""What a member of AdaBoost predicts, and what its vote is worth: the formulas of all four algorithms.

The words: a member gives each class a *share*; its *vote* v adds v times the share to the class. The *gain* of a row is
2 (share of its own class - mean share), so that a vote of v multiplies the row's weight by exp(-v gain), and the weight
of a row is exp(-2 (V_own - mean V)), where V are the votes that the classes have got. With two classes and shares of 0
and 1 the gain is y h(x) = +-1 and the weight exp(-y F(x)), F = V_1 - V_0: the AdaBoost of Freund and Schapire. With K
classes it is the SAMME of Zhu, Zou, Rosset and Hastie (2009), whose vote, ln((1 - e) / e) + ln(K - 1), is twice ours.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, softmax

from coterie._typing import AnyArray, BoolArray, FloatArray

Algorithm = Literal["samme", "confidence", "real", "gentle"]
ALGORITHMS = ("samme", "confidence", "real", "gentle")

_LEAST_ERROR = 1e-10  # a perfect member would have an infinite vote
_AT_CHANCE = 1e-10
_LEAST_SHARE = (
    0.02  # of a class, divided by their number, before its logarithm is taken; for two as in the engine
)
MOST_VOTE = 0.5 * math.log((1 - _LEAST_ERROR) / _LEAST_ERROR)


@dataclass(frozen=True)
class MemberVotes:
    """How one member does under the current weights, in groups of rows that it treats alike.

    Attributes
    ----------
    mass : weight of each group; they sum to one
    gains : by how much a vote of 1 lowers the logarithm of the weight
    wrong : whether the member is wrong
    all_right : whether it is right on every row that counts; a row may count and have no weight now
    """

    mass: FloatArray
    gains: FloatArray
    wrong: BoolArray
    all_right: bool

    @property
    def error(self) -> float:
        """The weighted error, between 0 and 1."""
        return min(float(self.mass[self.wrong].sum()), 1.0)

    @property
    def agreement(self) -> float:
        """The weighted mean gain, minus the slope of the loss at a vote of zero: 1 - 2 e for two classes."""
        return float(self.mass @ self.gains)

    def normalizer(self, vote: float) -> float:
        """What the exponential loss is multiplied by, which is what weights are divided by to sum to one again."""
        present = self.mass > 0
        with np.errstate(over="ignore"):
            return float(self.mass[present] @ np.exp(-vote * self.gains[present]))


@dataclass(frozen=True)
class VoteDecision:
    """The vote of a member (None: it is not kept), and why the fit ends with it (None: it goes on)."""

    vote: float | None
    ends: str | None = None


def samme_vote(error: float, n_classes: int) -> float:
    """Half of ln((1 - e) / e) + ln(K - 1), finite for errors of 0 and 1.

    Examples
    --------
    >>> round(samme_vote(0.2, 2), 6) == round(math.log(4) / 2, 6)
    True
    """
    error = min(max(error, _LEAST_ERROR), 1 - _LEAST_ERROR)
    return 0.5 * (math.log((1 - error) / error) + math.log(n_classes - 1))


def best_vote(member_votes: MemberVotes) -> float:
    """The vote with the least exponential loss, between -MOST_VOTE and MOST_VOTE."""

    def slope(vote: float) -> float:
        return -float((member_votes.mass * member_votes.gains) @ np.exp(-vote * member_votes.gains))

    low, high = slope(-MOST_VOTE), slope(MOST_VOTE)
    if low >= 0 or high <= 0:
        return MOST_VOTE if high <= 0 else -MOST_VOTE
    return float(brentq(slope, -MOST_VOTE, MOST_VOTE, xtol=1e-15, rtol=1e-15))


def decide_vote(member_votes: MemberVotes, algorithm: str, n_classes: int, on_weak: str) -> VoteDecision:
    """The vote of a member, before the learning rate."""
    error, chance = member_votes.error, 1 - 1 / n_classes
    if member_votes.all_right:
        return VoteDecision(_vote(member_votes, algorithm, n_classes), "is right on every row")
    edge = chance - error if algorithm == "samme" else member_votes.agreement
    if abs(edge) <= _AT_CHANCE:
        return VoteDecision(None, f"is no better than chance (weighted error {error:.6g})")
    if edge > 0:
        return VoteDecision(_vote(member_votes, algorithm, n_classes))
    if on_weak == "stop":
        return VoteDecision(None, f"is worse than chance (weighted error {error:.6g}), and on_weak='stop'")
    ends = "is wrong on every row" if error >= 1 - _LEAST_ERROR else None
    return VoteDecision(_vote(member_votes, algorithm, n_classes), ends)


def _vote(member_votes: MemberVotes, algorithm: str, n_classes: int) -> float:
    if algorithm == "samme":
        return samme_vote(member_votes.error, n_classes)
    if algorithm == "confidence":
        return best_vote(member_votes)
    return -1.0 if member_votes.agreement < 0 else 1.0


def one_hot(codes: AnyArray, n_classes: int) -> FloatArray:
    shares = np.zeros((len(codes), n_classes))
    shares[np.arange(len(codes)), codes] = 1.0
    return shares


def centred_logs(proba: FloatArray) -> FloatArray:
    """(log p - mean log p) / 2: the shares of Real AdaBoost, half the log odds for two classes.

    A probability below 1 / (50 K) counts as that: one class that is next to impossible would outweigh all others.
    """
    logs = np.log(np.maximum(proba, _LEAST_SHARE / proba.shape[1]))
    return np.asarray(0.5 * (logs - logs.mean(axis=1, keepdims=True)))


def gains_of(shares: FloatArray, codes: AnyArray) -> FloatArray:
    """The gain of each row of class `codes`."""
    return np.asarray(2 * (shares[np.arange(len(codes)), codes] - shares.mean(axis=1)))


def leads_of(shares: FloatArray, codes: AnyArray) -> FloatArray:
    """By how much the share of the own class is above each of the others, shape (n_rows, n_classes - 1)."""
    n_rows, n_classes = shares.shape
    own = np.arange(n_classes) == np.asarray(codes)[:, None]
    others = shares[~own].reshape(n_rows, n_classes - 1)
    return np.asarray(shares[own][:, None] - others)


def probabilities(scores: FloatArray) -> FloatArray:
    """The link: the logistic function of 2 F for two classes, which share one score; else the softmax of 2 V."""
    if scores.shape[1] == 1:
        second = expit(2 * scores[:, 0])
        return np.column_stack([expit(-2 * scores[:, 0]), second])
    return np.asarray(softmax(2 * scores, axis=1))
