"""Partial dependence, ICE curves and accumulated local effects of a column: lines, or points for categories."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics import Dependence, dependence
from coterie.plots.chart import Axis, Chart, Line, Points
from coterie.plots.display import Display

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
