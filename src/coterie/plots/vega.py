"""A chart as a Vega-Lite specification, with its data inside: for notebooks and other tools."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.plots.chart import (
    DENSITY_SHARE,
    Axis,
    Chart,
    Heatmap,
    Line,
    columns_of_panels,
    is_in_second_half,
    legend_items,
    tick_labels,
)
from coterie.plots.palette import (
    AXIS,
    DENSITY,
    FAINT,
    INK,
    PAPER,
    colour_of,
    dashes_of,
    ramp,
    shades,
    shape_of,
)

MIME_TYPE = "application/vnd.vegalite.v5+json"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_WIDTH, _HEIGHT = 520, 300
_LEGEND = {"title": None, "orient": "top"}


def vega_of(chart: Chart) -> dict[str, Any]:
    """The specification as a dict of plain Python values."""
    return {"$schema": _SCHEMA, **_plot(chart, _WIDTH, _HEIGHT)}


def vega_of_panels(charts: Sequence[Chart]) -> dict[str, Any]:
    """Plots beside each other."""
    if len(charts) == 1:
        return vega_of(charts[0])
    plots = [_plot(chart, 240, 200) for chart in charts]
    # Panels have legends of their own: a colour is a place in one of them.
    return {
        "$schema": _SCHEMA,
        "columns": columns_of_panels(len(charts)),
        "concat": plots,
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent", "shape": "independent"}},
    }


def _plot(chart: Chart, width: int, height: int) -> dict[str, Any]:
    layers = [
        *_regions(chart),
        *_density(chart),
        *_lines(chart),
        *_faint(chart),
        *_bands(chart),
        *_dots(chart),
        *_bars(chart),
        *_heatmap(chart),
        *_shaded(chart),
        *_marks(chart),
    ]
    return {
        "title": {"text": chart.title, "anchor": "start"},
        "width": width,
        "height": height,
        "layer": layers,
    }


def _colours(chart: Chart) -> dict[str, Any]:
    """The scale that all layers share: a colour for each label of the legend."""
    labels = [item.label for item in legend_items(chart)]
    return {"domain": labels, "range": [colour_of(place) for place in range(len(labels))]}


def _lines(chart: Chart) -> list[dict[str, Any]]:
    lines = [line for line in chart.lines if not line.faint]
    if not lines:
        return []
    labels = [line.label for line in lines]
    dash = {"domain": labels, "range": [list(dashes_of(place) or (1, 0)) for place in range(len(labels))]}
    order = {"field": "line", "type": "nominal", "sort": None}
    return [
        {
            "data": {"values": [row for line in lines for row in _rows(line)]},
            "mark": {
                "type": "line",
                "clip": True,
                "interpolate": "step-after" if lines[0].steps else "linear",
            },
            "encoding": {
                **_both(chart),
                "color": {**order, "scale": _colours(chart), "legend": _LEGEND},
                # Beside points a legend of dashes would name the lines twice.
                "strokeDash": {**order, "scale": dash, "legend": None if chart.points else _LEGEND},
                "detail": {"field": "part", "type": "nominal"},
                "order": {"field": "place", "type": "quantitative"},
                "tooltip": [
                    {"field": "line", "type": "nominal", "title": " "},
                    {"field": "x", "type": "quantitative", "title": chart.x.label, "format": ".3~g"},
                    {"field": "y", "type": "quantitative", "title": chart.y.label, "format": ".3~g"},
                ],
            },
        }
    ]


def _faint(chart: Chart) -> list[dict[str, Any]]:
    faint = [line for line in chart.lines if line.faint]
    rows = [{**row, "line": number} for number, line in enumerate(faint) for row in _rows(line)]
    if not rows:
        return []
    detail = [{"field": "line", "type": "nominal"}, {"field": "part", "type": "nominal"}]
    order = {"field": "place", "type": "quantitative"}
    mark = {"type": "line", "clip": True, "color": FAINT, "strokeWidth": 0.8, "opacity": 0.5}
    return [
        {
            "data": {"values": rows},
            "mark": mark,
            "encoding": {**_both(chart), "detail": detail, "order": order},
        }
    ]


def _bands(chart: Chart) -> list[dict[str, Any]]:
    layers = []
    for place, line in enumerate(line for line in chart.lines if not line.faint):
        if line.low is not None and line.high is not None:
            rows = _columns(x=line.x, y=line.low, high=line.high)
            mark = {"type": "area", "clip": True, "color": colour_of(place), "opacity": 0.15}
            encoding = {**_both(chart), "y2": {"field": "high"}}
            layers.append({"data": {"values": rows}, "mark": mark, "encoding": encoding})
    return layers


def _regions(chart: Chart) -> list[dict[str, Any]]:
    """The ground in rectangles, each of one colour."""
    regions = chart.regions
    if regions is None:
        return []
    n_rows, n_columns = regions.place.shape
    x = np.linspace(chart.x.low, chart.x.high, n_columns + 1).tolist()
    y = np.linspace(chart.y.low, chart.y.high, n_rows + 1).tolist()
    rows = [
        {
            "x": x[box.left],
            "x2": x[box.right],
            "y": y[box.low],
            "y2": y[box.high],
            "colour": colour_of(box.place),
            "opacity": box.strength,
        }
        for box in regions.boxes()
    ]
    encoding = {
        **_both(chart),
        "x2": {"field": "x2"},
        "y2": {"field": "y2"},
        "fill": {"field": "colour", "type": "nominal", "scale": None, "legend": None},
        "fillOpacity": {"field": "opacity", "type": "quantitative", "scale": None, "legend": None},
    }
    return [
        {
            "data": {"values": rows},
            "mark": {"type": "rect", "clip": True, "stroke": None},
            "encoding": encoding,
        }
    ]


def _dots(chart: Chart) -> list[dict[str, Any]]:
    layers = []
    first = len(legend_items(chart)) - len(chart.points) - len(chart.bars)
    legend = _LEGEND if any(item.label for item in legend_items(chart)) else None
    colour = {"field": "line", "type": "nominal", "scale": _colours(chart), "legend": legend}
    for place, points in enumerate(chart.points, start=first):
        sizes = {} if points.size is None else {"size": 40 * points.size}
        rows = [{"line": points.label, **row} for row in _columns(x=points.x, y=points.y, **sizes)]
        mark: dict[str, Any] = {"type": "point", "filled": True, "clip": True, "opacity": 0.8}
        if points.outlined:
            mark |= {"opacity": 1.0, "stroke": PAPER, "strokeWidth": 0.8, "shape": shape_of(place)}
        encoding = {**_both(chart), "color": colour}
        if sizes:
            encoding["size"] = {"field": "size", "type": "quantitative", "scale": None, "legend": None}
        layers.append({"data": {"values": rows}, "mark": mark, "encoding": encoding})
        if points.low is not None and points.high is not None:
            ends = _columns(x=points.x, y=points.low, high=points.high)
            rule = {"type": "rule", "clip": True, "color": colour_of(place)}
            ranged = {**_both(chart), "y2": {"field": "high"}}
            layers.append({"data": {"values": ends}, "mark": rule, "encoding": ranged})
        if points.left is not None and points.right is not None:
            ends = _columns(x=points.left, y=points.y, right=points.right)
            rule = {"type": "rule", "clip": True, "color": colour_of(place)}
            ranged = {**_both(chart), "x2": {"field": "right"}}
            layers.append({"data": {"values": ends}, "mark": rule, "encoding": ranged})
    return layers


def _bars(chart: Chart) -> list[dict[str, Any]]:
    layers = []
    first = len(legend_items(chart)) - len(chart.bars)
    for place, bars in enumerate(chart.bars, start=first):
        heights = np.arange(len(bars.length), dtype=np.float64)
        sides = _columns(x=bars.length, zero=0 * heights, y=heights - 0.33, upper=heights + 0.33)
        both = _both(chart)
        layers.append(
            {
                "data": {"values": sides},
                "mark": {"type": "rect", "color": colour_of(place), "clip": True},
                "encoding": {**both, "x2": {"field": "zero"}, "y2": {"field": "upper"}},
            }
        )
        if bars.spread is not None:
            ends = _columns(x=bars.length - bars.spread, y=heights, end=bars.length + bars.spread)
            rule = {"type": "rule", "color": INK, "clip": True}
            encoding = {**both, "x2": {"field": "end"}}
            layers.append({"data": {"values": ends}, "mark": rule, "encoding": encoding})
    return layers


def _heatmap(chart: Chart) -> list[dict[str, Any]]:
    heatmap: Heatmap | None = chart.heatmap
    if heatmap is None:
        return []
    rows = [
        {"x": column - 0.5, "x2": column + 0.5, "y": row - 0.5, "y2": row + 0.5, "value": float(value)}
        for (row, column), value in np.ndenumerate(heatmap.values)
        if np.isfinite(value)
    ]
    scale = {"domain": [heatmap.low, heatmap.high], "range": shades(heatmap.low, heatmap.high)}
    colour = {"field": "value", "type": "quantitative", "scale": scale, "legend": {"title": heatmap.label}}
    encoding = {**_both(chart), "x2": {"field": "x2"}, "y2": {"field": "y2"}, "color": colour}
    return [{"data": {"values": rows}, "mark": {"type": "rect"}, "encoding": encoding}]


def _shaded(chart: Chart) -> list[dict[str, Any]]:
    """Small points in the colours of a scale; those without a colour are grey."""
    points = chart.shaded
    if points is None:
        return []
    size = 24 if len(points.x) <= 400 else 12
    mark = {"type": "point", "filled": True, "clip": True, "opacity": 0.8, "size": size}
    has_shade = np.isfinite(points.shade)
    names = f"datum.value < 0.5 ? {_quoted(points.low)} : {_quoted(points.high)}"
    by_shade = {
        "field": "shade",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "range": ramp()},
        "legend": {"title": points.label, "values": [0, 1], "labelExpr": names},
    }
    layers = []
    for known, columns in ((True, {"shade": points.shade}), (False, {})):
        own = has_shade == known
        parts = {"x": points.x, "y": points.y, **columns}
        rows = _columns(**{name: values[own] for name, values in parts.items()})
        encoding = {**_both(chart), "color": by_shade if known else {"value": FAINT}}
        layers.append({"data": {"values": rows}, "mark": mark, "encoding": encoding})
    return layers


def _density(chart: Chart) -> list[dict[str, Any]]:
    """Where rows are, at the foot of the plot."""
    density = chart.density
    if density is None:
        return []
    top = _HEIGHT * (1 - DENSITY_SHARE * density.height)
    rows = _columns(x=density.left, right=density.right, top=top)
    encoding = {
        "x": _position("x", chart.x),
        "x2": {"field": "right"},
        "y": {"field": "top", "type": "quantitative", "scale": None, "axis": None},
        "y2": {"value": _HEIGHT},
    }
    return [
        {
            "data": {"values": rows},
            "mark": {"type": "rect", "color": DENSITY, "clip": True},
            "encoding": encoding,
        }
    ]


def _rows(line: Line) -> list[dict[str, Any]]:
    by_part = [_columns(x=line.x[part], y=line.y[part]) for part in line.parts()]
    rows = [(number, row) for number, rows in enumerate(by_part) for row in rows]
    return [
        {"line": line.label, "place": place, "part": number, **row}
        for place, (number, row) in enumerate(rows)
    ]


def _columns(**columns: FloatArray) -> list[dict[str, Any]]:
    """Rows of plain numbers, without those that hold something else."""
    table = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns.values()])
    known = np.isfinite(table).all(axis=1)
    return [dict(zip(columns, row, strict=True)) for row in table[known].tolist()]


def _both(chart: Chart) -> dict[str, Any]:
    return {"x": _position("x", chart.x), "y": _position("y", chart.y)}


def _position(field: str, axis: Axis) -> dict[str, Any]:
    found: dict[str, Any] = {
        "field": field,
        "type": "quantitative",
        "title": axis.label,
        "scale": {"type": "log" if axis.log else "linear", "domain": [axis.low, axis.high], "nice": False},
    }
    if axis.has_texts:
        written = tick_labels(axis)
        texts = ", ".join(f"{place:g}: {_quoted(text)}" for place, text in written)
        found["axis"] = {
            "values": [place for place, _ in written],
            "labelExpr": f"({{{texts}}})[datum.value]",
            "labelOverlap": False,
            "grid": False,
        }
        if field == "x" and sum(len(text) for _, text in written) > 50:
            found["axis"]["labelAngle"] = -35
    return found


def _quoted(text: str) -> str:
    """A string of Vega's expressions."""
    safe = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ").replace("\r", " ")
    return f"'{safe}'"


def _marks(chart: Chart) -> list[dict[str, Any]]:
    """A line from top to bottom for each mark, with its word beside the upper end."""
    layers: list[dict[str, Any]] = []
    for mark in chart.marks:
        data = {"values": [{"x": mark.x, "label": mark.label}]}
        x = {"field": "x", "type": "quantitative"}
        rule = {"type": "rule", "color": AXIS, "strokeDash": [2, 3]}
        layers.append({"data": data, "mark": rule, "encoding": {"x": x}})
        if mark.label:
            side = (
                {"align": "right", "dx": -6} if is_in_second_half(chart, mark) else {"align": "left", "dx": 6}
            )
            word = {"type": "text", "color": AXIS, "dy": 8, **side}
            text = {"field": "label", "type": "nominal"}
            layers.append({"data": data, "mark": word, "encoding": {"x": x, "y": {"value": 0}, "text": text}})
    return layers
