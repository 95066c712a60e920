"""What a report is made of: sections, and the few kinds of blocks in them. Nothing here knows how it is shown."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from coterie._typing import RowArray
from coterie.plots.chart import Chart
from coterie.report.figures_in_words import Cell, column_in_words

__all__ = [
    "Block",
    "Cell",
    "Code",
    "Drawings",
    "Fact",
    "Facts",
    "Figure",
    "Matrix",
    "Section",
    "Sheet",
    "Thresholds",
    "Words",
]


@dataclass(frozen=True)
class Words:
    """A paragraph; one that warns stands out."""

    text: str
    tone: Literal["plain", "note", "warning"] = "plain"


@dataclass(frozen=True)
class Fact:
    """A label, its value in words, and perhaps what that means."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """Facts side by side; `large` ones are what a reader should see first."""

    facts: tuple[Fact, ...]
    large: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table.

    Attributes
    ----------
    columns : names
    rows : one cell for each column
    caption : a sentence
    left_out : how many rows are not shown
    interval : places of the columns with a value and the ends of its interval, which are also drawn
    folded : whether it is shown only to those who ask for it
    by_row : whether the numbers of a row are of one kind, and not those of a column
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    left_out: int = 0
    interval: tuple[int, int, int] | None = None
    folded: bool = False
    by_row: bool = False

    def in_words(self) -> list[list[str]]:
        """What the cells say, row by row."""
        if self.by_row:
            return [column_in_words(row) for row in self.rows]
        columns = [column_in_words(cells) for cells in zip(*self.rows, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Figure:
    """A chart and a sentence that says how to read it."""

    chart: Chart
    caption: str = ""


@dataclass(frozen=True)
class Matrix:
    """A confusion matrix: in row i and column j, how many rows of class i were said to be j."""

    labels: tuple[str, ...]
    counts: RowArray
    caption: str = ""


@dataclass(frozen=True)
class Thresholds:
    """What happens if rows are called `label` from each of these probabilities on: counts, by threshold."""

    label: str
    thresholds: tuple[float, ...]
    hits: tuple[int, ...]
    false_alarms: tuple[int, ...]
    misses: tuple[int, ...]
    rejections: tuple[int, ...]


@dataclass(frozen=True)
class Drawings:
    """Pictures to leaf through, each an SVG with a title."""

    titles: tuple[str, ...]
    pictures: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Lines of a program."""

    text: str


Block: TypeAlias = Words | Facts | Sheet | Figure | Matrix | Thresholds | Drawings | Code


@dataclass(frozen=True)
class Section:
    """A part of the report, or the reason why it is not there.

    Attributes
    ----------
    key : a short name that stays the same
    title : what it is about
    blocks : what it shows
    why_not : why there is nothing to show; "" if there is
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    why_not: str = ""
