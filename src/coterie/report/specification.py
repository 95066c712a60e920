"""A chart as a Vega-Lite specification for the page: colours are CSS variables, so that a theme can change them."""

import json
from typing import Any

import numpy as np

from coterie.plots.chart import Chart, Heatmap, legend_items, ticks
from coterie.plots.palette import AXIS, FAINT, GRID, INK, PAPER, colour_of
from coterie.plots.vega import vega_of

_HEIGHT = 250
_BAR_HEIGHT = 22
_CELL_HEIGHT = 30
_N_COLOURS = 7
_FEW_CELLS = 12  # along a side; numbers are written into so many
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

_NAMES = {
    **{colour_of(place): f"var(--c{place})" for place in range(_N_COLOURS)},
    INK: "var(--ink)",
    AXIS: "var(--muted)",
    GRID: "var(--line)",
    PAPER: "var(--paper)",
    FAINT: "var(--faint)",
}

CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)",
        "titleColor": "var(--muted)",
        "titleFontWeight": 500,
        "titleFontSize": 12,
        "titlePadding": 8,
        "labelFontSize": 11,
        "gridColor": "var(--line)",
        "domainColor": "var(--faint)",
        "tickColor": "var(--faint)",
        "tickCount": 5,
        "tickSize": 4,
        "labelLimit": 150,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "labelFontSize": 12,
        "symbolStrokeWidth": 2,
        "labelLimit": 320,
        "padding": 0,
        "offset": 10,
    },
    "line": {"strokeWidth": 2},
    "point": {"size": 36},
}


def specification(chart: Chart) -> dict[str, Any]:
    """The specification that the page passes to Vega-Lite; the page writes the title."""
    spec = vega_of(chart)
    del spec["$schema"], spec["title"]
    spec["width"], spec["autosize"] = "container", {"type": "fit-x", "contains": "padding"}
    spec["height"] = _height(chart)
    if chart.heatmap is not None:
        spec["layer"] = _heatmap(spec["layer"][0], chart.heatmap)
    for layer in spec["layer"]:
        _set_legend_and_ticks(layer["encoding"], _legend(chart), dashes=not chart.points)
        if chart.x.log and "x" in layer["encoding"]:
            marked = ticks(chart.x)
            layer["encoding"]["x"]["axis"] = {"values": marked, "tickCount": len(marked)}
    if len(chart.points) == 1 and len(chart.points[0].x) > 200:
        _shrink_points(spec["layer"])
    found: dict[str, Any] = json.loads(json.dumps(_with_css_colours(spec)), parse_float=_rounded)
    return found


def _height(chart: Chart) -> int:
    if chart.bars:
        return 30 + _BAR_HEIGHT * max(len(bars.length) for bars in chart.bars)
    if chart.heatmap is not None:
        return 30 + min(360, _CELL_HEIGHT * len(chart.heatmap.values))
    return _HEIGHT


def _legend(chart: Chart) -> dict[str, Any] | None:
    """As many names side by side as there is room for; one alone needs no legend."""
    labels = [item.label for item in legend_items(chart)]
    if len(labels) < 2:
        return None
    line_width = 60  # letters
    widest = max(map(len, labels)) + 4
    return {"title": None, "orient": "top", "columns": max(1, min(len(labels), line_width // widest))}


def _set_legend_and_ticks(encoding: dict[str, Any], legend: dict[str, Any] | None, *, dashes: bool) -> None:
    """One legend for all; where there are dots, dashes would get one of their own."""
    for channel, own in (("color", legend), ("strokeDash", legend if dashes else None)):
        if "legend" in encoding.get(channel, {}) and encoding[channel]["legend"]:
            encoding[channel]["legend"] = own
    for channel in ("x", "y"):
        axis = encoding.get(channel, {}).get("axis")
        if axis and "values" in axis:
            axis["tickCount"] = len(axis["values"])  # with a smaller number, some of them would be dropped


def _shrink_points(layers: list[dict[str, Any]]) -> None:
    for layer in layers:
        if layer["mark"].get("type") == "point":
            layer["mark"] |= {"size": 12, "opacity": 0.45}


def _heatmap(layer: dict[str, Any], heatmap: Heatmap) -> list[dict[str, Any]]:
    """One colour, or two where numbers have two signs; the larger the number, the more opaque."""
    largest = max(abs(heatmap.low), abs(heatmap.high)) or 1.0
    rows = [
        {**row, "size": abs(row["value"]) / largest, "up": row["value"] >= 0}
        for row in layer["data"]["values"]
    ]
    position = {name: layer["encoding"][name] for name in ("x", "y", "x2", "y2")}
    rect = {
        "data": {"values": rows},
        "mark": {"type": "rect", "stroke": PAPER, "strokeWidth": 2},
        "encoding": {
            **position,
            "opacity": {
                "field": "size",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": [0.04, 1]},
                "legend": None,
            },
            "color": {
                "field": "up",
                "type": "nominal",
                "scale": {"domain": [True, False], "range": [colour_of(0), colour_of(1)]},
                "legend": None,
            },
            "tooltip": {"field": "value", "type": "quantitative", "format": ".3~f", "title": heatmap.label},
        },
    }
    if max(np.shape(heatmap.values)) > _FEW_CELLS:
        return [rect]
    middle = [
        {"x": row["x"] + 0.5, "y": row["y"] + 0.5, "text": f"{row['value']:.2f}", "dark": row["size"] > 0.55}
        for row in rows
    ]
    text = {
        "data": {"values": middle},
        "mark": {"type": "text", "fontSize": 11},
        "encoding": {
            "x": position["x"],
            "y": position["y"],
            "text": {"field": "text"},
            "color": {"condition": {"test": "datum.dark", "value": PAPER}, "value": INK},
        },
    }
    return [rect, text]


def _with_css_colours(value: Any) -> Any:
    """The same with CSS variables in place of colours."""
    if isinstance(value, dict):
        return {key: own if key == "data" else _with_css_colours(own) for key, own in value.items()}
    if isinstance(value, list):
        return [_with_css_colours(own) for own in value]
    return _NAMES.get(value, value) if isinstance(value, str) else value


def _rounded(text: str) -> float:
    """Five digits: a screen shows fewer."""
    return float(f"{float(text):.5g}")
