"""A chart as data: lines, dots, bars or cells between two axes. It knows nothing of how it is drawn."""

import math
from dataclasses import dataclass, field

import numpy as np

from coterie._typing import FloatArray

__all__ = [
    "MOST_LETTERS",
    "Axis",
    "Bars",
    "Cells",
    "Chart",
    "Line",
    "Mark",
    "Points",
    "in_few_letters",
    "is_late",
    "legend_of",
    "named_ticks",
    "share_along",
    "ticks",
]

_MOST_NAMES = 20  # along an axis; more cannot be read
MOST_LETTERS = 22


@dataclass(frozen=True)
class Axis:
    """What is measured along a side, from where to where; where places have names, they are at 0, 1, 2, ..."""

    label: str
    low: float
    high: float
    log: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """Points joined in their order, or the steps of a function that is constant from each point to the next.

    `low` and `high` are the borders of a band around it. A faint line is one of many: thin, and without a legend.
    """

    label: str
    x: FloatArray
    y: FloatArray
    steps: bool = False
    low: FloatArray | None = None
    high: FloatArray | None = None
    faint: bool = False


@dataclass(frozen=True)
class Points:
    """Dots, each perhaps with an upright line from `low` to `high`."""

    label: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None


@dataclass(frozen=True)
class Bars:
    """Lying bars from zero, one for each name along the side; `spread` is shown to both sides of their ends."""

    label: str
    length: FloatArray
    spread: FloatArray | None = None


@dataclass(frozen=True)
class Cells:
    """A matrix of colours: row i of the values lies at i of the axis along the side. NaN is left empty."""

    label: str
    values: FloatArray
    low: float
    high: float


@dataclass(frozen=True)
class Mark:
    """A place on the axis along the bottom that deserves a word, or a line without one."""

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
    cells: Cells | None = None


def legend_of(chart: Chart) -> list[Line | Points | Bars]:
    """What the legend names, in the order of the colours: lines, dots, bars."""
    return [*(line for line in chart.lines if not line.faint), *chart.points, *chart.bars]


def in_few_letters(name: str) -> str:
    """A name that fits beside an axis.

    Examples
    --------
    >>> in_few_letters("age"), in_few_letters("median income of the neighbourhood")
    ('age', 'median income of the …')
    """
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 2].rstrip()} …"


def named_ticks(axis: Axis) -> list[tuple[float, str]]:
    """Where an axis is marked, and what is written there; of very many names, some.

    Examples
    --------
    >>> named_ticks(Axis("town", -0.5, 1.5, names=("Oslo", "Rome")))
    [(0.0, 'Oslo'), (1.0, 'Rome')]
    >>> named_ticks(Axis("share", 0, 1))[1]
    (0.2, '0.2')
    """
    if not axis.names:
        return [(value, f"{value:g}") for value in ticks(axis)]
    step = math.ceil(len(axis.names) / _MOST_NAMES)
    return [(float(place), in_few_letters(axis.names[place])) for place in range(0, len(axis.names), step)]


def share_along(axis: Axis, values: FloatArray | float) -> FloatArray:
    """How far along an axis numbers lie: 0 at its beginning, 1 at its end.

    Examples
    --------
    >>> share_along(Axis("margin", -1, 1), 0.0), share_along(Axis("round", 1, 100, log=True), 10.0)
    (array(0.5), array(0.5))
    """
    if not axis.log:
        return np.asarray((values - axis.low) / (axis.high - axis.low))
    low, high = math.log10(axis.low), math.log10(axis.high)
    return np.asarray((np.log10(np.maximum(values, axis.low)) - low) / (high - low))


def is_late(chart: Chart, mark: Mark) -> bool:
    """Whether a mark lies in the second half, so that there is more room for its word on its left."""
    return bool(share_along(chart.x, mark.x) > 0.5)


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
