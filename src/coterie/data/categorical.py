"""`categorical_features`: which columns are nominal, by name, by index, by mask, or found out."""

from difflib import get_close_matches
from typing import Any

import numpy as np

from coterie._params import in_short
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
        raise InvalidParameter(
            "categorical_features set as a boolean mask must have shape (n_features,): it is a mask of "
            f"{len(mask)} values and X has {table.n_columns} columns; expected {allowed}.",
            parameter="categorical_features",
            received=mask.tolist(),
            allowed=allowed,
        )
    return np.asarray(mask, dtype=bool)


def _from_indices(indices: AnyArray, table: Table) -> BoolArray:
    outside = [int(index) for index in indices if not 0 <= index < table.n_columns]
    if outside:
        allowed = f"columns 0 to {table.n_columns - 1}"
        raise InvalidParameter(
            "categorical_features set as integer indices must be in [0, n_features - 1]: it names column "
            f"{outside[0]}, and X has the {allowed}.",
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
            "categorical_features should be passed as an array of integers or as a boolean mask when the model is "
            f"fitted on data without feature names. categorical_features={in_short(names)} are names, and X has no "
            "column names.",
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
                f"categorical_features has an item value {name!r} which is not a valid feature name of the training "
                "data.",
                parameter="categorical_features",
                received=name,
                allowed=f"the columns {in_short(list(table.names))}",
                hint=f"Did you mean {near[0]!r}?" if near else f"X has {in_short(list(table.names))}.",
            )
        mask[table.names.index(name)] = True
    return mask


def _not_understood(given: object) -> InvalidParameter:
    allowed = "'auto' or None or a list of column names, of column indices, or of one boolean for each column"
    return InvalidParameter(
        f"categorical_features must be an array-like of bool, int or str, got: {_types_in(given)}. "
        f"categorical_features={in_short(given)}: expected {allowed}.",
        parameter="categorical_features",
        received=given,
        allowed=allowed,
    )


def _types_in(given: object) -> str:
    try:
        array = np.asarray(given)
    except (ValueError, TypeError):
        return type(given).__name__
    if array.dtype.kind != "O" or array.ndim != 1:
        return str(array.dtype.name)
    return ", ".join(sorted({type(item).__name__ for item in array}))
