"""A chart as SVG that needs no other package and loads nothing."""

from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from coterie._typing import FloatArray
from coterie.plots.chart import (
    DENSITY_SHARE,
    Axis,
    Bars,
    Chart,
    Density,
    Heatmap,
    Line,
    Points,
    Regions,
    ShadedPoints,
    axis_fraction,
    columns_of_panels,
    is_in_second_half,
    legend_items,
    tick_labels,
)
from coterie.plots.palette import (
    AXIS,
    DENSITY,
    FAINT,
    GRID,
    INK,
    PAPER,
    colour_of,
    dashes_of,
    ramp,
    ramp_of,
    shade_of,
    shades,
    shape_of,
    text_colour_on,
)

_WIDTH, _HEIGHT = 640, 420
_PANEL_WIDTHS = {1: _WIDTH, 2: 400, 3: 330}  # by how many are beside each other
_PANEL_HEIGHT = 330
_LEFT, _RIGHT, _BOTTOM = 62, 24, 54
_TITLE, _LEGEND_LINE, _GAP = 34, 20, 14
_CHAR_WIDTH, _SWATCH = 6.2, 34
_REACH = (-0.01, 1.01)  # of the axes: values far outside are drawn at their ends
_LEAST_WRITTEN = 34.0  # a cell of this width has room for its number


def svg_of(chart: Chart) -> str:
    """The whole plot: title, legend, axes and data."""
    return _drawn(chart, _WIDTH, _HEIGHT)


def svg_of_panels(charts: Sequence[Chart]) -> str:
    """Plots beside each other, in rows of at most three."""
    if len(charts) == 1:
        return svg_of(charts[0])
    n_columns = columns_of_panels(len(charts))
    width, height = _PANEL_WIDTHS[n_columns], _PANEL_HEIGHT
    top = max(_legend_places(chart, width)[1] for chart in charts)
    whole, high = n_columns * width, -(-len(charts) // n_columns) * height
    named = quoteattr("; ".join(_described(chart) for chart in charts))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{high}" viewBox="0 0 {whole} {high}" '
        f'role="img" aria-label={named}>',
        f'<rect width="{whole}" height="{high}" fill="{PAPER}"/>',
    ]
    for place, chart in enumerate(charts):
        at = f"translate({place % n_columns * width} {place // n_columns * height})"
        parts.append(f'<g transform="{at}">\n{_drawn(chart, width, height, top)}</g>')
    return "\n".join([*parts, "</svg>\n"])


def _described(chart: Chart) -> str:
    named = [chart.heatmap.label] if chart.heatmap else [item.label for item in legend_items(chart)]
    listed = f": {', '.join(named)}" if any(named) else ""
    return f"{chart.title}. {chart.y.label} by {chart.x.label}{listed}."


def _drawn(chart: Chart, width: int, height: int, least_top: float = 0.0) -> str:
    frame = _Frame(chart, width, height)
    places, top = _legend_places(chart, width)
    frame.top = max(top, least_top)
    described = _described(chart)
    no_grid = chart.heatmap or chart.regions
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label={quoteattr(described)} font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f"<title>{escape(chart.title)}</title><desc>{escape(described)}</desc>",
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        f'<text x="{_LEFT}" y="22" font-size="14" font-weight="bold" fill="{INK}">{escape(chart.title)}</text>',
        *_legend(chart, places),
        *(() if chart.regions is None else _regions(chart.regions, frame)),
        *frame.axes(grid="" if no_grid else "x" if chart.bars or chart.shaded else "y"),
        *(() if chart.density is None else _density(chart.density, frame)),
        *(() if chart.heatmap is None else ('<g class="cells">', *_heatmap(chart.heatmap, frame), "</g>")),
        *_marks(chart, frame),
        *_faint(chart, frame),
    ]
    for place, item in enumerate(legend_items(chart)):
        draw: Any = {Line: _line, Points: _points, Bars: _bars}[type(item)]
        parts += draw(item, place, frame)
    if chart.shaded is not None:
        parts += _shaded(chart.shaded, frame)
    return "\n".join([*parts, "</svg>\n"])


