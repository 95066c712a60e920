"""Checks of the data: missing values, constants, ids, duplicates, target leakage, and changes since fit."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.table import Column, Table
from coterie.report.columns.association import association
from coterie.report.columns.values import column_part, is_text, missing_rows
from coterie.report.content import Block, Cell, Fact, Facts, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import KIND_NAMES, EvaluatedModel
from coterie.report.forms.number_format import percent, plural

_MOST_ROWS = 50_000
_MOST_VALUES = 20_000_000
_MOST_LISTED = 50
_LEAKAGE = 0.98  # share of the target's variance that one column explains on its own
_MANY_MISSING = 0.5


@dataclass(frozen=True)
class _ColumnQuality:
    """What the checks found about one column."""

    name: str
    kind: str
    missing: float
    distinct: int
    explained: float
    remarks: tuple[str, ...]


def data_quality_section(evaluated: EvaluatedModel) -> Section:
    table, rows = evaluated.table, _rows(evaluated.table)
    y_true = evaluated.all_y_true[rows]
    changes = changes_since_fit(evaluated)
    columns = []
    originals, n_duplicates = _duplicates(table, rows)
    for place in range(table.n_columns):
        own = _column_quality(table, place, rows, _targets(y_true, evaluated.classes))
        more = (
            *([f"duplicate of {originals[place]}"] if place in originals else []),
            *changes.get(place, ()),
        )
        columns.append(
            _ColumnQuality(
                own.name,
                evaluated.kind_name(place),
                own.missing,
                own.distinct,
                own.explained,
                (*own.remarks, *more),
            )
        )
    flagged = [own for own in columns if own.remarks]
    blocks: list[Block] = [_facts(columns, n_duplicates, len(rows), len(flagged))]
    if len(rows) < table.n_rows:
        blocks.append(Paragraph(f"Based on {len(rows):,} of {table.n_rows:,} rows, evenly spaced.", "note"))
    leaking = [own.name for own in columns if own.explained >= _LEAKAGE]
    if leaking:
        listed = ", ".join(f"“{name}”" for name in leaking[:5]) + (" and others" if len(leaking) > 5 else "")
        text = (
            f"Possible target leakage in {listed}: one column alone explains almost all of the target's variance. "
            "Is it known before the target is?"
        )
        blocks.append(Paragraph(text, "warning"))
    order = sorted(range(len(columns)), key=lambda at: (-len(columns[at].remarks), -columns[at].missing, at))
    shown: list[tuple[Cell, ...]] = [
        (
            own.name,
            own.kind,
            percent(own.missing),
            own.distinct,
            own.explained,
            "; ".join(own.remarks),
        )
        for own in (columns[at] for at in order[:_MOST_LISTED])
    ]
    caption = "Explained variance: the share of the target's variance that one column explains, adjusted for chance."
    names = ("column", "kind", "missing", "distinct", "explained variance", "remarks")
    blocks.append(
        TableBlock(
            names, tuple(shown), caption, len(columns) - len(shown), folded=not flagged and len(shown) > 12
        )
    )
    return Section("data_quality", "Data quality", tuple(blocks))


def _rows(table: Table) -> RowArray:
    most = max(1_000, min(_MOST_ROWS, _MOST_VALUES // max(1, table.n_columns)))
    if table.n_rows <= most:
        return np.arange(table.n_rows)
    return np.linspace(0, table.n_rows - 1, most).round().astype(np.int64)


def _targets(y_true: AnyArray, classes: AnyArray | None) -> list[FloatArray]:
    """Numbers whose variance is explained: the target, or one for each of a few classes."""
    if classes is None:
        return [y_true.astype(np.float64)]
    some = np.argsort(-np.bincount(y_true, minlength=len(classes)), kind="stable")[
        : 1 if len(classes) <= 2 else 5
    ]
    return [(y_true == code).astype(np.float64) for code in some.tolist()]


def _column_quality(table: Table, place: int, rows: RowArray, targets: list[FloatArray]) -> _ColumnQuality:
    column = column_part(table.column(place), rows)
    missing = missing_rows(column)
    known = column.values[~missing]
    distinct = len(np.unique(known))
    explained = float(np.mean([association(column, own) for own in targets]))
    remarks = []
    if distinct == 0:
        remarks.append("empty")
    elif distinct == 1:
        remarks.append("constant" if not missing.any() else "constant or missing")
    elif _is_id(column, known, distinct):
        remarks.append("looks like an id")
    if missing.mean() > _MANY_MISSING and distinct:
        remarks.append("mostly missing")
    if explained >= _LEAKAGE:
        remarks.append("possible target leakage")
    return _ColumnQuality(
        column.name, column.kind, float(missing.mean()), distinct, explained, tuple(remarks)
    )


def _is_id(column: Column, known: AnyArray, distinct: int) -> bool:
    """All distinct, and text or whole numbers without large gaps."""
    if distinct < len(known) or distinct < 20:
        return False
    if column.levels is not None:
        return column.kind == "nominal" and not is_text(column)
    whole = bool((known == np.round(known)).all())
    return whole and float(known.max() - known.min()) < 4 * len(known)


def _duplicates(table: Table, rows: RowArray) -> tuple[dict[int, str], int]:
    """Columns that duplicate an earlier one, up to the names of their values; and the number of duplicate rows."""
    first: dict[bytes, int] = {}
    originals: dict[int, str] = {}
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for place in range(table.n_columns):
        values = table.column(place).values[rows]
        codes = np.unique(values, return_inverse=True, equal_nan=True)[1].astype(np.uint64)
        mixed = (mixed ^ codes) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        if codes.max(initial=0) == 0:
            continue  # constants have a remark of their own
        digest = hashlib.sha256(codes.tobytes()).digest()
        if first.setdefault(digest, place) != place:
            originals[place] = table.label(first[digest])
    return originals, len(rows) - len(np.unique(mixed))


def _facts(columns: list[_ColumnQuality], n_duplicates: int, n_rows: int, n_flagged: int) -> Facts:
    with_missing = sum(own.missing > 0 for own in columns)
    share = float(np.mean([own.missing for own in columns]))
    return Facts(
        (
            Fact(
                "missing values", percent(share), f"in {plural(with_missing, 'column')} of {len(columns):,}"
            ),
            Fact("duplicate rows", f"{n_duplicates:,}", f"{percent(n_duplicates / n_rows)} of {n_rows:,}"),
            Fact("columns with remarks", f"{n_flagged:,}", "see the table" if n_flagged else "none"),
        )
    )


def changes_since_fit(evaluated: EvaluatedModel) -> dict[int, tuple[str, ...]]:
    """Remarks by the position of the column; none for models that keep nothing about the training data."""
    fitted = _with_encoder(evaluated.model)
    if fitted is None:
        return {}
    encoder, saw_missing = getattr(fitted, "encoder_", None), getattr(fitted, "_saw_missing", None)
    kinds = getattr(getattr(fitted, "schema_", None), "kinds", ())
    table, names = evaluated.table, getattr(fitted, "feature_names_in_", None)
    places = {str(name): place for place, name in enumerate(names)} if names is not None else {}
    found: dict[int, tuple[str, ...]] = {}
    for own in range(table.n_columns):
        place = places.get(table.label(own), own)
        column, remarks = table.column(own), []
        if place < len(kinds) and kinds[place] != column.kind and not column.is_empty():
            remarks.append(f"was {KIND_NAMES[kinds[place]]} in fit")
        levels = encoder.levels(place) if encoder is not None and place < len(encoder.n_levels) else None
        if levels is not None and column.levels is not None:
            known = set(levels.tolist())
            unseen = np.array([level not in known for level in column.levels.tolist()], dtype=bool)
            codes = column.values[column.values >= 0]
            share = float(unseen[codes].sum()) / max(1, len(column.values)) if len(unseen) else 0.0
            if share:
                remarks.append(f"{percent(share)} of values are unseen categories")
        if (
            saw_missing is not None
            and place < len(saw_missing)
            and not saw_missing[place]
            and missing_rows(column).any()
        ):
            remarks.append("no missing values in fit")
        if remarks:
            found[own] = tuple(remarks)
    return found


def _with_encoder(model: Any) -> Any:
    """The model, or the first of its members that read the table itself."""
    if hasattr(model, "encoder_"):
        return model
    members = getattr(model, "estimators_", None)
    for member in members if isinstance(members, list) else []:
        for own in getattr(member, "models", [member])[:1]:
            if hasattr(own, "encoder_") and hasattr(own, "schema_"):
                return own
    return None
