"""A chart on the axes of matplotlib, which is imported by whoever has such axes."""

from typing import Any

from coterie.plots.chart import Axis, Chart, Mark, is_late, ticks
from coterie.plots.palette import AXIS, GRID, colour_of, dashes_of

__all__ = ["draw_on"]


def draw_on(ax: Any, chart: Chart) -> None:
    """Draw the lines and name the axes."""
    for place, line in enumerate(chart.lines):
        ax.plot(
            line.x,
            line.y,
            label=line.label,
            color=colour_of(place),
            linewidth=1.8,
            dashes=dashes_of(place) or (1, 0),
            drawstyle="steps-post" if line.steps else "default",
        )
    for mark in chart.marks:
        ax.axvline(mark.x, color=AXIS, linewidth=0.9, linestyle=(0, (2, 3)), zorder=0)
        if mark.label:
            _write(ax, mark, to_left=is_late(chart, mark))
    for name, axis in (("x", chart.x), ("y", chart.y)):
        _set_axis(ax, name, axis)
    ax.set_title(chart.title, loc="left", fontsize="medium", fontweight="bold", pad=28)
    ax.grid(axis="y", color=GRID)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=min(3, len(chart.lines)),
        frameon=False,
        fontsize="small",
        borderaxespad=0.4,
        handlelength=2.6,
    )


def _write(ax: Any, mark: Mark, *, to_left: bool) -> None:
    """A word beside the upper end of a mark."""
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
    if axis.log:  # 100 rather than a power of ten
        own.set_ticks(ticks(axis))
        own.set_ticks([], minor=True)
    own.set_major_formatter("{x:g}")
    ax.set(**{f"{name}lim": (axis.low, axis.high)})
