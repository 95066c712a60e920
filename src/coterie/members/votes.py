"""Counting votes: how many each class has after some of the rounds.

Words
  vote        what a member gives to a class: its weight, or a part of it
  vote count  the votes of each class so far, and how many there were to give
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from coterie._params import Boolean, OneOf, Rule, unexpected
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.errors import InvalidInput, InvalidParameter


class VoteCount(NamedTuple):
    """The votes of each class, shape (n_rows, n_classes), and the sum of their sizes: one number, or one a row."""

    votes: FloatArray
    total: FloatArray


class CastVotes(NamedTuple):
    """How one member divides its vote, shape (n_rows, n_classes), and its weight: one number, or one a row."""

    shares: FloatArray
    weight: FloatArray


@dataclass(frozen=True)
class Votes:
    """The votes of an ensemble for the rows of a table.

    Attributes
    ----------
    classes : the labels, in the order of the votes
    n_rounds : int, how many rounds or members there are
    after : function of ascending numbers of rounds, counted from 1, that yields the vote count after each of them
    """

    classes: AnyArray
    n_rounds: int
    after: Callable[[RowArray], Iterator[VoteCount]]


def votes_in_order(classes: AnyArray, n_members: int, members: Callable[[], Iterator[CastVotes]]) -> Votes:
    """The votes of members that are counted one after the other; `members` yields them from the first on."""

    def after(rounds: RowArray) -> Iterator[VoteCount]:
        return counts_after(islice(members(), int(rounds[-1])), rounds)

    return Votes(np.asarray(classes), n_members, after)


def counts_after(members: Iterable[CastVotes], rounds: RowArray) -> Iterator[VoteCount]:
    """Add up votes member by member, and yield the sum after each of these rounds.

    Examples
    --------
    >>> yes, no = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    >>> members = [CastVotes(yes, np.array(2.0)), CastVotes(no, np.array(-0.5))]
    >>> [(count.votes.tolist(), float(count.total)) for count in counts_after(members, np.array([1, 2]))]
    [([[2.0, 0.0]], 2.0), ([[2.0, -0.5]], 2.5)]
    """
    wanted = set(rounds.tolist())
    votes: FloatArray | float = 0.0
    total: FloatArray = np.zeros(())
    for number, (shares, weight) in enumerate(members, start=1):
        votes = votes + shares * weight.reshape(-1, 1)
        total = total + np.abs(weight)
        if number in wanted:
            yield VoteCount(votes, total)


def one_hot(codes: AnyArray, n_classes: int) -> FloatArray:
    """One vote for the class of each row.

    Examples
    --------
    >>> one_hot(np.array([1, 0]), 2)
    array([[0., 1.],
           [1., 0.]])
    """
    votes = np.zeros((len(codes), n_classes))
    votes[np.arange(len(codes)), codes] = 1.0
    return votes


def check_vote_choices(votes: object, oob: object) -> None:
    """Refuse other values than "hard" and "soft", True and False."""
    rules: dict[str, tuple[object, Rule]] = {"votes": (votes, OneOf("hard", "soft")), "oob": (oob, Boolean())}
    for name, (value, rule) in rules.items():
        if not rule.accepts(value):
            raise unexpected(name, value, rule.describe())


def refuse_soft_or_oob(owner: str, votes: str, oob: bool) -> None:
    """For ensembles whose members follow each other, and vote as a whole."""
    if votes == "soft":
        raise InvalidParameter.expecting(
            f"votes='soft' has no meaning for {owner}, whose members do not vote by probabilities",
            "'hard'",
            "votes",
            votes,
        )
    if oob:
        raise InvalidParameter.expecting(
            f"oob=True has no meaning for {owner}: each of its members depends on those before it, and so on all rows",
            "False",
            "oob",
            oob,
        )


def check_training_table(n_rows: int, n_known: int) -> None:
    """Refuse another table than that of the fit, where members vote about the rows that they did not draw."""
    if n_rows != n_known:
        raise InvalidInput(
            f"oob=True is for the training table: X has {n_rows} rows and the training table had {n_known}.",
            parameter="X",
            received=n_rows,
            allowed=f"the training table, of {n_known} rows",
        )
