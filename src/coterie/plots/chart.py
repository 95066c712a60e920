"""A chart as data: lines, points, bars or a heatmap between two axes. It does not know how it is drawn."""

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from coterie._typing import FloatArray, RowArray

DENSITY_SHARE = 0.13  # of the height of a plot, for the rows at its foot
_MOST_NAMES = 20  # along an axis; more cannot be read
MAX_LABEL_LENGTH = 22


@dataclass(frozen=True)
class Axis:
    """The label and the limits of an axis; the names of categories are at 0, 1, 2, ..., dates are days since 1970."""

    label: str
    low: float
    high: float
    log: bool = False
    names: tuple[str, ...] = ()
    dates: bool = False

    @property
    def has_texts(self) -> bool:
        """Whether the labels of the ticks are something else than their numbers."""
        return bool(self.names) or self.dates


@dataclass(frozen=True)
class Line:
    """Points joined in their order, or the steps of a function that is constant from each point to the next.

    `low` and `high` are the limits of a band around it. A faint line is thin and not in the legend. After the points
    at the places `breaks` the line is interrupted.
    """

    label: str
    x: FloatArray
    y: FloatArray
    steps: bool = False
    low: FloatArray | None = None
    high: FloatArray | None = None
    faint: bool = False
    breaks: tuple[int, ...] = ()

    def parts(self) -> list[slice]:
        """The points that are joined, in as many parts as the line has."""
        ends = [0, *(place + 1 for place in self.breaks), len(self.x)]
        return [slice(first, last) for first, last in pairwise(ends) if last > first]


@dataclass(frozen=True)
class Points:
    """A scatter plot, perhaps with vertical error bars from `low` to `high`, or horizontal ones from `left` to `right`.

    `size` is the area of each point, 1 for the usual one. Points that are `outlined` stand out on coloured ground:
    they have an edge, and a shape of their own by their place in the legend.
    """

    label: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    left: FloatArray | None = None
    right: FloatArray | None = None
    size: FloatArray | None = None
    outlined: bool = False


@dataclass(frozen=True)
class ShadedPoints:
    """Many small points in colours from one end of a scale to the other.

    `shade` is a share from 0 to 1, NaN for a point without a colour; `low` and `high` are the names of both ends.
    """

    label: str
    x: FloatArray
    y: FloatArray
    shade: FloatArray
    low: str = "low"
    high: str = "high"


@dataclass(frozen=True)
class Density:
    """How many rows lie where along the x axis: bars at its foot, from `left` to `right`, the highest with height 1."""

    left: FloatArray
    right: FloatArray
    height: FloatArray


@dataclass(frozen=True)
class Bars:
    """Horizontal bars, one for each name of the y axis; `spread` is the half-length of their error bars."""

    label: str
    length: FloatArray
    spread: FloatArray | None = None


@dataclass(frozen=True)
class Heatmap:
    """A matrix of colours: row i of the values lies at i of the y axis. NaN is left empty."""

    label: str
    values: FloatArray
    low: float
    high: float


@dataclass(frozen=True)
class Regions:
    """The ground of a plot in the colours of classes, cell by cell; the first row of cells is at the low end of y.

    `place` is the colour of each cell, by its place in the legend, and `strength` how much of it there is, from 0 to 1.
    The cells fill the plot; -1 is no colour.
    """

    place: RowArray
    strength: FloatArray

    def boxes(self) -> list["Box"]:
        """The cells as rectangles of one colour each; strengths are rounded to twentieths.

        Examples
        --------
        >>> for box in Regions(np.array([[0, 0, 1], [0, 0, 1]]), np.full((2, 3), 0.51)).boxes():
        ...     box
        Box(left=0, right=2, low=0, high=2, place=0, strength=0.5)
        Box(left=2, right=3, low=0, high=2, place=1, strength=0.5)
        """
        found: list[Box] = []
        open_boxes: dict[
            tuple[int, int, int, int], int
        ] = {}  # those that reach up to this row, and since when
        level = np.rint(20 * self.strength).astype(np.int64)
        n_rows = len(self.place)
        for row in range(n_rows + 1):
            here = _runs(self.place[row], level[row]) if row < n_rows else set()
            for run in [run for run in open_boxes if run not in here]:
                left, right, place, own = run
                found.append(Box(left, right, open_boxes.pop(run), row, place, own / 20))
            for run in here:
                open_boxes.setdefault(run, row)
        return sorted(found)


def _runs(places: RowArray, levels: RowArray) -> set[tuple[int, int, int, int]]:
    """Neighbours of one colour: the first, the one after the last, the place and the level of each run."""
    changes = np.flatnonzero((np.diff(places) != 0) | (np.diff(levels) != 0)) + 1
    return {
        (first, last, int(places[first]), int(levels[first]))
        for first, last in pairwise([0, *changes.tolist(), len(places)])
        if places[first] >= 0
    }


class Box(NamedTuple):
    """A rectangle of cells: columns from `left` to before `right`, rows from `low` to before `high`."""

    left: int
    right: int
    low: int
    high: int
    place: int
    strength: float


