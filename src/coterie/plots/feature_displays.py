"""What columns do to predictions: importance, dependence, and the contributions to one prediction."""

from typing import Any

import numpy as np

from coterie._params import Integer, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics import Dependence, Importance, dependence, importance
from coterie.explain import Explanation
from coterie.plots.chart import MAX_LABEL_LENGTH, Axis, Bars, Chart, Line, Mark, Points
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


_MOST_ROWS = 60  # ICE curves that are drawn; more cannot be told apart


class DependenceDisplay(Display):
    """How predictions depend on one column.

    Parameters
    ----------
    result : Dependence, the result of `coterie.diagnostics.dependence`
    feature : name of the column; None is the first

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> display = DependenceDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X, 0)
    >>> display, display.data["average"][:2].round(1).tolist()
    (DependenceDisplay(x0, average), [0.0, 1.0])
    """

    def __init__(self, result: Dependence, feature: str | None = None) -> None:
        self.result = result
        self.curve = result.curves[0] if feature is None else result.of(feature)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, feature: Any, **options: Any) -> "DependenceDisplay":
        """Evaluate a fitted model; `options` are those of `coterie.diagnostics.dependence`."""
        return cls(dependence(model, X, feature, **options))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "value", "average" and "count"; one row for each value."""
        curve = self.curve
        values = np.array([str(value) for value in curve.grid]) if curve.categorical else curve.grid
        return {"value": values, "average": curve.average, "count": curve.count}

    def chart(self) -> Chart:
        curve = self.curve
        what = "Accumulated local effect of" if self.result.kind == "ale" else "Partial dependence on"
        title = f"{what} {curve.name}"
        rows = self._rows()
        low, high = _limits(np.append(curve.average, rows.ravel()))
        y = Axis(self.result.meaning, low, high)
        label = {
            "average": "mean of all rows",
            "individual": "mean of all rows",
            "ale": "accumulated local effect",
        }
        name = label[self.result.kind]
        if curve.categorical:
            places = np.arange(float(len(curve.grid)))
            names = tuple(str(value) for value in curve.grid)
            x = Axis(curve.name, -0.5, len(names) - 0.5, names=names)
            lines = tuple(Line("one row", places, row, faint=True) for row in rows)
            return Chart(title, x, y, lines, points=(Points(name, places, curve.average),))
        grid = curve.grid.astype(np.float64)
        x = Axis(curve.name, float(grid[0]), float(grid[-1]) if len(grid) > 1 else float(grid[0]) + 1.0)
        faint = tuple(Line("one row", grid, row, faint=True) for row in rows)
        return Chart(title, x, y, (Line(name, grid, curve.average), *faint))

    def _rows(self) -> FloatArray:
        rows = self.curve.individual
        if rows is None:
            return np.zeros((0, len(self.curve.grid)))
        some = np.linspace(0, len(rows) - 1, min(len(rows), _MOST_ROWS)).round().astype(np.intp)
        return rows[some]

    def __repr__(self) -> str:
        return f"DependenceDisplay({self.curve.name}, {self.result.kind})"


def _limits(values: FloatArray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.06 * (high - low) or 0.5
    return low - room, high + room


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
