"""A chart on the axes of matplotlib, which is imported by whoever has such axes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._optional import need
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
    columns_of_panels,
    is_in_second_half,
    legend_items,
    tick_labels,
    ticks,
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
    ramp_of,
    shade_of,
    shades,
    shape_of,
    text_colour_on,
)

_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "P"}
_GRID_STRENGTH = 0.2  # on light and on dark paper
_LEGEND_SIZE = 26
_MOST_WRITTEN = 12  # heatmap along a side that have room for their numbers


def draw_panels(charts: Sequence[Chart]) -> Any:
    """A figure apart from pyplot, so that none is left open, with a chart or several beside each other."""
    figures = need("matplotlib.figure", purpose="Drawing a plot as pixels", extra="plot")
    figure = figures.Figure(figsize=figure_size(len(charts)), layout="constrained")
    for ax, chart in zip(axes_of(figure, len(charts)), charts, strict=True):
        draw_on(ax, chart)
    return figure


def figure_size(n_panels: int) -> tuple[float, float]:
    """Width and height in inches."""
    if n_panels == 1:
        return 6.4, 4.2
    n_columns = columns_of_panels(n_panels)
    return 4.0 * n_columns, 3.5 * -(-n_panels // n_columns)


def axes_of(figure: Any, n_panels: int) -> list[Any]:
    """As many axes, in rows."""
    n_columns = columns_of_panels(n_panels)
    axes: list[Any] = figure.subplots(-(-n_panels // n_columns), n_columns, squeeze=False).ravel().tolist()
    for ax in axes[n_panels:]:
        ax.remove()
    return axes[:n_panels]


def draw_on(ax: Any, chart: Chart) -> None:
    """Draw what the chart holds and name the axes."""
    if chart.regions is not None:
        _regions(ax, chart)
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
    if chart.heatmap is None and chart.regions is None:
        ax.grid(axis="x" if chart.bars or chart.shaded else "y", color=AXIS, alpha=_GRID_STRENGTH)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if named:
        legend = ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=n_columns,
            frameon=False,
            fontsize="small",
            borderaxespad=0.4,
            handlelength=2.6,
        )
        for handle in legend.legend_handles:
            if hasattr(handle, "set_sizes"):  # of points, the first of which may be large
                handle.set_sizes([_LEGEND_SIZE])


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
    usual = 26 if len(points.x) <= 60 else 9
    size: Any = usual
    style: dict[str, Any] = {"alpha": 0.8, "linewidths": 0}
    if points.outlined:
        usual = max(usual, 16)
        style = {"edgecolors": PAPER, "linewidths": 0.6, "marker": _MARKERS[shape_of(place)]}
        size = usual
    if points.size is not None:
        size = max(usual, 16) * points.size
    ax.scatter(points.x, points.y, s=size, color=colour_of(place), label=points.label, zorder=2.2, **style)
    if points.low is not None and points.high is not None:
        ax.vlines(points.x, points.low, points.high, color=colour_of(place), linewidth=1.2)
    if points.left is not None and points.right is not None:
        ax.hlines(points.y, points.left, points.right, color=colour_of(place), linewidth=1.2)


def _regions(ax: Any, chart: Chart) -> None:
    """The ground as an image, transparent where there is little of a colour."""
    regions = chart.regions
    assert regions is not None
    image = np.zeros((*regions.place.shape, 4))
    for place in np.unique(regions.place[regions.place >= 0]).tolist():
        colour = colour_of(place)
        image[regions.place == place, :3] = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    image[..., 3] = np.where(regions.place >= 0, regions.strength, 0.0)
    extent = (chart.x.low, chart.x.high, chart.y.low, chart.y.high)
    ax.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0)


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
