"""The way in: everything that `fit` and `predict` do with the user's data before the engine sees it.

`read_table` makes a `Table` of what the user has, and nobody after this step asks what it was. The `Encoder` makes
features of it: floats for what has an order, small codes for what has none. Feature j is column j, always.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import is_auto, unexpected
from coterie._storage import expect, storable
from coterie._typing import AnyArray, CategoricalFeatures, CodeArray, FloatArray, Task, UnknownCategory
from coterie._user_warnings import warn_user
from coterie._value_types import ANY, COUNT, RECOMPUTED, array, dict_of, instance, one_of
from coterie.data.categorical import nominal_columns
from coterie.data.encoding import Encoded, LevelCoding, Lookup, as_numbers, raw_codes
from coterie.data.few_rows import encode_few
from coterie.data.readers import read_other_table
from coterie.data.table import NUMBER_KINDS, Column, ColumnOrder, Schema, Table, table_of_numbers
from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import SchemaMismatch

_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)


def _verify_encoder(encoder: Any) -> None:
    n_features = len(encoder.n_levels)
    n_levels = np.zeros(n_features, dtype=np.int32)
    for feature, coding in encoder._codings.items():
        expect(0 <= feature < n_features, f"has levels of feature {feature}; there are {n_features}")
        if coding.kind == "nominal":
            n_levels[feature] = coding.n_codes
    expect(
        encoder.n_levels.dtype == np.int32 and np.array_equal(encoder.n_levels, n_levels),
        "has other numbers of levels than its features",
    )


def _stored_encoder(state: dict[str, Any]) -> "Encoder":
    encoder = Encoder()  # with empty lookups
    vars(encoder).update(state)
    return encoder


@storable(
    "Encoder",
    {
        "categorical_features": ANY,
        "unknown_category": one_of("missing", "error"),
        "n_levels": array("i", 1),
        "_codings": dict_of(COUNT, instance(LevelCoding)),
        "_lookups": RECOMPUTED,
    },
    verify=_verify_encoder,
    build=_stored_encoder,
)
class Encoder:
    """Learns the levels of nominal and ordered columns in `fit`, applies them in `transform`.

    Parameters
    ----------
    categorical_features : "auto", None, or an array of names, indices or booleans
        "auto" makes text, categories and mixed objects nominal and leaves numbers numeric. An array
        names columns that are nominal whatever they hold, in addition to those of "auto". None allows
        no nominal column: text is then an error.
    unknown_category : {"missing", "error"}
        What happens to a category that fit did not see: it counts as missing, or it is an error.

    Examples
    --------
    >>> from coterie.data.prepare import Encoder, read_table
    >>> encoder = Encoder().fit(read_table({"size": [1.5, 2.0, 2.5], "town": ["Oslo", "Rome", "Oslo"]}))
    >>> encoded = encoder.transform(read_table({"size": [0.5, 1.0], "town": ["Rome", "Cork"]}))
    >>> encoded.values[1], encoded.n_levels
    (array([ 1, -1], dtype=int32), array([0, 2], dtype=int32))
    """

    def __init__(
        self,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
    ) -> None:
        self.categorical_features = categorical_features
        self.unknown_category = unknown_category
        self.n_levels: CodeArray = np.zeros(0, dtype=np.int32)
        self._codings: dict[int, LevelCoding] = {}
        self._lookups: list[Lookup | None] = []

    @classmethod
    def of_codings(
        cls,
        codings: dict[int, LevelCoding],
        n_features: int,
        categorical_features: CategoricalFeatures,
        unknown_category: UnknownCategory,
    ) -> "Encoder":
        """An encoder whose levels were learned elsewhere, batch by batch."""
        encoder = cls(categorical_features, unknown_category)
        encoder._codings = codings
        encoder.n_levels = np.zeros(n_features, dtype=np.int32)
        for feature, coding in codings.items():
            if coding.kind == "nominal":
                encoder.n_levels[feature] = coding.n_codes
        return encoder

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lookups": []}

    @property
    def takes_matrix(self) -> bool:
        """Whether every feature is numeric, so that a float matrix passes as it is."""
        return not self._codings

    def levels(self, feature: int) -> AnyArray | None:
        """The levels that fit saw in a nominal or ordered feature; None for a numeric one."""
        coding = self._codings.get(feature)
        return None if coding is None else coding.levels

    def places(self, feature: int, column: Column, codes: CodeArray, levels: AnyArray) -> CodeArray:
        """The place among `levels(feature)` of each row's level, given as codes of levels of the column's own."""
        return self._codings[feature].apply(column, codes, levels, self.unknown_category)

    def codes(self, feature: int) -> CodeArray | None:
        """The code of each of `levels(feature)`; levels that share a group share a code."""
        coding = self._codings.get(feature)
        return None if coding is None else coding.code

    def lookups(self) -> list["Lookup | None"]:
        """For each feature, how a label becomes a number; None for a numeric one."""
        if len(self._lookups) != len(self.n_levels):
            self._lookups = [
                self._codings[feature].lookup() if feature in self._codings else None
                for feature in range(len(self.n_levels))
            ]
        return self._lookups

    def fit(
        self, table: Table, target: AnyArray | None = None, weight: FloatArray | None = None
    ) -> "Encoder":
        """Learn the levels; `target` and `weight` serve only to group columns of very many levels."""
        self._learn(table, target, weight)
        return self

    def fit_transform(
        self, table: Table, target: AnyArray | None = None, weight: FloatArray | None = None
    ) -> Encoded:
        """`fit`, then `transform` of the same table, looking up every label only once."""
        return self._encode(table, self._learn(table, target, weight))

    def transform(self, table: Table) -> Encoded:
        """The features of a table with the columns that fit saw, in the same order."""
        if table.n_columns != len(self.n_levels):
            raise SchemaMismatch(
                f"The table has {table.n_columns} columns; the encoder was fitted on {len(self.n_levels)}.",
                parameter="X",
                received=table.n_columns,
                allowed=f"{len(self.n_levels)} columns",
            )
        raw = raw_codes(table, list(self._codings)) if self._codings else {}
        places = {
            index: self._codings[index].apply(table.column(index), codes, levels, self.unknown_category)
            for index, (codes, levels) in raw.items()
        }
        return self._encode(table, places)

    def _learn(
        self, table: Table, target: AnyArray | None, weight: FloatArray | None
    ) -> dict[int, CodeArray]:
        """Learn the codings of columns of labels; the places of their rows' levels are known by the way."""
        if self.unknown_category not in ("missing", "error"):
            raise unexpected("unknown_category", self.unknown_category, "'missing' or 'error'")
        self.n_levels = np.zeros(table.n_columns, dtype=np.int32)
        self._codings, self._lookups = {}, []
        given = self.categorical_features
        if table.matrix is not None and (given is None or is_auto(given)):
            return {}
        nominal = nominal_columns(given, table)
        wanted = set(np.flatnonzero(nominal).tolist())
        wanted |= {index for index, column in enumerate(table.columns) if column.kind == "ordered"}
        places: dict[int, CodeArray] = {}
        for index, (codes, levels) in raw_codes(table, sorted(wanted)).items():
            name = table.label(index)
            if nominal[index]:
                coding, places[index] = LevelCoding.nominal(name, codes, levels, target, weight)
                self.n_levels[index] = coding.n_codes
            else:
                coding, places[index] = LevelCoding.ordered(name, levels), codes
            self._codings[index] = coding
        return places

    def _encode(self, table: Table, places: dict[int, CodeArray]) -> Encoded:
        matrix = table.matrix
        if matrix is not None and not places and matrix.dtype.kind == "f":
            return Encoded(matrix, table.n_rows, table.n_columns, self.n_levels)
        features = {index: self._codings[index].features(own) for index, own in places.items()}
        if matrix is not None:
            columns = list((matrix.view(np.uint8) if matrix.dtype.kind == "b" else matrix).T)
            for index, values in features.items():
                columns[index] = values
        else:
            columns = [
                features[index] if index in features else as_numbers(column)
                for index, column in enumerate(table.columns)
            ]
        fine = {index: own for index, own in places.items() if self._codings[index].is_grouped()}
        return Encoded(columns, table.n_rows, table.n_columns, self.n_levels, fine)