@dataclass(frozen=True)
class Mark:
    """A vertical line at a value of the x axis, perhaps with a label."""

    x: float
    label: str = ""


@dataclass(frozen=True)
class Chart:
    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...] = field(default=())
    marks: tuple[Mark, ...] = field(default=())
    points: tuple[Points, ...] = field(default=())
    bars: tuple[Bars, ...] = field(default=())
    heatmap: Heatmap | None = None
    shaded: ShadedPoints | None = None
    density: Density | None = None
    regions: Regions | None = None


def legend_items(chart: Chart) -> list[Line | Points | Bars]:
    """The items of the legend, in the order of the colours: lines, points, bars."""
    return [*(line for line in chart.lines if not line.faint), *chart.points, *chart.bars]


def columns_of_panels(n_panels: int) -> int:
    """How many plots are beside each other.

    Examples
    --------
    >>> [columns_of_panels(n) for n in (1, 2, 3, 4, 6)]
    [1, 2, 3, 2, 3]
    """
    return n_panels if n_panels < 4 else 2 if n_panels == 4 else 3


def shortened(name: str) -> str:
    """A name that fits beside an axis.

    Examples
    --------
    >>> shortened("age"), shortened("median income of the neighbourhood")
    ('age', 'median income of the …')
    """
    return name if len(name) <= MAX_LABEL_LENGTH else f"{name[: MAX_LABEL_LENGTH - 2].rstrip()} …"


def tick_labels(axis: Axis) -> list[tuple[float, str]]:
    """The ticks of an axis and their labels; of very many names, some.

    Examples
    --------
    >>> tick_labels(Axis("town", -0.5, 1.5, names=("Oslo", "Rome")))
    [(0.0, 'Oslo'), (1.0, 'Rome')]
    >>> tick_labels(Axis("share", 0, 1))[1]
    (0.2, '0.2')
    >>> tick_labels(Axis("sold", 0, 50, dates=True))[1]
    (10.0, '1970-01-11')
    """
    if axis.dates:
        return date_ticks(axis.low, axis.high)
    if not axis.names:
        return [(value, f"{value:g}") for value in ticks(axis)]
    step = math.ceil(len(axis.names) / _MOST_NAMES)
    return [(float(place), shortened(axis.names[place])) for place in range(0, len(axis.names), step)]


_MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)


def date_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Days since 1970-01-01 at which days, months or years begin, about five of them, and their dates.

    Examples
    --------
    >>> date_ticks(18000.0, 18200.0)
    [(18017.0, '2019-05'), (18078.0, '2019-07'), (18140.0, '2019-09')]
    """
    if high - low < 62 or abs(low) > 1e6 or abs(high) > 1e6:
        whole = [value for value in ticks(Axis("", low, high)) if value == int(value)]
        return [(value, str(np.datetime64(int(value), "D"))) for value in whole]
    step = next((own for own in _MONTH_STEPS if (high - low) / (30.4 * own) <= 6), _MONTH_STEPS[-1])
    first = np.datetime64(math.ceil(low), "D").astype("M8[M]").astype(np.int64)
    months = np.arange(first - (first + 12 * 1970) % step, first + (high - low) / 28 + step, step).astype(
        "M8[M]"
    )
    days = months.astype("M8[D]").astype(np.float64)
    unit = "Y" if step % 12 == 0 else "M"
    inside = [(day, month) for day, month in zip(days.tolist(), months, strict=True) if low <= day <= high]
    return [(day, str(month.astype(f"M8[{unit}]"))) for day, month in inside]


def axis_fraction(axis: Axis, values: FloatArray | float) -> FloatArray:
    """The positions of values along an axis: 0 at its low end, 1 at its high end.

    Examples
    --------
    >>> axis_fraction(Axis("margin", -1, 1), 0.0), axis_fraction(Axis("round", 1, 100, log=True), 10.0)
    (array(0.5), array(0.5))
    """
    if not axis.log:
        return np.asarray((values - axis.low) / (axis.high - axis.low))
    low, high = math.log10(axis.low), math.log10(axis.high)
    return np.asarray((np.log10(np.maximum(values, axis.low)) - low) / (high - low))


def is_in_second_half(chart: Chart, mark: Mark) -> bool:
    """Whether a mark lies in the second half, so that there is more room for its label on its left."""
    return bool(axis_fraction(chart.x, mark.x) > 0.5)


def ticks(axis: Axis) -> list[float]:
    """Round numbers along an axis, about five of them.

    Examples
    --------
    >>> ticks(Axis("share", 0, 1))
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(Axis("round", 1, 400, log=True))
    [1.0, 10.0, 100.0]
    >>> ticks(Axis("round", 1, 8, log=True))
    [1.0, 2.0, 5.0]
    """
    if axis.log:
        powers = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
        tens = [10.0**power for power in powers if axis.low <= 10.0**power <= axis.high]
        if len(tens) > 2:
            return tens
        every = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        return [value for value in every if axis.low <= value <= axis.high]
    rough = (axis.high - axis.low) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = unit * min((1, 2, 5, 10), key=lambda times: abs(times * unit - rough))
    first, last = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
    return [float(np.round(number * step, 12)) for number in range(first, last + 1)]
