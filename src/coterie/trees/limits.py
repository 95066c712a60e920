"""From constructor parameters to what the engine takes: fractions become rows, names become columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._params import in_short
from coterie._typing import AnyArray
from coterie.data.table import Schema
from coterie.errors import InvalidInput, InvalidParameter

__all__ = ["Share", "max_features_of", "monotone_of", "rows_of"]

_MOST_ROWS = 2**62


@dataclass(frozen=True)
class Share:
    """A float that stands for a share of the whole, where a whole number would be a count."""

    with_one: bool

    def accepts(self, value: object) -> bool:
        if not isinstance(value, Real) or isinstance(value, Integral):
            return False
        return 0.0 < float(value) < 1.0 or (self.with_one and float(value) == 1.0)

    def describe(self) -> str:
        return f"a float in (0, 1{']' if self.with_one else ')'}"


def rows_of(rule: float, n_rows: int, *, at_least: int) -> int:
    """A number of rows, from a number or a fraction of all rows (rounded up)."""
    wanted = int(rule) if isinstance(rule, Integral) else ceil(rule * n_rows)
    return min(max(at_least, wanted), _MOST_ROWS)


def max_features_of(rule: str | float | None, n_features: int) -> int:
    """How many features a split looks at.

    Examples
    --------
    >>> [max_features_of(rule, 100) for rule in ("sqrt", "log2", 0.25, 7, None)]
    [10, 6, 25, 7, 100]
    """
    if rule is None:
        return n_features
    if isinstance(rule, str):
        return max(1, int(np.sqrt(n_features) if rule == "sqrt" else np.log2(n_features)))
    return int(rule) if isinstance(rule, Integral) else max(1, int(rule * n_features))


def monotone_of(constraints: Any, schema: Schema, nominal: AnyArray) -> NDArray[np.int8]:
    """One of -1, 0, 1 for each feature, from an array or from a dict by column name; empty for None."""
    if constraints is None:
        return np.zeros(0, dtype=np.int8)
    given = _by_name(constraints, schema) if isinstance(constraints, Mapping) else np.asarray(constraints)
    if given.shape != (schema.n_features,):
        raise InvalidParameter(
            f"monotonic_cst has shape {given.shape} but the input data X has {schema.n_features} features; "
            "expected one number for each, or a dict by column name.",
            parameter="monotonic_cst",
            received=given.shape,
            allowed=f"{schema.n_features} numbers, or a dict by column name",
        )
    allowed = np.isin(given, (-1, 0, 1))
    if not allowed.all():
        feature = int(np.argmin(allowed))
        raise InvalidParameter(
            f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {in_short(given[feature])} for "
            f"feature {feature}.",
            parameter="monotonic_cst",
            received=given[feature],
            allowed="None or an array-like of -1, 0 or 1",
            column=f"x{feature}" if schema.names is None else schema.names[feature],
        )
    both = np.flatnonzero((given != 0) & nominal)
    if len(both):
        feature = int(both[0])
        label = feature if schema.names is None else repr(schema.names[feature])
        raise InvalidParameter(
            f"monotonic_cst constrains feature {label}, which is categorical: its categories have no order.",
            parameter="monotonic_cst",
            received=int(given[feature]),
            allowed="0 for a categorical column",
            hint="Set its constraint to 0, or pass the column as numbers.",
            column=f"x{feature}" if schema.names is None else schema.names[feature],
        )
    return given.astype(np.int8)


def _by_name(constraints: Mapping[Any, Any], schema: Schema) -> AnyArray:
    if schema.names is None:
        raise InvalidInput(
            "monotonic_cst is a dict by column name, but X has no column names.",
            parameter="monotonic_cst",
            received=constraints,
            allowed="an array with a constraint for each column",
            hint="Pass a data frame or a dict of columns, or give the constraints as an array.",
        )
    unknown = [name for name in constraints if name not in schema.names]
    if unknown:
        columns = in_short(list(schema.names))
        raise InvalidParameter(
            f"monotonic_cst names {unknown[0]!r}, which is not a column of X. The columns are {columns}.",
            parameter="monotonic_cst",
            received=unknown[0],
            allowed=f"the columns {columns}",
        )
    return np.array([constraints.get(name, 0) for name in schema.names])
