"""The cumulative distribution of margins, after some of the rounds."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics import Margins
from coterie.diagnostics import margins as find_margins
from coterie.plots.chart import Axis, Chart, Line, Mark
from coterie.plots.display import Display

_MOST_STEPS = 600  # of a line; more cannot be seen
_USUAL_ROUNDS = (5, 100, 1000)


class MarginDisplay(Display):
    """How confident an ensemble is of the rows of a table, after some of its rounds.

    A curve that moves to the right is an ensemble that becomes more confident. Rows left of zero are misclassified.

    Parameters
    ----------
    margins : Margins, the result of `coterie.diagnostics.margins`

    Examples
    --------
    >>> from coterie.diagnostics import Margins
    >>> result = Margins(np.array([[-0.5, 0.0, 0.5], [0.2, 0.2, 0.4]]), np.array([1, 10]))
    >>> display = MarginDisplay.from_margins(result)
    >>> display
    MarginDisplay(3 rows, after rounds 1, 10)
    >>> display.data["share"].round(2)
    array([0.33, 0.67, 1.  , 0.67, 1.  ])
    """

    def __init__(self, margins: Margins) -> None:
        self.margins = margins

    @classmethod
    def from_margins(cls, margins: Margins) -> "MarginDisplay":
        """Show margins that are known."""
        return cls(margins)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        rounds: Any = None,
        *,
        votes: str = "hard",
        oob: bool = False,
        sample_weight: Any = None,
    ) -> "MarginDisplay":
        """Find the margins of a fitted ensemble; parameters are those of `coterie.diagnostics.margins`.

        `rounds=None` is after 5, 100 and 1,000 rounds, as far as there are so many, and after the last.
        """
        last = find_margins(model, X, y, votes=votes, oob=oob, sample_weight=sample_weight)
        if rounds is None:
            n_rounds = int(last.rounds[-1])
            rounds = sorted({number for number in _USUAL_ROUNDS if number < n_rounds} | {n_rounds})
        if np.array_equal(rounds, last.rounds):
            return cls(last)
        return cls(find_margins(model, X, y, rounds, votes=votes, oob=oob, sample_weight=sample_weight))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "round", "margin" and "share": the steps of each curve, some of them where there are very many."""
        steps = [self._steps(int(number)) for number in self.margins.rounds]
        return {
            "round": np.repeat(self.margins.rounds, [len(values) for values, _ in steps]),
            "margin": np.concatenate([values for values, _ in steps]),
            "share": np.concatenate([shares for _, shares in steps]),
        }

    def chart(self) -> Chart:
        n_rows = self.margins.margins.shape[1]
        return Chart(
            f"Margin distribution of {n_rows:,} rows",
            Axis("margin", -1.0, 1.0),
            Axis("share of rows with at most this margin", 0.0, 1.0),
            tuple(self._line(int(number)) for number in self.margins.rounds),
            (Mark(0.0),),
        )

    def _line(self, number: int) -> Line:
        """The steps, from one end of the axis to the other."""
        values, shares = self._steps(number)
        x, y = np.append(values, 1.0), np.append(shares, 1.0)
        if values[0] > -1:
            x, y = np.concatenate([[-1.0, values[0]], x[1:]]), np.concatenate([[0.0], y])
        return Line(f"after {number:,} round{'s' if number > 1 else ''}", x, y, steps=True)

    def _steps(self, number: int) -> tuple[FloatArray, FloatArray]:
        values, shares = self.margins.steps(number)
        if len(values) > _MOST_STEPS:
            some = np.linspace(0, len(values) - 1, _MOST_STEPS).round().astype(np.intp)
            values, shares = values[some], shares[some]
        return values, shares

    def __repr__(self) -> str:
        rounds = ", ".join(str(number) for number in self.margins.rounds)
        return f"MarginDisplay({self.margins.margins.shape[1]:,} rows, after rounds {rounds})"
