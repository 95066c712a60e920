"""What columns do to predictions: importance and dependence."""

from itertools import pairwise
from typing import Any

import numpy as np

from coterie._params import Integer, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics import Dependence, DependenceCurve, Importance, dependence, importance
from coterie.explain import Explanation
from coterie.plots.chart import Axis, Bars, Chart, Density, Line, Mark, Points
from coterie.plots.display import Display

_MOST_ROWS = 60  # ICE curves that are drawn; more cannot be told apart
_EMPTY = 0.2  # of the width of a plot
_SHORT = 0.02  # the same: half of the line of a value that is alone


class DependenceDisplay(Display):
    """How predictions depend on one column, and where the rows are.

    Parameters
    ----------
    result : Dependence, the result of `coterie.diagnostics.dependence`
    feature : name of the column; None is the first
        Default None: a result often holds one curve.
    shared_y : bool, whether the vertical axis is that of all curves of the result, so that they can be compared
        Default True: a flat curve looks flat beside a steep one.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> display = DependenceDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X, 0)
    >>> display, display.data["average"][:2].round(1).tolist()
    (DependenceDisplay(x0, average), [0.0, 1.0])
    """

    def __init__(self, result: Dependence, feature: str | None = None, *, shared_y: bool = True) -> None:
        self.result = result
        self.curve = result.curves[0] if feature is None else result.of(feature)
        self.shared_y = shared_y

    @classmethod
    def from_estimator(cls, model: Any, X: Any, feature: Any, **options: Any) -> "DependenceDisplay":
        """Evaluate a fitted model; `options` are those of `coterie.diagnostics.dependence`."""
        return cls(dependence(model, X, feature, **options))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "value", "average" and "count"; one row for each value, and one for missing values if any."""
        curve = self.curve
        values = np.array(list(map(str, curve.grid))) if curve.categorical else curve.grid
        average, count = curve.average, curve.count
        if curve.missing_average is not None:
            values = np.append(values, "missing" if curve.categorical else np.nan)
            average, count = np.append(average, curve.missing_average), np.append(count, curve.missing_count)
        return {"value": values, "average": average, "count": count}

    def chart(self) -> Chart:
        curve = self.curve
        what = "Accumulated local effect of" if self.result.kind == "ale" else "Partial dependence on"
        y = Axis(self.result.meaning, *self._y_limits())
        chart = self._of_levels if curve.categorical else self._of_numbers
        return chart(f"{what} {curve.name}", y)

    def _y_limits(self) -> tuple[float, float]:
        """Below the curves there is room for the rows."""
        curves = self.result.curves if self.shared_y else (self.curve,)
        parts = [_drawn_rows(curve).ravel() for curve in curves] + [curve.average for curve in curves]
        missing = [curve.missing_average for curve in curves if curve.missing_average is not None]
        every = np.concatenate([*parts, np.array(missing)])
        low, high = float(every.min()), float(every.max())
        room = 0.06 * (high - low) or 0.5
        return low - 3 * room, high + room

    @property
    def _name(self) -> str:
        return "accumulated local effect" if self.result.kind == "ale" else "mean of all rows"

    def _of_levels(self, title: str, y: Axis) -> Chart:
        """A point for each level, one of them for missing values; bars at the foot say how many rows have it."""
        curve, data = self.curve, self.data
        names = tuple(data["value"].tolist())
        places = np.arange(float(len(names)))
        x = Axis(curve.name, -0.5, len(names) - 0.5, names=names)
        known = places[: len(curve.grid)]
        lines = tuple(Line("one row", known, row, faint=True) for row in _drawn_rows(curve))
        density = Density(places - 0.3, places + 0.3, _heights(data["count"]))
        points = (Points(self._name, places, data["average"]),)
        return Chart(title, x, y, lines, points=points, density=density)

    def _of_numbers(self, title: str, y: Axis) -> Chart:
        """A line that is interrupted where no rows are; missing values have a level of their own."""
        curve = self.curve
        grid = curve.grid.astype(np.float64)
        low, high = float(grid[0]), float(grid[-1]) if len(grid) > 1 else float(grid[0]) + 1.0
        places, breaks = _joined_places(_gaps(grid, curve.histogram))
        shown = _widened(grid, places, breaks, _SHORT * (high - low))
        lines = [Line(self._name, shown, curve.average[places], breaks=breaks)]
        if curve.missing_average is not None:
            rows = f"{curve.missing_count:,} row{'' if curve.missing_count == 1 else 's'}"
            level = np.full(2, curve.missing_average)
            lines.append(Line(f"where it is missing ({rows})", np.array([low, high]), level))
        faint = (Line("one row", shown, row[places], faint=True, breaks=breaks) for row in _drawn_rows(curve))
        edges = np.linspace(low, high, len(curve.histogram) + 1)
        density = Density(edges[:-1], edges[1:], _heights(curve.histogram)) if len(curve.histogram) else None
        ends = min(low, float(shown[0])), max(high, float(shown[-1]))
        x = Axis(curve.name, *ends, dates=curve.holds_dates)
        return Chart(title, x, y, (*lines, *faint), density=density)

    def __repr__(self) -> str:
        return f"DependenceDisplay({self.curve.name}, {self.result.kind})"


def _drawn_rows(curve: DependenceCurve) -> FloatArray:
    rows = curve.individual
    if rows is None:
        return np.zeros((0, len(curve.grid)))
    some = np.linspace(0, len(rows) - 1, min(len(rows), _MOST_ROWS)).round().astype(np.intp)
    return rows[some]


def _heights(counts: AnyArray) -> FloatArray:
    return np.asarray(counts / max(1, counts.max(initial=0)), dtype=np.float64)


def _gaps(grid: FloatArray, histogram: AnyArray) -> AnyArray:
    """After which values of a grid there is empty space: a fifth of the plot or more in which no rows are.

    Examples
    --------
    >>> _gaps(np.array([0.0, 1.0, 9.0, 10.0]), np.array([4, 2, 0, 0, 0, 0, 0, 0, 1, 1])).tolist()
    [False, True, False]
    """
    ends = np.linspace(grid[0], grid[-1], len(histogram) + 1)
    empty = np.zeros(len(grid) - 1, dtype=bool)
    if not len(histogram) or len(grid) < 2:
        return empty
    rows_below = np.append(0, np.cumsum(histogram))  # those below each end of a part
    changes = np.flatnonzero(np.diff(rows_below)) + 1
    starts, stops = np.append(0, changes), np.append(changes - 1, len(histogram))
    for start, stop in zip(ends[starts], ends[stops], strict=True):
        if stop - start >= _EMPTY * (grid[-1] - grid[0]) * (1 - 1e-9):
            empty[np.searchsorted(grid, (start + stop) / 2) - 1] = True
    return empty


def _joined_places(gaps: AnyArray) -> tuple[AnyArray, tuple[int, ...]]:
    """Places of values along a line, and after which of these it is interrupted.

    A value between two gaps is taken twice: it becomes a short line.

    Examples
    --------
    >>> places, breaks = _joined_places(np.array([False, False, True]))
    >>> places.tolist(), breaks
    ([0, 1, 2, 3, 3], (2,))
    """
    ends = [0, *(np.flatnonzero(gaps) + 1).tolist(), len(gaps) + 1]
    parts = [list(range(first, last)) for first, last in pairwise(ends)]
    parts = [part * 2 if len(part) == 1 and len(parts) > 1 else part for part in parts]
    last = np.cumsum([len(part) for part in parts]) - 1
    return np.concatenate(parts), tuple(last[:-1].tolist())


def _widened(grid: FloatArray, places: AnyArray, breaks: tuple[int, ...], reach: float) -> FloatArray:
    """The values at these places; those that are taken twice lie a little apart."""
    shown = grid[places]
    for first in np.flatnonzero(np.diff(places) == 0).tolist():
        if first not in breaks:
            shown[first], shown[first + 1] = shown[first] - reach, shown[first + 1] + reach
    return np.asarray(shown)


class ImportanceDisplay(Display):
    """A bar for each of the most important columns, with its spread where it is known.

    Parameters
    ----------
    result : Importance, the result of `coterie.diagnostics.importance`
    max_columns : int, how many are shown; `data` holds all
        Default 15: what fits beside a paragraph.

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

    @classmethod
    def from_explanation(
        cls, explained: Explanation, output: int | None = None, *, max_columns: int = 15
    ) -> "ImportanceDisplay":
        """The mean size of the contributions in an explanation of many rows, a bar for each column.

        Parameters
        ----------
        explained : Explanation, the result of `explain`
        output : int or None, the position of an output; None is the mean of all
        max_columns : int, how many are shown
        """
        of = "" if output is None or len(explained.outputs) == 1 else f" of {explained.outputs[output]}"
        sizes = np.abs(explained.values if output is None else explained.of_output(output).values)
        if sizes.ndim == 3:
            sizes = sizes.mean(axis=2)
        result = Importance(
            "shap",
            f"mean size of the contribution to the {explained.unit}{of}",
            explained.column_names,
            sizes.mean(axis=0),
            sizes.std(axis=0) / np.sqrt(len(sizes)),
        )
        return cls(result, max_columns)

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