@dataclass(frozen=True)
class TrainingData:
    """What a fit works on: features, target and weights, and how the features were made.

    Attributes
    ----------
    weight : what each row counts: its sample weight times the weight of its class; None if all count alike
    sample_weight : as the user gave it, checked; the weights of classes are `target.row_weight`
    """

    encoded: Encoded
    encoder: Encoder
    schema: Schema
    target: Target
    weight: FloatArray | None
    sample_weight: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        return self.encoded.n_rows

    def without_rows(self, n_rows: int | None = None) -> "TrainingData":
        """What stays if every array of rows is left out, to be sent elsewhere; there are `n_rows` of them there."""
        own = self.encoded
        n_rows = own.n_rows if n_rows is None else n_rows
        return replace(
            self,
            encoded=Encoded([], n_rows, own.n_features, own.n_levels),
            target=replace(self.target, values=self.target.values[:0], row_weight=None),
            weight=None,
            sample_weight=None,
        )


def prepare_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    task: Task,
    multi_output: bool = False,
) -> TrainingData:
    """Accept what users have; return the one shape the engine takes.

    Uses the estimator's `categorical_features`, `unknown_category` and `class_weight` where it has them.
    Sets `n_features_in_` and `feature_names_in_`, and `schema_` and `encoder_` for `prepare_prediction`.
    """
    name = type(estimator).__name__
    table = read_table(X)
    given_weight = None if sample_weight is None else read_weight(sample_weight, table.n_rows)
    target = read_target(
        y,
        task=task,
        estimator_name=name,
        n_rows=table.n_rows,
        class_weight=getattr(estimator, "class_weight", None),
        weight=given_weight,
        multi_output=multi_output,
    )
    has_weights = sample_weight is not None or target.row_weight is not None
    weight = combined_weight(given_weight, target.row_weight) if has_weights else None
    encoded = _fit_encoder(estimator, X, table, target.values, weight)
    return TrainingData(encoded, estimator.encoder_, estimator.schema_, target, weight, given_weight)


