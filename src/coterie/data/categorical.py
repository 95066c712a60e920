"""`categorical_features`: which columns are nominal, by name, by index, by mask, or found out."""

from difflib import get_close_matches
from typing import Any

import numpy as np

from coterie._params import in_short, unexpected
from coterie._typing import AnyArray, BoolArray, CategoricalFeatures
from coterie.data.table import Table
from coterie.errors import InvalidInput, InvalidParameter


def nominal_columns(categorical_features: CategoricalFeatures, table: Table) -> BoolArray:
    """A mask of the nominal columns of this table."""
    found = np.zeros(table.n_columns, dtype=bool)
    for index, column in enumerate(table.columns):
        found[index] = column.kind == "nominal"
    if isinstance(categorical_features, str):
        if categorical_features != "auto":
            raise _not_understood(categorical_features)
        return found
    if categorical_features is None:
        _refuse_text(found, table)
        return np.zeros(table.n_columns, dtype=bool)
    return found | _given_columns(categorical_features, table)


def _refuse_text(found: BoolArray, table: Table) -> None:
    for index in np.flatnonzero(found):
        column = table.columns[index]
        if not column.is_empty():
            levels = [] if column.levels is None else column.levels[:3].tolist()
            examples = ", ".join(repr(level) for level in levels)
            raise InvalidInput(
                f"Column {column.name!r} holds categories ({examples}), and categorical_features=None allows none.",
                parameter="X",
                received=levels,
                allowed="numbers",
                hint="Use categorical_features='auto', or turn the column into numbers.",
                column=column.name,
            )


def _given_columns(given: Any, table: Table) -> BoolArray:
    try:
        wanted = np.asarray(given)
    except (ValueError, TypeError):
        raise _not_understood(given) from None
    if wanted.ndim != 1:
        raise _not_understood(given)
    if wanted.size == 0:
        return np.zeros(table.n_columns, dtype=bool)
    if wanted.dtype.kind == "b":
        return _from_mask(wanted, table)
    if wanted.dtype.kind in "iu":
        return _from_indices(wanted, table)
    if all(isinstance(name, str) for name in wanted.tolist()):
        return _from_names(wanted.tolist(), table)
    raise _not_understood(given)


def _from_mask(mask: AnyArray, table: Table) -> BoolArray:
    if len(mask) != table.n_columns:
        allowed = "one value for each column"
        raise InvalidParameter.expecting(
            f"categorical_features is a mask of {len(mask)} values and X has {table.n_columns} columns",
            allowed,
            "categorical_features",
            mask.tolist(),
        )
    return np.asarray(mask, dtype=bool)


def _from_indices(indices: AnyArray, table: Table) -> BoolArray:
    outside = [int(index) for index in indices if not 0 <= index < table.n_columns]
    if outside:
        allowed = f"columns 0 to {table.n_columns - 1}"
        raise InvalidParameter(
            f"categorical_features names column {outside[0]}, and X has the {allowed}.",
            parameter="categorical_features",
            received=outside[0],
            allowed=allowed,
        )
    mask = np.zeros(table.n_columns, dtype=bool)
    mask[indices] = True
    return mask


def _from_names(names: list[str], table: Table) -> BoolArray:
    if table.names is None:
        raise InvalidParameter(
            f"categorical_features={in_short(names)} are names, and X has no column names.",
            parameter="categorical_features",
            received=names,
            allowed="column indices or a boolean mask",
            hint="Pass indices or a boolean mask, or fit on a data frame.",
        )
    mask = np.zeros(table.n_columns, dtype=bool)
    for name in names:
        if name not in table.names:
            near = get_close_matches(name, table.names, n=1)
            raise InvalidParameter(
                f"categorical_features names {name!r}, which is not a column of X.",
                parameter="categorical_features",
                received=name,
                allowed=f"the columns {in_short(list(table.names))}",
                hint=f"Did you mean {near[0]!r}?" if near else f"X has {in_short(list(table.names))}.",
            )
        mask[table.names.index(name)] = True
    return mask


def _not_understood(given: object) -> InvalidParameter:
    return unexpected(
        "categorical_features",
        given,
        "'auto' or None or a list of column names, of column indices, or of one boolean for each column",
    )
