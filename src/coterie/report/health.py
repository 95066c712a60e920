"""What may be wrong with the data: missing values, constants, ids, copies, columns that tell too much, news."""

import hashlib
from dataclasses import dataclass

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.column import Column
from coterie.data.table import Table
from coterie.report.association import association
from coterie.report.content import Block, Cell, Fact, Facts, Section, Sheet, Words
from coterie.report.drift import news_of
from coterie.report.figures_in_words import percent, plural
from coterie.report.subject import Subject

__all__ = ["health"]

_MOST_ROWS = 50_000
_MOST_VALUES = 20_000_000
_MOST_LISTED = 50
_LEAK = 0.98  # share of the target's variance that one column alone explains
_MANY_MISSING = 0.5


@dataclass(frozen=True)
class _Health:
    """Of one column."""

    name: str
    kind: str
    missing: float
    distinct: int
    told: float
    remarks: tuple[str, ...]


def health(subject: Subject) -> Section:
    table, rows = subject.whole, _rows(subject.whole)
    truth = subject.whole_truth[rows]
    news = news_of(subject)
    columns = []
    twins, n_copies = _repeats(table, rows)
    for place in range(table.n_columns):
        own = _health(table, place, rows, _targets(truth, subject.classes))
        more = (*([f"same as {twins[place]}"] if place in twins else []), *news.get(place, ()))
        columns.append(
            _Health(own.name, own.kind, own.missing, own.distinct, own.told, (*own.remarks, *more))
        )
    flagged = [own for own in columns if own.remarks]
    blocks: list[Block] = [_facts(columns, n_copies, len(rows), len(flagged))]
    if len(rows) < table.n_rows:
        blocks.append(Words(f"Looked at {len(rows):,} of {table.n_rows:,} rows, evenly spaced.", "note"))
    leaks = [own.name for own in columns if own.told >= _LEAK]
    if leaks:
        listed = ", ".join(f"“{name}”" for name in leaks[:5]) + (" and others" if len(leaks) > 5 else "")
        text = (
            f"{listed}: one column alone tells almost all about the target. Is it known before the target is?"
        )
        blocks.append(Words(text, "warning"))
    order = sorted(range(len(columns)), key=lambda at: (-len(columns[at].remarks), -columns[at].missing, at))
    shown: list[tuple[Cell, ...]] = [
        (own.name, own.kind, percent(own.missing), own.distinct, own.told, "; ".join(own.remarks))
        for own in (columns[at] for at in order[:_MOST_LISTED])
    ]
    caption = "“Tells”: the share of the target's variance that the column explains alone, less what chance would give."
    names = ("column", "kind", "missing", "distinct", "tells", "remarks")
    blocks.append(
        Sheet(names, tuple(shown), caption, len(columns) - len(shown), folded=not flagged and len(shown) > 12)
    )
    return Section("health", "Data health", tuple(blocks))


def _rows(table: Table) -> RowArray:
    most = max(1_000, min(_MOST_ROWS, _MOST_VALUES // max(1, table.n_columns)))
    if table.n_rows <= most:
        return np.arange(table.n_rows)
    return np.linspace(0, table.n_rows - 1, most).round().astype(np.int64)


def _targets(truth: AnyArray, classes: AnyArray | None) -> list[FloatArray]:
    """Numbers whose variance is explained: the target, or one for each of a few classes."""
    if classes is None:
        return [truth.astype(np.float64)]
    some = np.argsort(-np.bincount(truth, minlength=len(classes)), kind="stable")[
        : 1 if len(classes) <= 2 else 5
    ]
    return [(truth == code).astype(np.float64) for code in some.tolist()]


def _health(table: Table, place: int, rows: RowArray, targets: list[FloatArray]) -> _Health:
    column = _part(table.column(place), rows)
    missing = _is_missing(column)
    known = column.values[~missing]
    distinct = len(np.unique(known))
    told = float(np.mean([association(column, own) for own in targets]))
    remarks = []
    if distinct == 0:
        remarks.append("empty")
    elif distinct == 1:
        remarks.append("constant" if not missing.any() else "one value or missing")
    elif _is_id(column, known, distinct):
        remarks.append("looks like an id")
    if missing.mean() > _MANY_MISSING and distinct:
        remarks.append("mostly missing")
    if told >= _LEAK:
        remarks.append("tells the target")
    return _Health(column.name, column.kind, float(missing.mean()), distinct, told, tuple(remarks))


def _is_id(column: Column, known: AnyArray, distinct: int) -> bool:
    """All distinct, and text or whole numbers without large gaps."""
    if distinct < len(known) or distinct < 20:
        return False
    if column.levels is not None:
        return column.kind == "nominal"
    whole = bool((known == np.round(known)).all())
    return whole and float(known.max() - known.min()) < 4 * len(known)


def _is_missing(column: Column) -> AnyArray:
    if column.levels is not None:
        return np.asarray(column.values < 0)
    return (
        np.isnan(column.values)
        if column.values.dtype.kind == "f"
        else np.zeros(len(column.values), dtype=bool)
    )


def _part(column: Column, rows: RowArray) -> Column:
    return Column(column.name, column.kind, column.values[rows], column.levels)


def _repeats(table: Table, rows: RowArray) -> tuple[dict[int, str], int]:
    """Columns that hold the same as an earlier one, up to what values are called; and how many rows are copies."""
    first: dict[bytes, int] = {}
    twins: dict[int, str] = {}
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for place in range(table.n_columns):
        values = table.column(place).values[rows]
        codes = np.unique(values, return_inverse=True, equal_nan=True)[1].astype(np.uint64)
        mixed = (mixed ^ codes) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        if codes.max(initial=0) == 0:
            continue  # constants are told elsewhere
        print_of = hashlib.sha256(codes.tobytes()).digest()
        if first.setdefault(print_of, place) != place:
            twins[place] = table.label(first[print_of])
    return twins, len(rows) - len(np.unique(mixed))


def _facts(columns: list[_Health], n_copies: int, n_rows: int, n_flagged: int) -> Facts:
    with_missing = sum(own.missing > 0 for own in columns)
    share = float(np.mean([own.missing for own in columns]))
    return Facts(
        (
            Fact(
                "missing values", percent(share), f"in {plural(with_missing, 'column')} of {len(columns):,}"
            ),
            Fact("rows that are there twice", f"{n_copies:,}", f"{percent(n_copies / n_rows)} of {n_rows:,}"),
            Fact("columns with remarks", f"{n_flagged:,}", "see the table" if n_flagged else "none"),
        )
    )
