"""A chart as a Vega-Lite specification, with its data inside: for notebooks, and for changing it with other tools."""

from typing import Any

import numpy as np

from coterie.plots.chart import Axis, Chart, Line, is_late
from coterie.plots.palette import AXIS, colour_of, dashes_of

__all__ = ["MIME_TYPE", "vega_of"]

MIME_TYPE = "application/vnd.vegalite.v5+json"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def vega_of(chart: Chart) -> dict[str, Any]:
    """The specification as a dict of plain Python values."""
    labels = [line.label for line in chart.lines]
    scale = {"domain": labels, "range": [colour_of(place) for place in range(len(labels))]}
    dash = {"domain": labels, "range": [list(dashes_of(place) or (1, 0)) for place in range(len(labels))]}
    order = {"field": "line", "type": "nominal", "sort": None}
    lines = {
        "data": {"values": [row for line in chart.lines for row in _rows(line)]},
        "mark": {
            "type": "line",
            "clip": True,
            "interpolate": "step-after" if chart.lines[0].steps else "linear",
        },
        "encoding": {
            "x": _position("x", chart.x),
            "y": _position("y", chart.y),
            "color": {**order, "scale": scale, "legend": {"title": None, "orient": "top"}},
            "strokeDash": {**order, "scale": dash, "legend": {"title": None, "orient": "top"}},
            "order": {"field": "place", "type": "quantitative"},
            "tooltip": [
                {"field": "line", "type": "nominal", "title": " "},
                {"field": "x", "type": "quantitative", "title": chart.x.label, "format": ".3~g"},
                {"field": "y", "type": "quantitative", "title": chart.y.label, "format": ".3~g"},
            ],
        },
    }
    return {
        "$schema": _SCHEMA,
        "title": {"text": chart.title, "anchor": "start"},
        "width": 520,
        "height": 300,
        "layer": [lines, *_marks(chart)],
    }


def _rows(line: Line) -> list[dict[str, Any]]:
    known = np.isfinite(line.x) & np.isfinite(line.y)
    points = zip(line.x[known].tolist(), line.y[known].tolist(), strict=True)
    return [{"line": line.label, "place": place, "x": x, "y": y} for place, (x, y) in enumerate(points)]


def _position(field: str, axis: Axis) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": axis.label,
        "scale": {"type": "log" if axis.log else "linear", "domain": [axis.low, axis.high], "nice": False},
    }


def _marks(chart: Chart) -> list[dict[str, Any]]:
    """A line from top to bottom for each mark, with its word beside the upper end."""
    layers: list[dict[str, Any]] = []
    for mark in chart.marks:
        data = {"values": [{"x": mark.x, "label": mark.label}]}
        x = {"field": "x", "type": "quantitative"}
        rule = {"type": "rule", "color": AXIS, "strokeDash": [2, 3]}
        layers.append({"data": data, "mark": rule, "encoding": {"x": x}})
        if mark.label:
            side = {"align": "right", "dx": -6} if is_late(chart, mark) else {"align": "left", "dx": 6}
            word = {"type": "text", "color": AXIS, "dy": 8, **side}
            text = {"field": "label", "type": "nominal"}
            layers.append({"data": data, "mark": word, "encoding": {"x": x, "y": {"value": 0}, "text": text}})
    return layers