def prepare_table(estimator: Any, X: Any, sample_weight: Any = None) -> tuple[Encoded, FloatArray | None]:
    """The same without a target, for what is learned from rows alone: their features and weights."""
    table = read_table(X)
    given_weight = None if sample_weight is None else read_weight(sample_weight, table.n_rows)
    weight = None if given_weight is None else combined_weight(given_weight, None)
    return _fit_encoder(estimator, X, table, None, weight), weight


def _fit_encoder(
    estimator: Any, X: Any, table: Table, target: AnyArray | None, weight: FloatArray | None
) -> Encoded:
    encoder = Encoder(
        getattr(estimator, "categorical_features", "auto"),
        getattr(estimator, "unknown_category", "missing"),
    )
    encoded = encoder.fit_transform(table, target, weight)
    if encoder.n_levels.any():
        from coterie.data.inference.number_texts import (
            warn_number_texts,  # a table of numbers does not need it
        )

        warn_number_texts(table, X)
    schema = Schema.of(table, encoder.n_levels > 0)
    schema.set_feature_names(estimator)
    estimator.schema_ = schema
    estimator.encoder_ = encoder
    return encoded


def prepare_prediction(estimator: Any, X: Any, *, column_order: ColumnOrder = "same") -> Encoded:
    """The features of new rows, as fit made them.

    A float matrix of the right width for a model without categories passes straight through.
    """
    encoder: Encoder | None = getattr(estimator, "encoder_", None)
    if encoder is None:
        check_is_fitted(estimator, "encoder_")
    assert encoder is not None
    schema: Schema = estimator.schema_
    if encoder.takes_matrix and type(X) is np.ndarray and (X.dtype == _FLOAT64 or X.dtype == _FLOAT32):
        shape = X.shape
        if len(shape) == 2 and shape[0] > 0 and shape[1] == len(schema.kinds) and X.flags.aligned:
            if schema.names is not None:
                _warn_no_names(estimator)
            return Encoded(X, shape[0], shape[1], encoder.n_levels)
    few = encode_few(encoder, schema, X)
    if few is not None:
        return few
    table = schema.check(read_table(X), type(estimator).__name__, column_order=column_order)
    return encoder.transform(table)


def _warn_no_names(estimator: Any) -> None:
    warn_user(
        f"X does not have valid feature names, but {type(estimator).__name__} was fitted with feature names"
    )


def read_table(X: Any) -> Table:
    """Read the user's table.

    Accepts numpy arrays of any type and layout, lists of rows, pandas, polars, Arrow and every other data frame that
    narwhals knows, a dict of columns, and scipy's sparse matrices. It never changes what it was given, and it does not
    copy a matrix of numbers that the engine can read in place.

    Examples
    --------
    >>> table = read_table({"age": [31, None], "town": ["Oslo", "Rome"]})
    >>> table.names, [column.kind for column in table.columns]
    (('age', 'town'), ['numeric', 'nominal'])
    """
    if type(X) is np.ndarray and X.dtype.kind in NUMBER_KINDS:
        return table_of_numbers(X)
    return read_other_table(X)
