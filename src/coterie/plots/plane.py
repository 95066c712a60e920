"""Rows as points over two columns of a table."""

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics.regions import PlaneAxis
from coterie.plots.chart import Axis


def chart_axis(axis: PlaneAxis) -> Axis:
    """An axis of a chart, from edge to edge of the places at which a model was asked."""
    if axis.levels:
        return Axis(axis.name, -0.5, len(axis.levels) - 0.5, names=axis.levels)
    half = (axis.values[1] - axis.values[0]) / 2
    return Axis(
        axis.name, float(axis.values[0] - half), float(axis.values[-1] + half), dates=axis.holds_dates
    )


def beside_each_other(x: PlaneAxis, y: PlaneAxis, rows: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Where points are; those of one level lie beside each other, as they would hide each other otherwise."""
    return _spread(x, rows, 0.618034), _spread(y, rows, 0.754878)


def _spread(axis: PlaneAxis, rows: AnyArray, step: float) -> FloatArray:
    found = axis.place[rows]
    return found if not axis.levels else found + 0.6 * ((step * np.arange(len(rows))) % 1 - 0.5)
