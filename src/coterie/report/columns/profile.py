"""What the columns of a table hold, in a few numbers: so that later rows can be compared with those of the fit.

Of numbers: how many lie between some of their quantiles. Of labels: how many rows have each of the most frequent ones.
Both: how many are missing. A model file of the command line keeps this among its notes, as text; a column takes about
200 bytes there, and of more than 300 columns the first are kept.
"""

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.table import Column, Table
from coterie.errors import InvalidInput
from coterie.report.columns.values import missing_rows
from coterie.report.forms.number_format import format_number

_MOST_ROWS = 20_000
_N_CELLS = 10
_MOST_LEVELS = 15
_MOST_COLUMNS = 300
_MOST_LETTERS = 80
_FORMAT = 1


@dataclass(frozen=True)
class ColumnProfile:
    """How the rows of one column are spread over cells.

    Attributes
    ----------
    name : str
    cuts : ascending numbers between cells: a number belongs to the cell after the last cut that is not above it
    levels : labels, each a cell; None for numbers. All other labels are one more cell
    counts : rows in each cell; the last is that of missing values
    """

    name: str
    cuts: tuple[float, ...]
    levels: tuple[str, ...] | None
    counts: tuple[int, ...]

    def counts_of(self, column: Column) -> AnyArray | None:
        """Rows of another table in the same cells; None if the column is of another kind there."""
        missing = missing_rows(column)
        n_cells = len(self.counts)
        if (column.levels is None) != (self.levels is None):
            return None
        if self.levels is None:
            cells = np.searchsorted(np.array(self.cuts), column.values, side="right")
        else:
            assert column.levels is not None
            at = {level: place for place, level in enumerate(self.levels)}
            of_level = [at.get(_label(level), len(self.levels)) for level in column.levels.tolist()]
            cells = np.array([*of_level, n_cells - 1])[column.values]
        return np.bincount(np.where(missing, n_cells - 1, cells), minlength=n_cells)

    def cell_names(self) -> list[str]:
        """Each cell in words, without the name of the column."""
        if self.levels is not None:
            return [*(f"“{level}”" for level in self.levels), "another label", "missing"]
        if not self.cuts:
            return ["known", "missing"]
        ends = [format_number(cut) for cut in self.cuts]
        between = [f"{low} to {high}" for low, high in pairwise(ends)]
        return [f"below {ends[0]}", *between, f"{ends[-1]} and above", "missing"]


@dataclass(frozen=True)
class TableProfile:
    """The profiles of the columns of a table.

    Attributes
    ----------
    n_rows : int, rows that were counted
    columns : tuple of ColumnProfile, of 300 columns at most

    Examples
    --------
    >>> ages = Table(4, None, columns=(Column("age", "numeric", np.array([31.0, 45.0, 45.0, np.nan])),))
    >>> held = profile_of(ages)
    >>> held.columns[0].cell_names(), held.columns[0].counts
    (['below 38', '38 and above', 'missing'], (1, 2, 1))
    >>> TableProfile.of_json(held.to_json()) == held
    True
    """

    n_rows: int
    columns: tuple[ColumnProfile, ...]

    def to_json(self) -> str:
        held = [
            [own.name, list(own.cuts), None if own.levels is None else list(own.levels), list(own.counts)]
            for own in self.columns
        ]
        return json.dumps(
            {"format": _FORMAT, "n_rows": self.n_rows, "columns": held},
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def of_json(cls, text: str) -> "TableProfile | None":
        """None for a text that is of a later format, or damaged."""
        try:
            held = json.loads(text)
            if held["format"] != _FORMAT:
                return None
            return cls(int(held["n_rows"]), tuple(_column_of(own) for own in held["columns"]))
        except (ValueError, KeyError, TypeError):
            return None


def _column_of(held: Any) -> ColumnProfile:
    name, cuts, levels, counts = held
    own = ColumnProfile(
        str(name),
        tuple(float(cut) for cut in cuts),
        None if levels is None else tuple(str(level) for level in levels),
        tuple(int(count) for count in counts),
    )
    n_cells = len(own.cuts) + 2 if own.levels is None else len(own.levels) + 2
    if len(own.counts) != n_cells or any(count < 0 for count in own.counts):
        raise ValueError("the counts do not fit the cells")
    return own


def profile_of(table: Table) -> TableProfile:
    """The profile of a table; of many rows, of some that are evenly spaced.

    Parameters
    ----------
    table : Table, what `coterie.data` reads any table as

    Examples
    --------
    >>> ages = Table(3, None, columns=(Column("age", "numeric", np.array([31.0, 45.0, np.nan])),))
    >>> profile_of(ages).columns[0].counts
    (1, 1, 1)
    """
    if table.n_rows == 0:
        raise InvalidInput("A table without rows has no profile.", parameter="reference")
    rows = np.arange(table.n_rows)
    if table.n_rows > _MOST_ROWS:
        rows = np.linspace(0, table.n_rows - 1, _MOST_ROWS).round().astype(np.int64)
    columns = []
    for place in range(min(table.n_columns, _MOST_COLUMNS)):
        column = table.column(place)
        own = Column(table.label(place), column.kind, column.values[rows], column.levels)
        columns.append(_of_numbers(own) if own.levels is None else _of_labels(own))
    return TableProfile(len(rows), tuple(columns))


def _of_numbers(column: Column) -> ColumnProfile:
    values = np.asarray(column.values, dtype=np.float64)
    cuts = _cuts(values[np.isfinite(values)])
    empty = ColumnProfile(column.name, tuple(cuts), None, (0,) * (len(cuts) + 2))
    return _counted(empty, column)


def _cuts(values: FloatArray) -> list[float]:
    """Quantiles, or the middles between few distinct values; six digits are enough."""
    distinct = np.unique(values)
    if len(distinct) < 2:
        return []
    if len(distinct) <= _N_CELLS:
        between = (distinct[1:] + distinct[:-1]) / 2
    else:
        between = np.quantile(values, np.arange(1, _N_CELLS) / _N_CELLS)
    return sorted({float(f"{cut:.6g}") for cut in between.tolist()})


def _of_labels(column: Column) -> ColumnProfile:
    assert column.levels is not None
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    order = [place for place in np.argsort(-counts, kind="stable")[:_MOST_LEVELS].tolist() if counts[place]]
    levels = tuple(dict.fromkeys(_label(column.levels[place]) for place in order))
    return _counted(ColumnProfile(column.name, (), levels, (0,) * (len(levels) + 2)), column)


def _label(level: Any) -> str:
    return str(level)[:_MOST_LETTERS]


def _counted(empty: ColumnProfile, column: Column) -> ColumnProfile:
    counts = empty.counts_of(column)
    assert counts is not None
    return ColumnProfile(empty.name, empty.cuts, empty.levels, tuple(counts.tolist()))
