"""Importance as bars, the most important column at the top."""

from typing import Any

import numpy as np

from coterie._params import Whole
from coterie._typing import AnyArray
from coterie.diagnostics import Importance, importance
from coterie.errors import InvalidParameter
from coterie.plots.chart import Axis, Bars, Chart, Mark
from coterie.plots.display import Display

__all__ = ["ImportanceDisplay"]


class ImportanceDisplay(Display):
    """A bar for each of the most important columns, with its spread where it is known.

    Parameters
    ----------
    found : Importance, what `coterie.diagnostics.importance` found
    max_columns : int, how many are shown; `data` holds all

    Examples
    --------
    >>> from coterie.diagnostics import Importance
    >>> found = Importance("split", "number of splits", ("age", "town"), np.array([3.0, 8.0]))
    >>> display = ImportanceDisplay(found)
    >>> display, display.data["column"].tolist()
    (ImportanceDisplay(split, 2 columns), ['town', 'age'])
    """

    def __init__(self, found: Importance, max_columns: int = 15) -> None:
        if not Whole(1).accepts(max_columns):
            raise InvalidParameter(f"max_columns={max_columns!r}: expected {Whole(1).describe()}.")
        self.found, self.max_columns = found, max_columns

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, max_columns: int = 15, **options: Any
    ) -> "ImportanceDisplay":
        """Measure a fitted model; `options` are those of `coterie.diagnostics.importance`."""
        return cls(importance(model, X, y, **options), max_columns)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "column", "importance" and "spread", the most important first; NaN where no spread is known."""
        order, found = self.found.order, self.found
        spread = np.full(len(order), np.nan) if found.spread is None else found.spread
        return {
            "column": np.array(found.names)[order],
            "importance": found.values[order],
            "spread": spread[order],
        }

    def chart(self) -> Chart:
        found, shown = self.found, self.found.order[: self.max_columns][::-1]
        values = found.values[shown]
        spread = None if found.spread is None else found.spread[shown]
        reach = np.zeros(len(values)) if spread is None else spread
        low = min(0.0, 1.05 * float((values - reach).min()))
        high = 1.05 * max(0.0, float((values + reach).max()))
        names = tuple(found.names[place] for place in shown)
        hidden = len(found.names) - len(names)
        return Chart(
            f"Importance of columns{f', {hidden} more are not shown' if hidden else ''}",
            Axis(found.meaning, low, high if high > low else 1.0),
            Axis("", -0.6, len(names) - 0.4, names=names),
            bars=(Bars("", values, spread),),
            marks=(Mark(0.0),) if low < 0 else (),
        )

    def __repr__(self) -> str:
        return f"ImportanceDisplay({self.found.method}, {len(self.found.names)} columns)"
