"""How answers depend on a column: a line with the curves of single rows behind it, or dots for levels."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics import Dependence, dependence
from coterie.plots.chart import Axis, Chart, Line, Points
from coterie.plots.display import Display

__all__ = ["DependenceDisplay"]

_MOST_ROWS = 60  # single curves that are drawn; more cannot be told apart


class DependenceDisplay(Display):
    """The curve of one column.

    Parameters
    ----------
    found : Dependence, what `coterie.diagnostics.dependence` found
    feature : name of the column; None is the first

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> display = DependenceDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X, 0)
    >>> display, display.data["average"][:2].round(1).tolist()
    (DependenceDisplay(x0, average), [0.0, 1.0])
    """

    def __init__(self, found: Dependence, feature: str | None = None) -> None:
        self.found = found
        self.curve = found.curves[0] if feature is None else found.of(feature)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, feature: Any, **options: Any) -> "DependenceDisplay":
        """Ask a fitted model; `options` are those of `coterie.diagnostics.dependence`."""
        return cls(dependence(model, X, feature, **options))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "value", "average" and "count"; one row for each value."""
        curve = self.curve
        values = np.array([str(value) for value in curve.grid]) if curve.categorical else curve.grid
        return {"value": values, "average": curve.average, "count": curve.count}

    def chart(self) -> Chart:
        curve, title = self.curve, f"Dependence on {self.curve.name}"
        rows = self._rows()
        low, high = _limits(np.append(curve.average, rows.ravel()))
        y = Axis(self.found.meaning, low, high)
        label = {"average": "mean of all rows", "individual": "mean of all rows", "ale": "accumulated effect"}
        name = label[self.found.kind]
        if curve.categorical:
            places = np.arange(float(len(curve.grid)))
            names = tuple(str(value) for value in curve.grid)
            x = Axis(curve.name, -0.5, len(names) - 0.5, names=names)
            lines = tuple(Line("a row", places, row, faint=True) for row in rows)
            return Chart(title, x, y, lines, points=(Points(name, places, curve.average),))
        grid = curve.grid.astype(np.float64)
        x = Axis(curve.name, float(grid[0]), float(grid[-1]) if len(grid) > 1 else float(grid[0]) + 1.0)
        faint = tuple(Line("a row", grid, row, faint=True) for row in rows)
        return Chart(title, x, y, (Line(name, grid, curve.average), *faint))

    def _rows(self) -> FloatArray:
        rows = self.curve.individual
        if rows is None:
            return np.zeros((0, len(self.curve.grid)))
        some = np.linspace(0, len(rows) - 1, min(len(rows), _MOST_ROWS)).round().astype(np.intp)
        return rows[some]

    def __repr__(self) -> str:
        return f"DependenceDisplay({self.curve.name}, {self.found.kind})"


def _limits(values: FloatArray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.06 * (high - low) or 0.5
    return low - room, high + room