class _Frame:
    """From values of the axes to positions in the SVG."""

    def __init__(self, chart: Chart, width: int, height: int) -> None:
        self.x_axis, self.y_axis, self.top = chart.x, chart.y, 0.0
        longest = max((len(text) for _, text in tick_labels(chart.y)), default=0)
        self.left = max(_LEFT, 34 + longest * _CHAR_WIDTH) if chart.y.names else _LEFT
        self.height = height
        self.right = width - _RIGHT - (70 if chart.heatmap or chart.shaded else 0)
        self.bottom = height - _BOTTOM
        self.tilts_names = _names_are_long(chart.x, self.right - self.left)
        if self.tilts_names:
            self.bottom -= 44

    def x(self, values: FloatArray | float) -> FloatArray:
        return self.left + np.clip(axis_fraction(self.x_axis, values), *_REACH) * (self.right - self.left)

    def y(self, values: FloatArray | float) -> FloatArray:
        return self.bottom - np.clip(axis_fraction(self.y_axis, values), *_REACH) * (self.bottom - self.top)

    def axes(self, *, grid: str) -> Iterator[str]:
        """Ticks and labels of both axes; grid lines of one of them."""
        for value, text in tick_labels(self.y_axis):
            y = float(self.y(value))
            if grid == "y":
                yield f'<line x1="{self.left}" y1="{y:.1f}" x2="{self.right}" y2="{y:.1f}" stroke="{GRID}"/>'
            yield _text(self.left - 8, y + 4, text, "end", AXIS)
        for value, text in tick_labels(self.x_axis):
            x = float(self.x(value))
            if grid == "x":
                yield f'<line x1="{x:.1f}" y1="{self.top}" x2="{x:.1f}" y2="{self.bottom}" stroke="{GRID}"/>'
            yield f'<line x1="{x:.1f}" y1="{self.bottom}" x2="{x:.1f}" y2="{self.bottom + 5}" stroke="{AXIS}"/>'
            if self.tilts_names:
                yield (
                    f'<text transform="translate({x + 3:.1f} {self.bottom + 16}) rotate(-35)" text-anchor="end" '
                    f'fill="{AXIS}" font-size="11">{escape(_cut(text))}</text>'
                )
            else:
                yield _text(x, self.bottom + 19, text, "middle", AXIS)
        yield (
            f'<line x1="{self.left}" y1="{self.bottom}" x2="{self.right}" y2="{self.bottom}" stroke="{AXIS}"/>'
        )
        yield _text((self.left + self.right) / 2, self.height - 14, self.x_axis.label, "middle", INK)
        middle = (self.top + self.bottom) / 2
        yield (
            f'<text transform="translate(16 {middle:.1f}) rotate(-90)" text-anchor="middle" fill="{INK}">'
            f"{escape(self.y_axis.label)}</text>"
        )


def _names_are_long(axis: Axis, width: float) -> bool:
    """Whether names along the bottom would touch each other."""
    written = [text for _, text in tick_labels(axis)] if axis.names else []
    return bool(written) and max(map(len, written)) * _CHAR_WIDTH + 8 > width / len(written)


def _cut(text: str) -> str:
    return text if len(text) <= 12 else f"{text[:11].rstrip()}…"


def _line(line: Line, place: int, frame: _Frame) -> Iterator[str]:
    if line.low is not None and line.high is not None:
        known = np.isfinite(line.x) & np.isfinite(line.low) & np.isfinite(line.high)
        x = np.concatenate([frame.x(line.x[known]), frame.x(line.x[known])[::-1]])
        y = np.concatenate([frame.y(line.low[known]), frame.y(line.high[known])[::-1]])
        corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        yield f'<polygon points="{corners}" fill="{colour_of(place)}" fill-opacity="0.15"/>'
    yield _path(
        line,
        frame,
        f'stroke="{colour_of(place)}" stroke-width="2" stroke-linejoin="round"{_dash_attribute(place)}',
    )


