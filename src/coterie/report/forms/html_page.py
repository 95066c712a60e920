"""A report as one page: style, scripts, charts and text in one file that loads nothing.

A chart is a Vega-Lite specification whose colours are CSS variables, so that a theme can change them.
"""

import base64
import hashlib
import json
import math
import re
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from coterie.plots.chart import Chart, Heatmap, legend_items, ticks
from coterie.plots.palette import AXIS, FAINT, GRID, INK, PAPER, colour_of
from coterie.plots.vega import vega_of
from coterie.report.content import (
    Block,
    Cell,
    Code,
    ConfusionMatrix,
    Drawings,
    Facts,
    Figure,
    Paragraph,
    Section,
    TableBlock,
    ThresholdCounts,
)

_HEIGHT = 250
_BAR_HEIGHT = 22
_CELL_HEIGHT = 30
_N_COLOURS = 7
_MANY_POINTS = 150
_FEW_CELLS = 10  # along a side; numbers are written into so many
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
        "labelOverlap": "greedy",
        "labelSeparation": 8,
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


def specification(chart: Chart, *, legend: bool = True) -> dict[str, Any]:
    """The specification that the page passes to Vega-Lite; the page writes the title."""
    spec = vega_of(chart)
    del spec["$schema"], spec["title"]
    spec["width"], spec["autosize"] = "container", {"type": "fit-x", "contains": "padding"}
    spec["height"] = _height(chart)
    if chart.heatmap is not None:
        spec["layer"] = _heatmap(spec["layer"][0], chart.heatmap)
    for layer in spec["layer"]:
        _set_legend_and_ticks(layer["encoding"], _legend(chart) if legend else None, dashes=not chart.points)
        _set_large_numbers(layer["encoding"], chart)
        if chart.x.log and "x" in layer["encoding"]:
            marked = ticks(chart.x)
            layer["encoding"]["x"]["axis"] = {"values": marked, "tickCount": len(marked)}
    if sum(len(own.x) for own in chart.points) > _MANY_POINTS:
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


_LARGE = 1e6  # numbers of an axis that are written in millions and more
_IN_SHORT = (
    "abs(datum.value) >= 1e9 ? format(datum.value / 1e9, ',~g') + ' bn' : "
    "abs(datum.value) >= 1e6 ? format(datum.value / 1e6, ',~g') + ' m' : format(datum.value, ',~g')"
)


def _set_large_numbers(encoding: dict[str, Any], chart: Chart) -> None:
    """Millions in short: labels of nine digits would run into each other."""
    for channel, axis in (("x", chart.x), ("y", chart.y)):
        is_plain = not (axis.names or axis.dates or axis.log)
        if channel in encoding and is_plain and max(abs(axis.low), abs(axis.high)) >= _LARGE:
            encoding[channel].setdefault("axis", {})["labelExpr"] = _IN_SHORT


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
        {
            "x": row["x"] + 0.5,
            "y": row["y"] + 0.5,
            "text": f"{row['value'] + 0.0:.2f}".replace("-0.00", "0.00"),
            "dark": row["size"] > 0.55,
        }
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


_SCRIPTS = ("vega.min.js", "vega-interpreter.min.js", "vega-lite.min.js")
_LONG = 40  # letters
_LEAST_SCALE = 0.55  # of a drawing; its letters are 12 px high
_KINDS = {
    Paragraph: "paragraph",
    Facts: "facts",
    TableBlock: "table",
    Figure: "figure",
    ConfusionMatrix: "confusion_matrix",
    ThresholdCounts: "thresholds",
    Drawings: "drawings",
    Code: "code",
}


@cache
def vendored(file: str) -> str:
    """A script that is kept beside this module, as it was published."""
    return (files("coterie.report") / "vendor" / file).read_text(encoding="utf-8")


def html_of(report: Any) -> str:
    """The page. The same report gives the same bytes."""
    charts: list[dict[str, Any]] = []
    sections = [_section(section, charts) for section in report.shown]
    scripts = [_embedded(vendored(name)) for name in _SCRIPTS]
    own = _environment().get_template("report.js").render()
    allowed = " ".join(_hash_of(script) for script in [*scripts, own])
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            sections=sections,
            policy=(
                f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
                "connect-src 'none'; base-uri 'none'; form-action 'none'"
            ),
            scripts=[Markup(script) for script in [*scripts, own]],
            style=Markup(_environment().get_template("report.css").render()),
            data=Markup(_as_data({"config": CONFIG, "charts": charts})),
        )
    )


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("coterie.report"),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    found.filters["tied"] = _tied
    found.filters["breakable"] = _breakable
    return found


def _tied(text: str) -> str:
    """A number and its sign stay on one line."""
    return re.sub(r"(?<=\d) (?=%)", "\u00a0", text)


def _embedded(script: str) -> str:
    """Without the address of a source map, which browsers may request, and with nothing that ends a script."""
    script = re.sub(r"\n//# sourceMappingURL=\S+\s*$", "", script)
    return re.sub(r"</(script)", r"<\\/\1", script, flags=re.IGNORECASE)


