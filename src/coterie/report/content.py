"""The sections of a report and the kinds of blocks in them, as data: nothing here knows how they are shown."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from coterie._typing import RowArray
from coterie.plots.chart import Chart
from coterie.report.forms.number_format import Cell as Cell
from coterie.report.forms.number_format import format_column


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text; a note or a warning stands out."""

    text: str
    tone: Literal["plain", "note", "warning"] = "plain"


@dataclass(frozen=True)
class Fact:
    """A label, its value as text, and perhaps a note about it."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """Facts side by side; `large` ones are what a reader should see first."""

    facts: tuple[Fact, ...]
    large: bool = False


@dataclass(frozen=True)
class TableBlock:
    """A table.

    Attributes
    ----------
    columns : names
    rows : one cell for each column
    caption : a sentence
    n_left_out : how many rows are not shown
    interval : positions of the columns with a value and the ends of its interval, which is also drawn
    folded : whether it is collapsed until the reader opens it
    by_row : whether numbers are formatted alike within a row, rather than within a column
    is_wide : whether it has so many columns that it uses the whole width of the page
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    n_left_out: int = 0
    interval: tuple[int, int, int] | None = None
    folded: bool = False
    by_row: bool = False
    is_wide: bool = False

    def formatted(self) -> list[list[str]]:
        """The cells as text, row by row."""
        if self.by_row:
            return [format_column(row) for row in self.rows]
        columns = [format_column(cells) for cells in zip(*self.rows, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Figure:
    """A chart and a sentence that says how to read it; without a legend if the sentence says enough."""

    chart: Chart
    caption: str = ""
    legend: bool = True


@dataclass(frozen=True)
class ConfusionMatrix:
    """A confusion matrix: in row i and column j, how many rows of class i were predicted as j."""

    labels: tuple[str, ...]
    counts: RowArray
    caption: str = ""


@dataclass(frozen=True)
class ThresholdCounts:
    """The confusion matrix at each decision threshold of the probability of the positive class.

    `command` is what decides by a threshold from now on; "{threshold}" in it stands for the number.
    """

    positive_class: str
    thresholds: tuple[float, ...]
    true_positives: tuple[int, ...]
    false_positives: tuple[int, ...]
    false_negatives: tuple[int, ...]
    true_negatives: tuple[int, ...]
    command: str = ""


@dataclass(frozen=True)
class Drawings:
    """Drawings shown one at a time, each an SVG with a title."""

    titles: tuple[str, ...]
    svgs: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Source code."""

    text: str
    language: Literal["python", "shell"] = "python"


Block: TypeAlias = (
    Paragraph | Facts | TableBlock | Figure | ConfusionMatrix | ThresholdCounts | Drawings | Code
)


@dataclass(frozen=True)
class Section:
    """A part of the report, or the reason why it is left out.

    Attributes
    ----------
    key : a short name that stays the same
    title : what it is about
    blocks : what it shows
    reason : why the section is left out; "" if it is shown
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    reason: str = ""