def _faint(chart: Chart, frame: _Frame) -> Iterator[str]:
    for line in chart.lines:
        if line.faint:
            yield _path(line, frame, f'stroke="{FAINT}" stroke-width="0.8" stroke-opacity="0.5"')


def _path(line: Line, frame: _Frame, stroke: str) -> str:
    path = ""
    for part in line.parts():
        x, y = line.x[part], line.y[part]
        known = np.isfinite(x) & np.isfinite(y)
        xs, ys = frame.x(x[known]), frame.y(y[known])
        if not len(xs):
            continue
        path += f"M{xs[0]:.1f},{ys[0]:.1f}"
        for a, b in zip(xs[1:], ys[1:], strict=True):
            path += f"H{a:.1f}V{b:.1f}" if line.steps else f"L{a:.1f},{b:.1f}"
    return f'<path d="{path}" fill="none" {stroke}><title>{escape(line.label)}</title></path>'


def _points(points: Points, place: int, frame: _Frame) -> Iterator[str]:
    colour = colour_of(place)
    radius = 4.0 if len(points.x) <= 60 else 2.2
    for number, (x, y) in enumerate(zip(frame.x(points.x), frame.y(points.y), strict=True)):
        if not (np.isfinite(x) and np.isfinite(y)):
            continue
        if points.low is not None and points.high is not None:
            low, high = frame.y(points.low[number]), frame.y(points.high[number])
            yield (
                f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="{colour}" '
                'stroke-width="1.2"/>'
            )
        if points.left is not None and points.right is not None:
            ends = frame.x(points.left[number]), frame.x(points.right[number])
            if np.isfinite(ends).all():
                yield (
                    f'<line x1="{ends[0]:.1f}" y1="{y:.1f}" x2="{ends[1]:.1f}" y2="{y:.1f}" stroke="{colour}" '
                    'stroke-width="1.2"/>'
                )
        if points.size is None and not points.outlined:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}" fill-opacity="0.8"/>'
            continue
        large = (1.0 if points.size is None else float(np.sqrt(points.size[number]))) * max(radius, 3.0)
        shape = shape_of(place) if points.outlined else "circle"
        edge = (
            f' stroke="{PAPER}" stroke-width="{min(0.9, 0.25 * large):.2g}"'
            if points.outlined
            else ' fill-opacity="0.8"'
        )
        yield _marker(shape, x, y, large, f'fill="{colour}"{edge}')


def _marker(shape: str, x: float, y: float, radius: float, style: str) -> str:
    """A point in one of the shapes of the palette; all have about the same area."""
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {style}/>'
    if shape == "square":
        side = 1.8 * radius
        return f'<rect x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.1f}" height="{side:.1f}" {style}/>'
    r = radius
    path = {
        "triangle": f"M{x:.1f},{y - 1.3 * r:.1f}l{1.2 * r:.1f},{2.1 * r:.1f}h{-2.4 * r:.1f}z",
        "diamond": f"M{x:.1f},{y - 1.3 * r:.1f}l{1.3 * r:.1f},{1.3 * r:.1f}l{-1.3 * r:.1f},{1.3 * r:.1f}"
        f"l{-1.3 * r:.1f},{-1.3 * r:.1f}z",
        "cross": f"M{x - r:.1f},{y - 0.4 * r:.1f}h{0.6 * r:.1f}v{-0.6 * r:.1f}h{0.8 * r:.1f}v{0.6 * r:.1f}"
        f"h{0.6 * r:.1f}v{0.8 * r:.1f}h{-0.6 * r:.1f}v{0.6 * r:.1f}h{-0.8 * r:.1f}v{-0.6 * r:.1f}h{-0.6 * r:.1f}z",
    }[shape]
    return f'<path d="{path}" {style}/>'


