"""Frames of a chart whose lines grow, step by step."""

from dataclasses import replace

from coterie.diagnostics.fit_by_step import spread_evenly
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Chart, Line

_MOST_FRAMES = 60


def growing_frames(chart: Chart, n_steps: int, step: str = "round", first: int = 1) -> list[AnimationFrame]:
    """The chart after each step, of many steps for sixty of them; axes stay as they are.

    `first` is the number of the first step. Marks appear when the lines have reached them.
    """
    found = []
    for last in spread_evenly(n_steps, _MOST_FRAMES):
        number = last + first
        own = replace(
            chart,
            lines=tuple(_first_points(line, last + 1) for line in chart.lines),
            marks=tuple(mark for mark in chart.marks if mark.x <= number),
        )
        found.append(AnimationFrame(f"after {number:,} {step}{'' if number == 1 else 's'}", (own,)))
    return found


def _first_points(line: Line, n_points: int) -> Line:
    low, high = (None if own is None else own[:n_points] for own in (line.low, line.high))
    return replace(line, x=line.x[:n_points], y=line.y[:n_points], low=low, high=high)
