"""A chart as SVG, written by hand: a small picture that needs no other package and loads nothing."""

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from coterie._typing import FloatArray
from coterie.plots.chart import Axis, Chart, Line, is_late, share_along, ticks
from coterie.plots.palette import AXIS, GRID, INK, PAPER, colour_of, dashes_of

__all__ = ["svg_of"]

_WIDTH, _HEIGHT = 640, 420
_LEFT, _RIGHT, _BOTTOM = 62, 24, 54
_TITLE, _LEGEND_LINE, _GAP = 34, 20, 14
_CHAR_WIDTH, _SWATCH = 6.2, 34
_REACH = (-0.01, 1.01)  # of the axes: what lies far outside is drawn at their ends


def svg_of(chart: Chart) -> str:
    """The whole picture: title, legend, axes, lines."""
    places, top = _legend_places(chart)
    frame = _Frame(chart.x, chart.y, top)
    described = (
        f"{chart.title}. {chart.y.label} by {chart.x.label}: {', '.join(line.label for line in chart.lines)}."
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'role="img" aria-label={quoteattr(described)} font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f"<title>{escape(chart.title)}</title><desc>{escape(described)}</desc>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="{PAPER}"/>',
        f'<text x="{_LEFT}" y="22" font-size="14" font-weight="bold" fill="{INK}">{escape(chart.title)}</text>',
        *_legend(chart, places),
        *frame.axes(),
        *_marks(chart, frame),
        *(_path(line, place, frame) for place, line in enumerate(chart.lines)),
    ]
    return "\n".join([*parts, "</svg>\n"])


class _Frame:
    """Where numbers lie on the sheet."""

    def __init__(self, x: Axis, y: Axis, top: float) -> None:
        self.x_axis, self.y_axis, self.top = x, y, top
        self.right, self.bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def x(self, values: FloatArray | float) -> FloatArray:
        return _LEFT + np.clip(share_along(self.x_axis, values), *_REACH) * (self.right - _LEFT)

    def y(self, values: FloatArray | float) -> FloatArray:
        return self.bottom - np.clip(share_along(self.y_axis, values), *_REACH) * (self.bottom - self.top)

    def axes(self) -> Iterator[str]:
        for value in ticks(self.y_axis):
            y = float(self.y(value))
            yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{self.right}" y2="{y:.1f}" stroke="{GRID}"/>'
            yield _text(_LEFT - 8, y + 4, f"{value:g}", "end", AXIS)
        for value in ticks(self.x_axis):
            x = float(self.x(value))
            yield f'<line x1="{x:.1f}" y1="{self.bottom}" x2="{x:.1f}" y2="{self.bottom + 5}" stroke="{AXIS}"/>'
            yield _text(x, self.bottom + 19, f"{value:g}", "middle", AXIS)
        yield f'<line x1="{_LEFT}" y1="{self.bottom}" x2="{self.right}" y2="{self.bottom}" stroke="{AXIS}"/>'
        yield _text((_LEFT + self.right) / 2, _HEIGHT - 14, self.x_axis.label, "middle", INK)
        middle = (self.top + self.bottom) / 2
        yield (
            f'<text transform="translate(16 {middle:.1f}) rotate(-90)" text-anchor="middle" fill="{INK}">'
            f"{escape(self.y_axis.label)}</text>"
        )


def _path(line: Line, place: int, frame: _Frame) -> str:
    known = np.isfinite(line.x) & np.isfinite(line.y)
    xs, ys = frame.x(line.x[known]), frame.y(line.y[known])
    if line.steps:
        path = f"M{xs[0]:.1f},{ys[0]:.1f}" + "".join(
            f"H{x:.1f}V{y:.1f}" for x, y in zip(xs[1:], ys[1:], strict=True)
        )
    else:
        path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    return (
        f'<path d="{path}" fill="none" stroke="{colour_of(place)}" stroke-width="2" stroke-linejoin="round"'
        f"{_dash_attribute(place)}><title>{escape(line.label)}</title></path>"
    )


def _marks(chart: Chart, frame: _Frame) -> Iterator[str]:
    for mark in chart.marks:
        x = float(frame.x(mark.x))
        yield (
            f'<line x1="{x:.1f}" y1="{frame.top}" x2="{x:.1f}" y2="{frame.bottom}" stroke="{AXIS}" '
            'stroke-dasharray="2 3"/>'
        )
        if mark.label:
            to_left = is_late(chart, mark)
            yield _text(
                x + (-6 if to_left else 6), frame.top + 12, mark.label, "end" if to_left else "start", AXIS
            )


def _legend_places(chart: Chart) -> tuple[list[tuple[float, float]], float]:
    """Where each label of the legend begins, in as many lines as they need, and where the plot begins below them."""
    places, x, y = [], float(_LEFT), float(_TITLE + 10)
    for line in chart.lines:
        width = _SWATCH + len(line.label) * _CHAR_WIDTH + 18
        if x + width > _WIDTH - _RIGHT and x > _LEFT:
            x, y = float(_LEFT), y + _LEGEND_LINE
        places.append((x, y))
        x += width
    return places, y + _GAP


def _legend(chart: Chart, places: list[tuple[float, float]]) -> Iterator[str]:
    for place, (line, (x, y)) in enumerate(zip(chart.lines, places, strict=True)):
        yield (
            f'<line x1="{x:.1f}" y1="{y - 4:.1f}" x2="{x + _SWATCH - 8:.1f}" y2="{y - 4:.1f}" '
            f'stroke="{colour_of(place)}" stroke-width="2"{_dash_attribute(place)}/>'
        )
        yield _text(x + _SWATCH - 2, y, line.label, "start", INK)


def _dash_attribute(place: int) -> str:
    dashes = dashes_of(place)
    return f' stroke-dasharray="{" ".join(map(str, dashes))}"' if dashes else ""


def _text(x: float, y: float, text: str, anchor: str, ink: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink}">{escape(text)}</text>'
