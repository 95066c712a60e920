"""The bags of an ensemble: which rows are in and out of each, how many that are, and how soon every row is left out."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.diagnostics.bags import BagCounts, bag_counts
from coterie.diagnostics.fit_by_step import spread_evenly
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Axis, Chart, Heatmap, Line, Points
from coterie.plots.display import Display

_MOST_ROWS, _MOST_MEMBERS, _MOST_FRAMES = 40, 30, 40
_MOST_TIMES = 4.0  # a row is drawn more often by one bag in three hundred


class BagsDisplay(Display):
    """Three plots: the bags, the share of rows out of each, and how many rows some member has left out.

    In the first, a white cell is a row that the member did not draw. In the second, bootstrap samples leave out about
    1/e of the rows, 37 %. In the third, rows that no member left out have no prediction out of bag.

    Parameters
    ----------
    bags : BagCounts, the result of `coterie.diagnostics.bag_counts`

    Examples
    --------
    >>> from coterie.diagnostics import BagCounts
    >>> display = BagsDisplay(BagCounts(np.array([[2, 0, 1], [0, 0, 3], [1, 1, 1]])))
    >>> display
    BagsDisplay(3 members, 3 rows)
    >>> display.data["share_left_out"].round(2), display.data["share_covered"].round(2)
    (array([0.33, 0.67, 0.  ]), array([0.33, 0.67, 0.67]))
    """

    def __init__(self, bags: BagCounts) -> None:
        self.bags = bags

    @classmethod
    def from_estimator(cls, model: Any, X: Any) -> "BagsDisplay":
        """Look at a fitted bagging ensemble or forest; X is its training table."""
        return cls(bag_counts(model, X))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "member", from 1, "share_left_out" and "share_covered"."""
        return {
            "member": np.arange(1, len(self.bags.counts) + 1),
            "share_left_out": self.bags.share_left_out,
            "share_covered": self.bags.share_covered,
        }

    def panels(self) -> tuple[Chart, ...]:
        """The three plots."""
        return self._after(len(self.bags.counts))

    def chart(self) -> Chart:
        """The bags."""
        return self._drawn(len(self.bags.counts))

    def frames(self) -> list[AnimationFrame]:
        """The three plots after each member, of many members for forty of them."""
        chosen = [place + 1 for place in spread_evenly(len(self.bags.counts), _MOST_FRAMES)]
        return [AnimationFrame(f"{own:,} member{'s' if own > 1 else ''}", self._after(own)) for own in chosen]

    def _after(self, number: int) -> tuple[Chart, ...]:
        return self._drawn(number), self._left_out(number), self._covered(number)

    def _drawn(self, number: int) -> Chart:
        """The first rows and members; members after `number` are empty."""
        counts = self.bags.counts[:_MOST_MEMBERS, :_MOST_ROWS].T.astype(np.float64)
        counts = np.minimum(counts, _MOST_TIMES)
        counts[:, number:] = np.nan
        n_rows, n_members = counts.shape
        return Chart(
            "How often rows are drawn",
            Axis("member, from 0", -0.5, n_members - 0.5),
            Axis("row, from 0", -0.5, n_rows - 0.5),
            heatmap=Heatmap("times drawn", counts, 0.0, _MOST_TIMES),
        )

    def _left_out(self, number: int) -> Chart:
        n_members = len(self.bags.counts)
        expected, shares = self.bags.expected_left_out, self.bags.share_left_out[:number]
        ends = np.array([0.0, n_members + 1.0])
        high = max(float(self.bags.share_left_out.max()), expected)
        return Chart(
            "Rows out of each bag",
            Axis("member", 0.0, n_members + 1.0),
            Axis("share of the rows", 0.0, min(1.0, 1.3 * high) or 1.0),
            (Line(f"expected, {100 * expected:.1f} %", ends, np.full(2, expected)),),
            points=(Points("out of bag", np.arange(1.0, number + 1), shares),),
        )

    def _covered(self, number: int) -> Chart:
        n_members = len(self.bags.counts)
        members = np.arange(1.0, n_members + 1)
        expected = 1 - (1 - self.bags.expected_left_out) ** members
        log = n_members > 30
        return Chart(
            "Rows left out by some member",
            Axis("members", 1.0, max(2.0, float(n_members)), log=log),
            Axis("share of the rows", 0.0, 1.02),
            (
                Line("expected", members, expected),
                Line("left out", members[:number], self.bags.share_covered[:number]),
            ),
        )

    def __repr__(self) -> str:
        n_members, n_rows = self.bags.counts.shape
        return f"BagsDisplay({n_members} members, {n_rows:,} rows)"
