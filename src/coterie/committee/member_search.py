"""A search around the members that worked: variations of the best of each family, few at a time, on one fold first.

A round draws a handful of variations, fits each to the first fold, and compares what each adds to the mean of the
members on the rows of that fold: successive halving with two steps. The best is fitted to all folds. It becomes
a member if it adds to the cross-fitted mean. The search ends when the time is over, or after several rounds in a
row without a new member.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np

from coterie._typing import FloatArray
from coterie.committee._committee_data import CommitteeData, FittedMember
from coterie.committee.candidates.configurations import SPACES, variation
from coterie.committee.candidates.entry import Entry
from coterie.committee.growing_mean import GrowingMean

CANDIDATES = 4  # of a round
LEAST_ROWS = 100  # rows held out; fewer are too few to compare variations by
_PATIENCE_OF_FEW_ROWS = 4  # rounds without a new member
_PATIENCE = 8
_FEW_ROWS = 1_000
_MOST_VARIATIONS_OF_NAME = (
    2  # a variation of a variation of a variation would have a name that nobody can read
)


def patience_of(n_rows: int) -> int:
    """Rounds without a new member, after which the search ends: fewer rows are fitted by chance more easily.

    Examples
    --------
    >>> patience_of(300), patience_of(5_000)
    (4, 8)
    """
    return _PATIENCE_OF_FEW_ROWS if n_rows < _FEW_ROWS else _PATIENCE


class Fits(Protocol):
    """What a search needs of the run that it is part of."""

    data: CommitteeData
    members: list[FittedMember]

    @property
    def names(self) -> list[str]: ...

    @property
    def is_over(self) -> bool: ...

    def loss_of(self, member: FittedMember) -> float: ...

    def fits(self, entry: Entry, n_more: float = 0.0) -> bool: ...

    def first_fold_predictions(self, entry: Entry) -> FloatArray | None: ...

    def add_if_it_gains(self, entry: Entry, mean: GrowingMean) -> bool: ...


class MemberSearch:
    """Draws variations, and knows which were tried.

    Parameters
    ----------
    run : fits what is drawn
    entry_named : the entry of a variation
    """

    def __init__(self, run: Fits, entry_named: Callable[[str], Entry]) -> None:
        self._run = run
        self._entry_named = entry_named
        self._tried: dict[str, int] = {}  # the number of the last variation of a name
        self._turn = 0
        self.n_tried = 0

    def search(self, mean: GrowingMean) -> str:
        """Add members until the time or patience is over; says which."""
        patience = patience_of(self._run.data.n_rows)
        rounds_without = 0
        while rounds_without < patience:
            candidates = self._drawn()
            if not candidates:
                return "no variation is left that fits into the time"
            winner = self._best_of_fold(candidates, mean)
            gained = winner is not None and self._run.add_if_it_gains(winner, mean)
            if self._run.is_over:
                return "the time was over"
            rounds_without = 0 if gained else rounds_without + 1
        return f"{patience} rounds in a row added nothing"

    def _drawn(self) -> list[Entry]:
        """Some variations of the best members of the families, in turn, that fit into the time that is left."""
        parents = list(self._parents())
        found: list[Entry] = []
        for _ in range(3 * CANDIDATES):
            if not parents or len(found) == CANDIDATES:
                break
            parent = parents[self._turn % len(parents)]
            self._turn += 1
            self._tried[parent] = self._tried.get(parent, 0) + 1
            name = variation(parent, self._tried[parent])
            if name in self._run.names:
                continue
            entry = self._entry_named(name)
            if self._run.fits(entry, n_more=1):
                found.append(entry)
        return found

    def _parents(self) -> Iterable[str]:
        """The best member of each family, the best first."""
        best: dict[str, tuple[float, str]] = {}
        for member in self._run.members:
            family = member.entry.family
            if family not in SPACES or member.name.count("~") >= _MOST_VARIATIONS_OF_NAME:
                continue
            own = (self._run.loss_of(member), member.name)
            best[family] = min(best.get(family, own), own)
        # The better half of the families, and two at least: what is far behind has no variation that is not.
        ranked = sorted(best.values())
        return [name for _, name in ranked[: max(2, (len(ranked) + 1) // 2)]]

    def _best_of_fold(self, candidates: list[Entry], mean: GrowingMean) -> Entry | None:
        """The candidate that adds most to the mean on the rows of the first fold; None if no one adds anything."""
        best, most = None, 0.0
        for entry in candidates:
            if self._run.is_over:
                return None
            predictions = self._run.first_fold_predictions(entry)
            self.n_tried += 1
            if predictions is None:
                continue
            gain = mean.growth(self._on_all_rows(predictions)).gain
            if gain > most:
                best, most = entry, gain
        return best

    def _on_all_rows(self, predictions: FloatArray) -> FloatArray:
        data = self._run.data
        found = np.full((data.n_rows, data.shape.n_outputs), np.nan)
        found[data.folds[0].test] = predictions
        return found
