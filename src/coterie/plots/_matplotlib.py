"""A chart on the axes of matplotlib, which is imported by whoever has such axes."""

from typing import Any

import numpy as np

from coterie.plots.chart import (
    DENSITY_SHARE,
    Axis,
    Bars,
    Chart,
    Density,
    Heatmap,
    Line,
    Mark,
    Points,
    ShadedPoints,
    is_in_second_half,
    legend_items,
    tick_labels,
    ticks,
)
from coterie.plots.palette import (
    AXIS,
    DENSITY,
    FAINT,
    GRID,
    INK,
    colour_of,
    dashes_of,
    ramp,
    ramp_of,
    shade_of,
    shades,
    text_colour_on,
)

_MOST_WRITTEN = 12  # heatmap along a side that have room for their numbers


def draw_on(ax: Any, chart: Chart) -> None:
    """Draw what the chart holds and name the axes."""
    for place, item in enumerate(legend_items(chart)):
        draw: Any = {Line: _line, Points: _points, Bars: _bars}[type(item)]
        draw(ax, item, place)
    for line in chart.lines:
        if line.faint:
            ax.plot(*_interrupted(line), color=FAINT, linewidth=0.7, alpha=0.5, zorder=1, label="_nolegend_")
    if chart.heatmap is not None:
        _heatmap(ax, chart.heatmap)
    if chart.shaded is not None:
        _shaded(ax, chart.shaded)
    if chart.density is not None:
        _density(ax, chart.density)
    for mark in chart.marks:
        ax.axvline(mark.x, color=AXIS, linewidth=0.9, linestyle=(0, (2, 3)), zorder=0)
        if mark.label:
            _label_mark(ax, mark, to_left=is_in_second_half(chart, mark))
    for name, axis in (("x", chart.x), ("y", chart.y)):
        _set_axis(ax, name, axis)
    named = [item for item in legend_items(chart) if item.label]
    n_columns = min(4 if sum(len(item.label) for item in named) <= 40 else 3, max(1, len(named)))
    n_lines = -(-len(named) // n_columns)
    ax.set_title(chart.title, loc="left", fontsize="medium", fontweight="bold", pad=12 + 16 * n_lines)
    if chart.heatmap is None:
        ax.grid(axis="x" if chart.bars or chart.shaded else "y", color=GRID)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if named:
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=n_columns,
            frameon=False,
            fontsize="small",
            borderaxespad=0.4,
            handlelength=2.6,
        )


def _line(ax: Any, line: Line, place: int) -> None:
    ax.plot(
        *_interrupted(line),
        label=line.label,
        color=colour_of(place),
        linewidth=1.8,
        dashes=dashes_of(place) or (1, 0),
        drawstyle="steps-post" if line.steps else "default",
    )
    if line.low is not None and line.high is not None:
        ax.fill_between(line.x, line.low, line.high, color=colour_of(place), alpha=0.15, linewidth=0)


def _interrupted(line: Line) -> tuple[Any, Any]:
    """The coordinates of a line, with NaN where it is interrupted."""
    places = np.array(line.breaks, dtype=np.intp) + 1
    return np.insert(line.x.astype(np.float64), places, np.nan), np.insert(
        line.y.astype(np.float64), places, np.nan
    )


def _points(ax: Any, points: Points, place: int) -> None:
    size = 26 if len(points.x) <= 60 else 9
    ax.scatter(
        points.x, points.y, s=size, color=colour_of(place), alpha=0.8, label=points.label, linewidths=0
    )
    if points.low is not None and points.high is not None:
        ax.vlines(points.x, points.low, points.high, color=colour_of(place), linewidth=1.2)


def _bars(ax: Any, bars: Bars, place: int) -> None:
    ax.barh(
        np.arange(len(bars.length)),
        bars.length,
        height=0.66,
        color=colour_of(place),
        xerr=bars.spread,
        error_kw={"ecolor": INK, "elinewidth": 1.2},
        label=bars.label or "_nolegend_",
    )


def _shaded(ax: Any, points: ShadedPoints) -> None:
    """Small points, and the scale of their colours."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    colours = [ramp_of(shade) for shade in points.shade.tolist()]
    size = 12 if len(points.x) <= 400 else 6
    ax.scatter(points.x, points.y, s=size, c=colours, alpha=0.8, linewidths=0)
    scale = ScalarMappable(Normalize(0, 1), ListedColormap(ramp()))
    bar = ax.figure.colorbar(scale, ax=ax, shrink=0.8, ticks=[0, 1], label=points.label)
    bar.ax.set_yticklabels([points.low, points.high])


def _density(ax: Any, density: Density) -> None:
    """Where rows are, at the foot of the plot."""
    ax.bar(
        density.left,
        DENSITY_SHARE * density.height,
        width=density.right - density.left,
        align="edge",
        color=DENSITY,
        transform=ax.get_xaxis_transform(),
        zorder=0,
        label="_nolegend_",
    )


def _heatmap(ax: Any, heatmap: Heatmap) -> None:
    """Rectangles with their numbers where there is room, and a colour bar."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.patches import Rectangle

    for (row, column), value in np.ndenumerate(heatmap.values):
        if np.isfinite(value):
            ax.add_patch(
                Rectangle((column - 0.5, row - 0.5), 1, 1, color=shade_of(value, heatmap.low, heatmap.high))
            )
            if max(heatmap.values.shape) <= _MOST_WRITTEN:
                ink = text_colour_on(value, heatmap.low, heatmap.high)
                ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=ink, fontsize="x-small")
    colours = ScalarMappable(
        Normalize(heatmap.low, heatmap.high), ListedColormap(shades(heatmap.low, heatmap.high))
    )
    ax.figure.colorbar(colours, ax=ax, shrink=0.8, label=heatmap.label)


def _label_mark(ax: Any, mark: Mark, *, to_left: bool) -> None:
    """The label beside the upper end of a mark."""
    ax.annotate(
        mark.label,
        xy=(mark.x, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-5 if to_left else 5, -3),
        textcoords="offset points",
        ha="right" if to_left else "left",
        va="top",
        color=AXIS,
        fontsize="small",
    )


def _set_axis(ax: Any, name: str, axis: Axis) -> None:
    ax.set(**{f"{name}scale": "log" if axis.log else "linear", f"{name}label": axis.label})
    own = ax.xaxis if name == "x" else ax.yaxis
    if axis.has_texts:
        places, texts = zip(*tick_labels(axis), strict=True)
        own.set_ticks(places, labels=texts)
        if name == "x" and sum(map(len, texts)) > 50:
            for text in own.get_ticklabels():
                text.set(rotation=35, ha="right", rotation_mode="anchor")
    else:
        if axis.log:  # 100 rather than a power of ten
            own.set_ticks(ticks(axis))
            own.set_ticks([], minor=True)
        own.set_major_formatter("{x:g}")
    ax.set(**{f"{name}lim": (axis.low, axis.high)})