def _regions(regions: Regions, frame: _Frame) -> Iterator[str]:
    """A path for each colour: edges are those of neighbours, so that there are no gaps."""
    n_rows, n_columns = regions.place.shape
    x = np.linspace(frame.left, frame.right, n_columns + 1).round(1).tolist()
    y = np.linspace(frame.bottom, frame.top, n_rows + 1).round(1).tolist()
    paths: dict[tuple[int, float], list[str]] = {}
    for box in regions.boxes():
        path = f"M{x[box.left]:g},{y[box.low]:g}H{x[box.right]:g}V{y[box.high]:g}H{x[box.left]:g}z"
        paths.setdefault((box.place, box.strength), []).append(path)
    yield '<g shape-rendering="crispEdges">'
    for (place, strength), boxes in sorted(paths.items()):
        yield f'<path d="{"".join(boxes)}" fill="{colour_of(place)}" fill-opacity="{strength:g}"/>'
    yield "</g>"


def _bars(bars: Bars, place: int, frame: _Frame) -> Iterator[str]:
    """Horizontal bars with error bars."""
    room = float(frame.y(0.0) - frame.y(1.0)) if len(bars.length) > 1 else 60.0
    thick = min(26.0, 0.66 * room)
    zero = float(frame.x(0.0))
    for number, length in enumerate(bars.length):
        y, end = float(frame.y(float(number))), float(frame.x(float(length)))
        yield (
            f'<rect x="{min(zero, end):.1f}" y="{y - thick / 2:.1f}" width="{abs(end - zero):.1f}" '
            f'height="{thick:.1f}" fill="{colour_of(place)}"/>'
        )
        if bars.spread is not None and bars.spread[number] > 0:
            ends = (float(frame.x(float(length + sign * bars.spread[number]))) for sign in (-1, 1))
            low, high = (min(max(end, frame.left), frame.right) for end in ends)
            yield f'<line x1="{low:.1f}" y1="{y:.1f}" x2="{high:.1f}" y2="{y:.1f}" stroke="{INK}" stroke-width="1.2"/>'


def _shaded(points: ShadedPoints, frame: _Frame) -> Iterator[str]:
    """Small points, and the scale of their colours."""
    radius = 3.0 if len(points.x) <= 400 else 2.0
    for x, y, shade in zip(frame.x(points.x), frame.y(points.y), points.shade.tolist(), strict=True):
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{ramp_of(shade)}" fill-opacity="0.8"/>'
    yield from _colour_scale(ramp(), points.low, points.high, frame)
    x, middle = frame.right + 52, (frame.top + frame.bottom) / 2
    yield (
        f'<text transform="translate({x:.1f} {middle:.1f}) rotate(-90)" text-anchor="middle" fill="{AXIS}">'
        f"{escape(points.label)}</text>"
    )


def _density(density: Density, frame: _Frame) -> Iterator[str]:
    """Where rows are, at the foot of the plot."""
    room = DENSITY_SHARE * (frame.bottom - frame.top)
    sides = zip(frame.x(density.left), frame.x(density.right), room * density.height, strict=True)
    for left, right, height in sides:
        if height > 0:
            yield (
                f'<rect x="{left:.1f}" y="{frame.bottom - height:.1f}" width="{max(1.0, right - left):.1f}" '
                f'height="{height:.1f}" fill="{DENSITY}"/>'
            )


