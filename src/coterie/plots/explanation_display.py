"""The contribution of each column to one prediction: SHAP values as bars."""

from typing import Any

import numpy as np

from coterie._params import Integer, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.explain import Explanation
from coterie.plots.chart import MAX_LABEL_LENGTH, Axis, Bars, Chart, Mark
from coterie.plots.display import Display


class ExplanationDisplay(Display):
    """A bar for each of the largest contributions to one prediction, and one for all other columns together.

    Parameters
    ----------
    explained : Explanation, the result of `explain` of a tree model
    row : int, which of its rows
    output : int or None, which of its outputs; None for the one with the highest prediction
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
        if not Integer(1).accepts(max_columns):
            raise unexpected("max_columns", max_columns, Integer(1).describe())
        self.explained, self.row, self.output, self.max_columns = explained, row, output, max_columns
        self._row = explained.for_row(row, output, max_columns=max_columns)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, row: int = 0, output: int | None = None, *, max_columns: int = 10
    ) -> "ExplanationDisplay":
        """Explain the prediction of a fitted tree model for a row of X."""
        return cls(model.explain(X), row, output, max_columns)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "column", such as "age = 37", and "value", its SHAP value; the largest first."""
        n_columns = len(self.explained.column_names)
        parts = self.explained.for_row(self.row, self.output, max_columns=n_columns).contributions
        return {
            "column": np.array([name for name, _ in parts], dtype=object).astype(str),
            "value": np.array([part for _, part in parts], dtype=np.float64),
        }

    def chart(self) -> Chart:
        parts = self._row.contributions[::-1] or [("no column", 0.0)]
        values: FloatArray = np.array([part for _, part in parts])
        reach = 1.08 * max(float(np.abs(values).max()), 1e-300)
        low, high = (0.0 if values.min() >= 0 else -reach), (0.0 if values.max() <= 0 else reach)
        return Chart(
            self._row.heading,
            Axis(f"contribution to the {self.explained.unit} (SHAP value)", low, high if high > low else 1.0),
            Axis("", -0.6, len(parts) - 0.4, names=tuple(_shortened(name) for name, _ in parts)),
            bars=(Bars("", values),),
            marks=(Mark(0.0),) if low < 0 < high else (),
        )

    def __repr__(self) -> str:
        return f"ExplanationDisplay(row {self.row} of {len(self.explained)})"


def _shortened(part: str) -> str:
    """A label that fits: of a long one the name of the column is cut, not its value."""
    name, equals, held = part.removesuffix(" together").rpartition(" = ")
    room = MAX_LABEL_LENGTH - len(equals) - len(held)
    if len(name) <= room or room < 4:
        return name + equals + held
    return name[: room - 2] + " …" + equals + held
