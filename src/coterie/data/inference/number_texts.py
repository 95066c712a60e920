"""Columns of labels that are numbers written as text, as a table read without care has them."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from coterie._user_warnings import warn_user
from coterie.data.frames import is_frame, is_series
from coterie.data.inference.infer import NEARLY_ALL
from coterie.data.inference.numbers import are_long_integers, number_evidence
from coterie.data.inference.reading import missing_among_values
from coterie.data.table import Column, Table

_FEWEST_LEVELS = 20  # fewer different texts of digits alone are classes of something
_TRIED = 100


def warn_number_texts(table: Table, X: Any) -> None:
    """Warn of columns of text that are numbers in nine of ten rows, unless they were declared as categories."""
    for column in table.columns:
        if column.kind != "nominal" or column.levels is None or not _may_be_numbers(column.levels):
            continue
        example = _example(column)
        if example is not None and not _is_declared(X, column.name):
            warn_user(
                f"Column {column.name!r} of X holds text, and nearly all of it are numbers, such as {example!r}: it is "
                "taken for labels without an order. To read it as numbers: X = coterie.read_table(X), and the same for "
                "new rows with reading=X.reading. If labels are meant, make it a category."
            )


def _may_be_numbers(levels: Any) -> bool:
    """A quick look at some levels."""
    some = levels[:: max(1, len(levels) // _TRIED)]
    n_digits = sum(isinstance(level, str) and any(map(str.isdigit, level)) for level in some)
    return len(levels) > 1 and n_digits >= NEARLY_ALL * len(some) / 2


def _example(column: Column) -> str | None:
    """A text that is a number, if the column is one of numbers."""
    assert column.levels is not None
    levels = [level.strip() if isinstance(level, str) else "" for level in column.levels.tolist()]
    counts = np.bincount(column.values[column.values >= 0], minlength=len(levels)) * ~missing_among_values(
        levels
    )
    known = [level for level, count in zip(levels, counts.tolist(), strict=True) if count]
    if not known or are_long_integers(known):
        return None
    if all(map(str.isdigit, known)) and (
        len(known) <= _FEWEST_LEVELS or any(text[0] == "0" for text in known)
    ):
        return None
    evidence = number_evidence(levels, counts)
    if max(evidence.with_point, evidence.with_comma) < NEARLY_ALL * counts.sum():
        return None
    return next((text for text in known if any(map(str.isdigit, text))), None)


def _is_declared(X: Any, name: str) -> bool:
    """Whether the library that holds the column calls it a category."""
    if is_frame(X):
        frame = nw.from_native(X, pass_through=True)
        schema = frame.collect_schema() if hasattr(frame, "collect_schema") else {}
        return schema.get(name) in (nw.Categorical, nw.Enum)
    values = X.get(name) if isinstance(X, dict) else None
    if values is None or not is_series(values):
        return False
    return nw.from_native(values, series_only=True).dtype in (nw.Categorical, nw.Enum)
