"""What each column brought to one answer, as bars to both sides."""

from typing import Any

import numpy as np

from coterie._params import Whole
from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidParameter
from coterie.explain import Explanation
from coterie.plots.chart import MOST_LETTERS, Axis, Bars, Chart, Mark
from coterie.plots.display import Display

__all__ = ["ExplanationDisplay"]


class ExplanationDisplay(Display):
    """A bar for each column that moved one answer most, and one for all the others together.

    Parameters
    ----------
    explained : Explanation, what `explain` of a model of trees returns
    row : int, which of its rows
    output : int or None, which of its outputs; None for the one with the highest score
    max_columns : int, how many columns have a bar of their own; `data` holds all

    Examples
    --------
    >>> from coterie.trees import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit({"age": [20, 20, 50, 50], "shoe": [38, 44, 38, 44]}, [1, 2, 5, 8])
    >>> display = ExplanationDisplay(tree.explain({"age": [55], "shoe": [44]}))
    >>> display.data["column"].tolist(), display.data["value"].round(2).tolist()
    (['age = 55', 'shoe = 44'], [2.75, 1.25])
    """

    def __init__(
        self, explained: Explanation, row: int = 0, output: int | None = None, max_columns: int = 10
    ) -> None:
        if not Whole(1).accepts(max_columns):
            raise InvalidParameter(f"max_columns={max_columns!r}: expected {Whole(1).describe()}.")
        self.explained, self.row, self.output, self.max_columns = explained, row, output, max_columns
        self._line = explained.line(row, output, most=max_columns)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, row: int = 0, output: int | None = None, *, max_columns: int = 10
    ) -> "ExplanationDisplay":
        """Ask a fitted model of trees to explain its answer to a row of X."""
        return cls(model.explain(X), row, output, max_columns)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "column", with what it holds, and "value", what it brought; the largest first."""
        parts = self.explained.line(self.row, self.output, most=len(self.explained.names)).parts
        return {
            "column": np.array([name for name, _ in parts], dtype=object).astype(str),
            "value": np.array([part for _, part in parts], dtype=np.float64),
        }

    def chart(self) -> Chart:
        line, unit = self._line, self.explained.unit
        parts = line.parts[::-1] or [("no column", 0.0)]
        values: FloatArray = np.array([part for _, part in parts])
        reach = 1.08 * max(float(np.abs(values).max()), 1e-300)
        low, high = (0.0 if values.min() >= 0 else -reach), (0.0 if values.max() <= 0 else reach)
        what = "" if line.output is None else f" for {line.output}"
        return Chart(
            f"{line.score:.4g} is the {unit}{what}, {line.base:.4g} is expected",
            Axis(f"what a column brought to the {unit}", low, high if high > low else 1.0),
            Axis("", -0.6, len(parts) - 0.4, names=tuple(_in_short(name) for name, _ in parts)),
            bars=(Bars("", values),),
            marks=(Mark(0.0),) if low < 0 < high else (),
        )

    def __repr__(self) -> str:
        return f"ExplanationDisplay(row {self.row} of {len(self.explained)})"


def _in_short(part: str) -> str:
    """A label that fits: of a long one the name of the column is cut, not what it holds."""
    name, equals, held = part.removesuffix(" together").rpartition(" = ")
    room = MOST_LETTERS - len(equals) - len(held)
    if len(name) <= room or room < 4:
        return name + equals + held
    return name[: room - 2] + " …" + equals + held
