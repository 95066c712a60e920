"""What fit saw, and how a later table is compared with it.

Columns are compared by name where both tables have names, otherwise by number. The first lines of each
message are scikit-learn's own, so that code and tests that look for them keep working; what
follows says which name was probably meant and what to do.
"""

import warnings
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from coterie._params import in_short
from coterie._storage import expect, storable
from coterie._typing import Kind
from coterie._value_types import NONE, TEXT, one_of, tuple_of
from coterie.data.table import Table
from coterie.errors import SchemaMismatch

__all__ = ["ColumnOrder", "Schema"]

ColumnOrder = Literal["same", "any"]


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
            if table.n_columns != self.n_features:
                raise self._wrong_number(table.n_columns, estimator_name)
            return table
        if table.names == self.names:
            return table
        if set(table.names) != set(self.names):
            raise self._wrong_names(table.names, estimator_name)
        if column_order == "same" and not table.by_name:
            raise self._wrong_order(table.names)
        place = {name: index for index, name in enumerate(table.names)}
        return table.select([place[name] for name in self.names])

    def _warn_about_names(self, table: Table, estimator_name: str) -> None:
        if table.names is not None:
            warnings.warn(
                f"X has feature names, but {estimator_name} was fitted without feature names",
                UserWarning,
                stacklevel=4,
            )
        elif self.names is not None:
            warnings.warn(
                f"X does not have valid feature names, but {estimator_name} was fitted with feature names",
                UserWarning,
                stacklevel=4,
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