def _heatmap(heatmap: Heatmap, frame: _Frame) -> Iterator[str]:
    n_rows, n_columns = heatmap.values.shape
    width, height = (frame.right - frame.left) / n_columns, (frame.bottom - frame.top) / n_rows
    for (row, column), value in np.ndenumerate(heatmap.values):
        if not np.isfinite(value):
            continue
        x, y = float(frame.x(float(column))) - width / 2, float(frame.y(float(row))) - height / 2
        yield (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width + 0.3:.1f}" height="{height + 0.3:.1f}" '
            f'fill="{shade_of(value, heatmap.low, heatmap.high)}"/>'
        )
        if width >= _LEAST_WRITTEN and height >= 14:
            yield _text(
                x + width / 2,
                y + height / 2 + 4,
                f"{value:.2f}",
                "middle",
                text_colour_on(value, heatmap.low, heatmap.high),
            )
    yield from _scale(heatmap, frame)


def _scale(heatmap: Heatmap, frame: _Frame) -> Iterator[str]:
    """The colours with their numbers, beside the matrix."""
    colours = shades(heatmap.low, heatmap.high)
    yield from _colour_scale(colours, f"{heatmap.low:.3g}", f"{heatmap.high:.3g}", frame)


def _colour_scale(colours: list[str], low: str, high: str, frame: _Frame) -> Iterator[str]:
    x = frame.right + 16
    height = (frame.bottom - frame.top) / len(colours)
    for place, colour in enumerate(colours):
        y = frame.bottom - (place + 1) * height
        yield f'<rect x="{x}" y="{y:.1f}" width="14" height="{height + 0.3:.1f}" fill="{colour}"/>'
    for text, y in ((low, frame.bottom), (high, frame.top + 8)):
        yield _text(x + 20, y, text, "start", AXIS)


def _marks(chart: Chart, frame: _Frame) -> Iterator[str]:
    for mark in chart.marks:
        x = float(frame.x(mark.x))
        yield (
            f'<line x1="{x:.1f}" y1="{frame.top}" x2="{x:.1f}" y2="{frame.bottom}" stroke="{AXIS}" '
            'stroke-dasharray="2 3"/>'
        )
        if mark.label:
            to_left = is_in_second_half(chart, mark)
            yield _text(
                x + (-6 if to_left else 6), frame.top + 12, mark.label, "end" if to_left else "start", AXIS
            )


def _legend_places(chart: Chart, page_width: int) -> tuple[list[tuple[float, float]], float]:
    """Where each label of the legend begins, in as many lines as they need, and where the plot begins below them."""
    places, x, y = [], float(_LEFT), float(_TITLE + 10)
    if not any(item.label for item in legend_items(chart)):
        return [(x, y)] * len(legend_items(chart)), float(_TITLE)
    for item in legend_items(chart):
        width = _SWATCH + len(item.label) * _CHAR_WIDTH + 18
        if x + width > page_width - _RIGHT and x > _LEFT:
            x, y = float(_LEFT), y + _LEGEND_LINE
        places.append((x, y))
        x += width
    return places, y + _GAP


def _legend(chart: Chart, places: list[tuple[float, float]]) -> Iterator[str]:
    for place, (item, (x, y)) in enumerate(zip(legend_items(chart), places, strict=True)):
        colour = colour_of(place)
        if not item.label:
            continue
        if isinstance(item, Line):
            yield (
                f'<line x1="{x:.1f}" y1="{y - 4:.1f}" x2="{x + _SWATCH - 8:.1f}" y2="{y - 4:.1f}" '
                f'stroke="{colour}" stroke-width="2"{_dash_attribute(place)}/>'
            )
        elif isinstance(item, Points):
            shape = shape_of(place) if item.outlined else "circle"
            yield _marker(shape, x + _SWATCH / 2 - 4, y - 4, 4, f'fill="{colour}"')
        else:
            yield f'<rect x="{x + 6:.1f}" y="{y - 10:.1f}" width="16" height="11" fill="{colour}"/>'
        yield _text(x + _SWATCH - 2, y, item.label, "start", INK)


def _dash_attribute(place: int) -> str:
    dashes = dashes_of(place)
    return f' stroke-dasharray="{" ".join(map(str, dashes))}"' if dashes else ""


def _text(x: float, y: float, text: str, anchor: str, ink: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink}">{escape(text)}</text>'
