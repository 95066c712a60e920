"""Feature importance as bars, the most important column at the top."""

from typing import Any

import numpy as np

from coterie._params import Integer, unexpected
from coterie._typing import AnyArray
from coterie.diagnostics import Importance, importance
from coterie.plots.chart import Axis, Bars, Chart, Mark
from coterie.plots.display import Display


class ImportanceDisplay(Display):
    """A bar for each of the most important columns, with its spread where it is known.

    Parameters
    ----------
    result : Importance, the result of `coterie.diagnostics.importance`
    max_columns : int, how many are shown; `data` holds all

    Examples
    --------
    >>> from coterie.diagnostics import Importance
    >>> result = Importance("split", "number of splits", ("age", "town"), np.array([3.0, 8.0]))
    >>> display = ImportanceDisplay(result)
    >>> display, display.data["column"].tolist()
    (ImportanceDisplay(split, 2 columns), ['town', 'age'])
    """

    def __init__(self, result: Importance, max_columns: int = 15) -> None:
        if not Integer(1).accepts(max_columns):
            raise unexpected("max_columns", max_columns, Integer(1).describe())
        self.result, self.max_columns = result, max_columns

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, max_columns: int = 15, **options: Any
    ) -> "ImportanceDisplay":
        """Measure a fitted model; `options` are those of `coterie.diagnostics.importance`."""
        return cls(importance(model, X, y, **options), max_columns)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "column", "importance" and "spread", the most important first; NaN where no spread is known."""
        order, result = self.result.order, self.result
        spread = np.full(len(order), np.nan) if result.spread is None else result.spread
        return {
            "column": np.array(result.names)[order],
            "importance": result.values[order],
            "spread": spread[order],
        }

    def chart(self) -> Chart:
        result, shown = self.result, self.result.order[: self.max_columns][::-1]
        values = result.values[shown]
        spread = None if result.spread is None else result.spread[shown]
        reach = np.zeros(len(values)) if spread is None else spread
        low = min(0.0, 1.05 * float((values - reach).min()))
        high = 1.05 * max(0.0, float((values + reach).max()))
        names = tuple(result.names[place] for place in shown)
        hidden = len(result.names) - len(names)
        return Chart(
            f"Feature importance{f', {hidden} more columns are not shown' if hidden else ''}",
            Axis(result.meaning, low, high if high > low else 1.0),
            Axis("", -0.6, len(names) - 0.4, names=names),
            bars=(Bars("", values, spread),),
            marks=(Mark(0.0),) if low < 0 else (),
        )

    def __repr__(self) -> str:
        return f"ImportanceDisplay({self.result.method}, {len(self.result.names)} columns)"
