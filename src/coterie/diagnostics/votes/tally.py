"""Counting votes: what each class has got after some of the rounds.

Words
  vote      what a member gives to a class: its weight, or a part of it
  tally     the votes of each class so far, and how many there were to give
  ballots   everything that one ensemble says about one table, ready to be counted
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray

__all__ = ["Answer", "Ballots", "Tally", "one_hot", "running_tallies"]


class Tally(NamedTuple):
    """The votes of each class, shape (n_rows, n_classes), and the sum of their sizes: one number, or one a row."""

    votes: FloatArray
    total: FloatArray


class Answer(NamedTuple):
    """What one member says, shape (n_rows, n_classes), and the weight of its word: one number, or one a row."""

    said: FloatArray
    weight: FloatArray


@dataclass(frozen=True)
class Ballots:
    """The votes of an ensemble on a table.

    Attributes
    ----------
    classes : the labels, in the order of the votes
    n_rounds : int, how many rounds or members there are
    after : function of ascending numbers of rounds, counted from 1, that yields the tally after each of them
    """

    classes: AnyArray
    n_rounds: int
    after: Callable[[RowArray], Iterator[Tally]]


def running_tallies(answers: Iterable[Answer], rounds: RowArray) -> Iterator[Tally]:
    """Add up what members say one after the other.

    Examples
    --------
    >>> yes, no = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    >>> answers = [Answer(yes, np.array(2.0)), Answer(no, np.array(-0.5))]
    >>> [(tally.votes.tolist(), float(tally.total)) for tally in running_tallies(answers, np.array([1, 2]))]
    [([[2.0, 0.0]], 2.0), ([[2.0, -0.5]], 2.5)]
    """
    wanted = set(rounds.tolist())
    votes: FloatArray | float = 0.0
    total: FloatArray = np.zeros(())
    for number, (said, weight) in enumerate(answers, start=1):
        votes = votes + said * weight.reshape(-1, 1)
        total = total + np.abs(weight)
        if number in wanted:
            yield Tally(votes, total)


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
