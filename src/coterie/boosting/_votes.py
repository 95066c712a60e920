"""The votes of gradient boosting: its scores, and how large the scores of any row can be.

The score of a row is a sum: where boosting starts, and one step of each tree. No step is larger than the largest of its
tree. So the sum of these largest steps takes the place of the sum of votes, and margins lie in [-1, 1].
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from coterie._typing import FloatArray, RowArray
from coterie.boosting.forest_rounds import rounds_in
from coterie.errors import InvalidInput
from coterie.members.votes import VoteCount, Votes, check_vote_choices, refuse_soft_or_oob


def boosting_votes(model: Any, X: Any, start: FloatArray, *, votes: str, oob: bool) -> Votes:
    """Half of each score is the vote of its class; with two classes, half of it and half of its opposite.

    `start` are the scores before the first tree, for all rows alike or for each.
    """
    check_vote_choices(votes, oob)
    refuse_soft_or_oob(type(model).__name__, votes, oob)
    if model._loss().inverse_link is not None:
        raise InvalidInput(
            "The margin of gradient boosting tells on which side of zero a score lies, and this model has a custom "
            "loss with an inverse link of its own, where zero need not be the border between the classes.",
            parameter="loss",
            received=model.loss,
            allowed="a loss without an inverse link of its own",
            hint="Leave the inverse_link out.",
        )
    largest_start = np.abs(start).max(axis=-1)
    largest = _largest_steps(model)

    def after(rounds: RowArray) -> Iterator[VoteCount]:
        for number, scores in zip(rounds.tolist(), _scores_after(model, X, rounds), strict=True):
            both = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
            yield VoteCount(both / 2, np.asarray(largest_start + largest[:number].sum()))

    return Votes(np.asarray(model.classes_), len(largest), after)


def _scores_after(model: Any, X: Any, rounds: RowArray) -> Iterator[FloatArray]:
    if rounds.tolist() == [model.n_estimators_]:
        yield model.decision_function(X)
        return
    wanted = set(rounds.tolist())
    staged = islice(model.staged_decision_function(X), int(rounds[-1]))
    yield from (scores for number, scores in enumerate(staged, start=1) if number in wanted)


def _largest_steps(model: Any) -> FloatArray:
    """By round: of each output, the largest steps of its trees added up; of the outputs, the one with the most."""
    known = iter(rounds_in(model.forest_))
    largest = np.zeros((model.n_estimators_, model.forest_.n_outputs))
    for number in range(model.n_estimators_):
        for _ in range(int((model.rounds_ > number).sum())):
            largest[number] += np.concatenate([_largest_steps_of(tree) for tree in next(known)])
    return np.asarray(largest.max(axis=1))


def _largest_steps_of(tree: Any) -> FloatArray:
    """The largest size of a value of each output in the leaves, also of leaves that are lines."""
    leaves = tree.feature < 0
    constant = np.asarray(np.abs(tree.value[leaves]).max(axis=0))
    if len(tree.linear_first_term) == 0:
        return constant
    node = np.repeat(np.arange(tree.n_nodes), np.diff(tree.linear_first_term.astype(np.int64)))
    ends = tree.linear_slope * (np.stack([tree.linear_least, tree.linear_most]) - tree.linear_centre)
    low, high = (
        tree.linear_base + np.bincount(node, each, minlength=tree.n_nodes)
        for each in (ends.min(axis=0), ends.max(axis=0))
    )
    low, high = np.maximum(low, tree.linear_low), np.minimum(high, tree.linear_high)
    return np.asarray(np.maximum(constant, max(np.abs(low[leaves]).max(), np.abs(high[leaves]).max())))
