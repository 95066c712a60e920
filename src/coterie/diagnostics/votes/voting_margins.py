"""From votes to margins: how far the class of a row is ahead of the next one."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from coterie._params import Integer, in_short
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.target import read_target
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.votes import VoteCount, Votes

_ROUNDING = 1e-9


def voting_margins(count: VoteCount, codes: AnyArray) -> FloatArray:
    """The votes for the class of each row minus the most for another class, divided by all votes.

    Rows without any vote are NaN; a model whose votes are all zero has the margin 0.

    Examples
    --------
    >>> votes = np.array([[3.0, 1.0, 1.0], [1.0, 3.0, 1.0]])
    >>> voting_margins(VoteCount(votes, np.array(5.0)), np.array([0, 2]))
    array([ 0.4, -0.4])
    """
    rows = np.arange(len(codes))
    others = count.votes.copy()
    others[rows, codes] = -np.inf
    ahead = count.votes[rows, codes] - others.max(axis=1)
    total = np.broadcast_to(count.total, ahead.shape)
    nothing = np.nan if count.total.ndim else 0.0  # nobody votes on these rows; or all votes are zero
    found = np.divide(ahead, total, out=np.full(len(ahead), nothing), where=total > 0)
    if np.nanmax(np.abs(found), initial=0.0) > 1 + _ROUNDING:
        raise InvalidInput(
            f"A row has the margin {found[np.nanargmax(np.abs(found))]:.3g}, outside [-1, 1]: the votes of the model "
            "are larger than its estimator_weights_, so that they cannot be normalised. Margins are for members that "
            "give their votes to a class, or to classes in shares.",
            parameter="model",
            received=float(found[np.nanargmax(np.abs(found))]),
            allowed="margins in [-1, 1]",
        )
    return np.asarray(np.clip(found, -1.0, 1.0))


def staged_margins(votes: Votes, y: Any, rounds: RowArray) -> Iterator[FloatArray]:
    """The margins of all rows after each of these rounds."""
    codes: AnyArray | None = None
    for count in votes.after(rounds):
        if codes is None:
            codes = codes_of(y, votes.classes, len(count.votes))
        yield voting_margins(count, codes)


def codes_of(y: Any, classes: AnyArray, n_rows: int) -> AnyArray:
    """The place of each label among the classes of a model.

    Examples
    --------
    >>> codes_of(["b", "a", "b"], np.array(["a", "b", "c"]), 3)
    array([1, 0, 1])
    """
    target = read_target(y, task="classification", estimator_name="voting", n_rows=n_rows)
    known = {label: code for code, label in enumerate(classes.tolist())}
    labels = np.asarray(target.classes).tolist()
    strange = [label for label in labels if label not in known]
    if strange:
        raise InvalidInput(
            f"y holds {in_short(strange[0])}, which is no class of the model. Its classes are "
            f"{in_short(classes.tolist())}.",
            parameter="y",
            received=strange[0],
            allowed=in_short(classes.tolist()),
        )
    return np.array([known[label] for label in labels], dtype=np.intp)[target.values]


def chosen_rounds(rounds: Any, n_rounds: int) -> RowArray:
    """The numbers of the chosen rounds, ascending: the last, "all", one, or some.

    Examples
    --------
    >>> chosen_rounds(None, 9), chosen_rounds("all", 3), chosen_rounds([5, 2], 9)
    (array([9]), array([1, 2, 3]), array([2, 5]))
    """
    if rounds is None:
        return np.array([n_rounds])
    if isinstance(rounds, str) and rounds == "all":
        return np.arange(1, n_rounds + 1)
    rule = Integer(1, n_rounds)
    given = [rounds] if np.ndim(rounds) == 0 else list(rounds)
    wrong = [number for number in given if not rule.accepts(number)]
    if wrong or not given:
        what = in_short(wrong[0]) if wrong else "an empty list"
        raise InvalidParameter(
            f"rounds={in_short(rounds)} holds {what}: expected None for the last round, 'all', or one or several of "
            f"the rounds of the model: {rule.describe()}.",
            parameter="rounds",
            received=rounds,
            allowed=f"None, 'all', or one or several of {rule.describe()}",
        )
    return np.unique(np.array(given, dtype=np.int64))