def _hash_of(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _as_data(value: Any) -> str:
    """JSON inside of a page: nothing in it can end the element or begin a comment."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _section(section: Section, charts: list[dict[str, Any]]) -> dict[str, Any]:
    """Blocks with what the template needs; charts that follow each other stand side by side."""
    groups: list[dict[str, Any]] = []
    for kind, blocks in groupby(section.blocks, key=lambda block: _KINDS[type(block)]):
        together = list(blocks)
        parts = [together] if kind == "figure" else [[block] for block in together]
        groups += [{"kind": kind, "blocks": [_block(block, charts) for block in part]} for part in parts]
    return {"key": section.key, "title": section.title, "groups": groups}


def _block(block: Block, charts: list[dict[str, Any]]) -> dict[str, Any]:
    if isinstance(block, Figure):
        charts.append(specification(block.chart, legend=block.legend))
        description = ". ".join(text.rstrip(".") for text in (block.chart.title, block.caption) if text)
        return {
            "number": len(charts) - 1,
            "title": block.chart.title,
            "caption": block.caption,
            "description": description,
        }
    if isinstance(block, TableBlock):
        return {
            "table": block,
            "rows": block.formatted(),
            "sort_keys": [[_sort_key(cell) for cell in row] for row in block.rows],
            "heads": [_breakable(name) for name in block.columns],
            **_drawn_intervals(block),
            **_alignment(block),
        }
    if isinstance(block, ConfusionMatrix):
        total = block.counts.sum(axis=1, keepdims=True).clip(min=1)
        return {
            "matrix": block,
            "shares": (block.counts / total).round(3).tolist(),
            "counts": block.counts.tolist(),
        }
    if isinstance(block, ThresholdCounts):
        data = _as_data(
            {name: value for name, value in vars(block).items() if name not in ("positive_class", "command")}
        )
        return {"positive_class": block.positive_class, "command": block.command, "data": Markup(data)}
    if isinstance(block, Drawings):
        svgs = [Markup(_without_size(svg)) for svg in block.svgs]
        return {"drawings": list(zip(block.titles, svgs, strict=True))}
    return {"block": block}


def _sort_key(cell: Cell) -> float | str:
    """What a table is sorted by: the number itself, also of a percentage or of a number as text."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        text = cell.removesuffix(" %").replace(",", "")
        try:
            number = float(text)
        except ValueError:
            return cell
        return number if math.isfinite(number) else ""
    return float(cell) if math.isfinite(cell) else ""


def _breakable(name: str) -> Markup:
    """A name that may be broken after an underscore and between its words, and nowhere inside of a word."""
    parts = re.split(r"(?<=_)(?=.)|(?<=[a-z])(?=[A-Z])", name)
    return Markup("<wbr>").join(parts)


def _without_size(svg: str) -> str:
    """A drawing as wide as the page, but never so small that it cannot be read, nor larger than it is."""

    def styled(found: re.Match[str]) -> str:
        width = int(found[2])
        return f'<svg {found[1]}style="max-width:{width}px;min-width:{round(_LEAST_SCALE * width)}px"'

    return re.sub(r'<svg ([^>]*?)width="(\d+)" height="\d+"', styled, svg, count=1)


def _alignment(table: TableBlock) -> dict[str, Any]:
    def is_number(place: int) -> bool:
        cells = [row[place] for row in table.rows]
        known = [cell for cell in cells if cell is not None and cell != ""]
        return bool(known) and not any(isinstance(_sort_key(cell), str) for cell in known)

    numbers = [place > 0 and is_number(place) for place in range(len(table.columns))]
    classes = [
        ["number" if numbers[place] else _class_of(cell) for place, cell in enumerate(row)]
        for row in table.rows
    ]
    return {"numbers": numbers, "classes": classes}


def _class_of(cell: Cell) -> str:
    """A date stays on one line, and a long text has room: on a phone it would be a column of single words."""
    if not isinstance(cell, str):
        return ""
    if re.fullmatch(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", cell):
        return "date"
    return "long" if len(cell) > _LONG else ""


def _drawn_intervals(table: TableBlock) -> dict[str, Any]:
    """For each row where its interval begins, how wide it is and where its value lies, in shares of the widest."""
    if table.interval is None:
        return {"ranges": None}
    numbers = [
        [float("nan") if row[place] is None else float(row[place]) for place in table.interval]  # type: ignore[arg-type]
        for row in table.rows
    ]
    ends = [end for own in numbers for end in own if end == end]
    low, high = min(ends), max(ends)
    size = (high - low) or 1.0
    ranges: list[list[float] | None] = []
    for value, left, right in numbers:
        if value != value:
            ranges.append(None)
            continue
        if left != left or right != right:
            left = right = value
        ranges.append(
            [
                round(100 * share, 2)
                for share in ((left - low) / size, (right - left) / size, (value - low) / size)
            ]
        )
    return {"ranges": ranges}
