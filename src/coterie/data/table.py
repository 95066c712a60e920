"""A table as all the rest takes it: columns or one matrix of numbers; and the schema that later tables are held to.

Kinds of columns
  numeric   numbers that have an order; NaN is missing. Booleans are 0 and 1, dates and durations are days.
  ordered   categories with a declared order; the trees see their positions as numbers
  nominal   labels without an order; text, unordered categories, mixed objects
Ordered and nominal columns hold codes into `levels`, -1 where the label is missing.

Numbers
  The engine reads float32, float64, int32, int64, uint8 and bool (as uint8) in place, with any strides.
  Everything else is cast once: float16 to float32, long double to float64, small integers to int32,
  uint32 to int64, foreign byte order to the machine's own. Dates and durations become days.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from coterie._params import in_short
from coterie._storage import expect, storable
from coterie._typing import AnyArray, CodeArray, FloatArray, Kind
from coterie._user_warnings import warn_user
from coterie._value_types import NONE, TEXT, one_of, tuple_of
from coterie.data.place import Place
from coterie.errors import InvalidInput, InvalidType, SchemaMismatch

TABLES = "a 2-D array, a data frame, a dict of columns or a sparse matrix"
RESHAPE = (  # scikit-learn's own sentence, which its checks look for
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) "
    "if it contains a single sample"
)
NUMBER_KINDS = "biufmMc"  # of numpy's types
_IN_PLACE = frozenset(np.dtype(name) for name in ("f4", "f8", "i4", "i8", "u1", "?"))
_CAST_TO = {"f2": "f4", "i1": "i4", "i2": "i4", "u2": "i4", "u4": "i8"}
_PER_DAY = {
    "W": 1 / 7,
    "D": 1.0,
    "h": 24.0,
    "m": 1440.0,
    "s": 86400.0,
    "ms": 86400e3,
    "us": 86400e6,
    "ns": 86400e9,
    "ps": 86400e12,
    "fs": 86400e15,
    "as": 86400e18,
}

ColumnOrder = Literal["same", "any"]


@dataclass(frozen=True)
class Column:
    """One column, read and classified; see the module for the kinds."""

    name: str
    kind: Kind
    values: AnyArray
    levels: AnyArray | None = None

    def is_empty(self) -> bool:
        """Whether every row is missing, so that the column fits any type."""
        if self.kind != "numeric":
            return bool((self.values < 0).all())
        return self.values.dtype.kind == "f" and bool(np.isnan(self.values).all())


@dataclass(frozen=True)
class Table:
    """Named columns, or one matrix of numbers; never modified.

    Attributes
    ----------
    n_rows : int
    names : tuple of str, or None
        The column names, None when the input had none that are text (scikit-learn's rule).
    matrix : array of shape (n_rows, n_columns), or None
        All columns at once, when they are numbers of one type.
    columns : tuple of Column
        The columns one by one, when `matrix` is None.
    by_name : bool
        The columns came as a mapping, so they have names and no order of their own.
    """

    n_rows: int
    names: tuple[str, ...] | None
    matrix: AnyArray | None = None
    columns: tuple[Column, ...] = ()
    by_name: bool = False

    @property
    def n_columns(self) -> int:
        return len(self.columns) if self.matrix is None else int(self.matrix.shape[1])

    def column(self, index: int) -> Column:
        """One column, also of a matrix."""
        if self.matrix is None:
            return self.columns[index]
        values = self.matrix[:, index]
        if values.dtype.kind == "b":
            values = values.view(np.uint8)
        return Column(self.label(index), "numeric", values)

    def label(self, index: int) -> str:
        """How error messages call a column: its name, or x0, x1, ..."""
        return f"x{index}" if self.names is None else self.names[index]

    def select(self, order: Sequence[int]) -> "Table":
        """The same table with these columns, in this order."""
        names = None if self.names is None else tuple(self.names[index] for index in order)
        if self.matrix is not None:
            return Table(self.n_rows, names, matrix=self.matrix[:, list(order)])
        return Table(self.n_rows, names, columns=tuple(self.columns[index] for index in order))


def table_of_numbers(array: AnyArray) -> Table:
    """An array of numbers or dates as a table; nothing is copied that the engine can read in place."""
    check_two_dimensions(array)
    check_size(*array.shape)
    return Table(len(array), None, matrix=native_numbers(array, where=Place("X")))


def check_two_dimensions(array: AnyArray) -> None:
    if array.ndim == 2:
        return
    if array.dtype.names:
        raise InvalidType(
            "X is a structured array.",
            parameter="X",
            received=array.dtype,
            allowed=TABLES,
            hint="Pass its fields as columns: {name: X[name] for name in X.dtype.names}.",
        )
    if array.ndim > 2:
        raise InvalidInput(
            f"Found array with dim {array.ndim}, while dim <= 2 is required: X has shape {array.shape}.",
            parameter="X",
            received=array.shape,
            allowed="two dimensions",
            hint="Flatten each row to one list of values, for example with X.reshape(len(X), -1).",
        )
    got = (
        f"scalar array instead:\narray={array!r}."
        if array.ndim == 0
        else f"1D array instead: X has shape {array.shape}."
    )
    raise InvalidInput(
        f"Expected 2D array, got {got}",
        parameter="X",
        received=array.shape,
        allowed="two dimensions",
        hint=f"{RESHAPE}.",
    )


def check_size(n_rows: int, n_columns: int) -> None:
    for n, unit, name in ((n_rows, "sample", "rows"), (n_columns, "feature", "columns")):
        if n == 0:
            raise InvalidInput(
                f"Found array with 0 {unit}(s) (shape=({n_rows}, {n_columns})) while a minimum of 1 is required. "
                f"X has no {name}.",
                parameter="X",
                received=(n_rows, n_columns),
                allowed="at least one row and one column",
            )


def check_lengths(*lengths: int, parameter: str | None = None) -> None:
    """The first length is that of X; `parameter` has the last."""
    if len(set(lengths)) > 1:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: {list(lengths)}.",
            parameter=parameter,
            received=list(lengths),
            allowed=f"one for each of the {lengths[0]} rows",
            hint="X, y and sample_weight need one entry for each row.",
        )


def sparse_shape(X: Any) -> tuple[int, int]:
    """Rows and columns of a sparse matrix, or an error that says why it is no table."""
    if X.ndim != 2:
        raise InvalidInput(
            f"Expected 2D array, got a sparse array with {X.ndim} dimension(s) as X.",
            parameter="X",
            received=X.shape,
            allowed="two dimensions",
        )
    n_rows, n_columns = X.shape
    check_size(n_rows, n_columns)
    return n_rows, n_columns


def _verify_schema(schema: Any) -> None:
    if schema.names is not None:
        expect(len(schema.names) == len(schema.kinds), "has names and kinds of different columns")
        expect(len(set(schema.names)) == len(schema.names), "has two columns of the same name")


@storable(
    "Schema",
    {"names": tuple_of(TEXT) | NONE, "kinds": tuple_of(one_of("numeric", "nominal", "ordered"))},
    verify=_verify_schema,
)
@dataclass(frozen=True)
class Schema:
    """Names (None if the table had none), kinds and number of the columns that fit saw."""

    names: tuple[str, ...] | None
    kinds: tuple[Kind, ...]

    @property
    def n_features(self) -> int:
        return len(self.kinds)

    @classmethod
    def of(cls, table: Table, nominal: Any = None) -> "Schema":
        """The schema of a table; `nominal` says which columns are treated as nominal whatever they hold."""
        if table.matrix is not None:
            kinds: list[Kind] = ["numeric"] * table.n_columns
        else:
            kinds = [column.kind for column in table.columns]
        for index in () if nominal is None else np.flatnonzero(nominal):
            kinds[index] = "nominal"
        return cls(table.names, tuple(kinds))

    def set_feature_names(self, estimator: Any) -> None:
        """Set `n_features_in_` and `feature_names_in_` as scikit-learn does."""
        estimator.n_features_in_ = self.n_features
        if self.names is not None:
            estimator.feature_names_in_ = np.array(self.names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_

    def check(self, table: Table, estimator_name: str, *, column_order: ColumnOrder = "same") -> Table:
        """The table with its columns in the order of fit, or an error that explains the difference.

        A dict of columns has no order and is always matched by name. Data frames must have the order of
        fit, as scikit-learn demands, unless `column_order="any"` says that names are enough.
        """
        if self.names is None or table.names is None:
            self._warn_about_names(table, estimator_name)
            self.check_number(table.n_columns, estimator_name)
            return table
        if table.names == self.names:
            return table
        if set(table.names) != set(self.names):
            raise self._wrong_names(table.names, estimator_name)
        if column_order == "same" and not table.by_name:
            raise self._wrong_order(table.names)
        place = {name: index for index, name in enumerate(table.names)}
        return table.select([place[name] for name in self.names])

    def check_number(self, n_columns: int, estimator_name: str) -> None:
        """Refuse another number of columns."""
        if n_columns != self.n_features:
            raise self._wrong_number(n_columns, estimator_name)

    def _warn_about_names(self, table: Table, estimator_name: str) -> None:
        if table.names is not None:
            warn_user(f"X has feature names, but {estimator_name} was fitted without feature names")
        elif self.names is not None:
            warn_user(
                f"X does not have valid feature names, but {estimator_name} was fitted with feature names"
            )

    def _wrong_number(self, n_columns: int, estimator_name: str) -> SchemaMismatch:
        return SchemaMismatch(
            f"X has {n_columns} features, but {estimator_name} is expecting {self.n_features} features as input.",
            parameter="X",
            received=n_columns,
            allowed=f"{self.n_features} columns",
            hint="Pass the columns that fit saw, in the same order; a column whose values are unknown can be all NaN.",
        )

    def _wrong_names(self, names: tuple[str, ...], estimator_name: str) -> SchemaMismatch:
        own = self.names or ()
        unexpected = sorted(set(names) - set(own))
        missing = sorted(set(own) - set(names))
        message = "The feature names should match those that were passed during fit.\n"
        if unexpected:
            message += "Feature names unseen at fit time:\n" + _listed(unexpected)
        if missing:
            message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
        message += f"X has {len(names)} columns; this {estimator_name} was fitted on {len(own)}."
        return SchemaMismatch(
            message,
            parameter="X",
            received=names,
            allowed=f"the columns {in_short(list(own))}",
            hint=_advice(unexpected, missing),
            column=(unexpected or missing)[0],
        )

    def _wrong_order(self, names: tuple[str, ...]) -> SchemaMismatch:
        own = self.names or ()
        first = next(place for place, name in enumerate(own) if names[place] != name)
        return SchemaMismatch(
            "The feature names should match those that were passed during fit.\n"
            "Feature names must be in the same order as they were in fit.\n"
            f"Column {first} is {names[first]!r} and was {own[first]!r} in fit.",
            parameter="X",
            received=names,
            allowed=f"the columns {in_short(list(own))}, in this order",
            hint="To put them in order: X[list(model.feature_names_in_)].",
            column=names[first],
        )


def _listed(names: list[str]) -> str:
    shown = [f"- {name}\n" for name in names[:5]]
    return "".join(shown) + ("- ...\n" if len(names) > 5 else "")


def _advice(unexpected: list[str], missing: list[str]) -> str:
    guesses = []
    for name in unexpected[:5]:
        near = get_close_matches(name, missing, n=1)
        if near:
            guesses.append(f"{near[0]!r} instead of {name!r}")
    if guesses:
        return f"Did you mean {', '.join(guesses)}?"
    if missing:
        return (
            "If a column was renamed, rename it back. If it is unknown for these rows, add it with missing "
            "values: the trees learned where missing values go."
        )
    return "Drop the columns that fit did not see."


def is_read_in_place(array: AnyArray) -> bool:
    """Whether the engine can read this memory without a copy."""
    return array.dtype in _IN_PLACE and array.flags.aligned


def native_numbers(array: AnyArray, *, where: Place) -> AnyArray:
    """The same numbers in a type that the engine reads; the array itself when it already is one.

    Examples
    --------
    >>> native_numbers(np.array([1, 2], dtype=">i2"), where=Place("X")).dtype
    dtype('int32')
    """
    if is_read_in_place(array):
        return array
    dtype = array.dtype
    if dtype.kind == "c":
        raise InvalidInput(
            f"Complex data not supported: {where} holds {dtype} numbers. Trees order values, and complex "
            "numbers have no order.",
            received=dtype,
            allowed="real numbers",
            hint="Pass the real and the imaginary part as two columns.",
            **where.fields,
        )
    if dtype.kind in "mM":
        return days_of(array)
    if dtype.kind == "u" and dtype.itemsize == 8:
        fits = array.size == 0 or int(array.max()) <= np.iinfo(np.int64).max
        return array.astype(np.int64 if fits else np.float64)
    if dtype.newbyteorder("=") in _IN_PLACE:
        return array.astype(dtype.newbyteorder("="))
    with np.errstate(over="ignore"):  # a long double too large for float64 is infinity
        return array.astype(_CAST_TO.get(dtype.kind + str(dtype.itemsize), "f8"))


def days_of(array: AnyArray) -> FloatArray:
    """Dates as days since 1970-01-01, durations as days; with fractions, NaT becomes NaN.

    Examples
    --------
    >>> days_of(np.array(["1970-01-02T12:00", "NaT"], dtype="datetime64[m]"))
    array([1.5, nan])
    """
    unit, _ = np.datetime_data(array.dtype)
    if unit == "generic":
        return np.full(array.shape, np.nan)
    missing = np.isnat(array)
    if unit in ("Y", "M") and array.dtype.kind == "M":
        array = array.astype("datetime64[D]")
    elif unit in ("Y", "M"):
        array = array.astype("timedelta64[M]")
        return np.where(missing, np.nan, array.astype(np.int64) * (365.2425 / 12))
    unit, step = np.datetime_data(array.dtype)
    days = array.astype(np.int64) * (step / _PER_DAY[unit])
    return np.where(missing, np.nan, days)


def number_levels(values: AnyArray) -> tuple[CodeArray, AnyArray]:
    """Codes and levels of a column of numbers; NaN is missing.

    Integer numbers from 0 up, not much larger than the number of rows, are their own codes: the levels are
    then 0, 1, 2, ... up to the largest, whether or not each occurs. That takes no sorting and is
    what a column of category codes nearly always looks like.

    Examples
    --------
    >>> codes, levels = number_levels(np.array([2.5, np.nan, -1.0, 2.5]))
    >>> codes, levels
    (array([ 1, -1,  0,  1], dtype=int32), array([-1. ,  2.5]))
    """
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    small = _as_small_codes(values)
    if small is not None:
        return small, np.arange(int(small.max(initial=-1)) + 1)
    if values.dtype.kind != "f":
        levels, places = np.unique(values, return_inverse=True)
        return places.astype(np.int32), levels
    codes = np.full(len(values), -1, dtype=np.int32)
    known = ~np.isnan(values)
    levels, codes[known] = np.unique(values[known], return_inverse=True)
    return codes, levels


def _as_small_codes(values: AnyArray) -> CodeArray | None:
    """The values as int32 codes with -1 for NaN, or None when they are not small whole numbers."""
    limit = max(65536, 2 * len(values))
    if values.dtype.kind != "f":
        if len(values) and (values.min() < 0 or values.max() >= limit):
            return None
        return values.astype(np.int32)
    with np.errstate(invalid="ignore"):
        codes = values.astype(np.int32)
    same = codes == values
    if not same.all():
        missing = np.isnan(values)
        if not (same | missing).all():
            return None
        codes[missing] = -1
        same = ~missing
    if len(codes) == 0 or (codes.max() < limit and codes.min(where=same, initial=0) >= 0):
        return codes
    return None
