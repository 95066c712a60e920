"""Tables for learners that are not ours: checked and remembered as ours are, and handed on as they came."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from coterie._typing import FloatArray, Kind
from coterie.data.encoding import Encoded, Encoder
from coterie.data.frames import is_frame
from coterie.data.prepare import TrainingData, prepare_training
from coterie.data.schema import Schema
from coterie.data.table import Table, read_table
from coterie.data.target import read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput, SchemaMismatch


def prepare_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> TrainingData:
    """As `prepare_training`, without making a sparse matrix dense: a projection stands for what its rows hold."""
    if not sparse.issparse(X):
        return prepare_training(estimator, X, y, sample_weight, task="classification")
    n_rows, n_columns = _sparse_shape(X)
    weight = read_weight(sample_weight, n_rows)
    target = read_target(
        y,
        task="classification",
        estimator_name=type(estimator).__name__,
        n_rows=n_rows,
        class_weight=estimator.class_weight,
        weight=weight,
    )
    kinds: list[Kind] = ["numeric"] * n_columns
    schema, encoder = Schema(None, tuple(kinds)), Encoder()
    schema.set_feature_names(estimator)
    estimator.schema_, estimator.encoder_ = schema, encoder
    encoded = Encoded([_projection(X)], n_rows, 1, np.zeros(1, np.int32))
    combined = combined_weight(weight, target.row_weight)
    return TrainingData(encoded, encoder, schema, target, combined, weight)


def checked_rows(estimator: Any, X: Any) -> Encoded:
    """The number of the rows, if they have the columns that fit saw; their values are the learner's affair."""
    schema: Schema = estimator.schema_
    if sparse.issparse(X):
        n_rows, n_columns = _sparse_shape(X)
        if n_columns != schema.n_features:
            raise SchemaMismatch(
                f"X has {n_columns} features, but {type(estimator).__name__} is expecting {schema.n_features} features "
                "as input. Pass the columns that fit saw, in the same order."
            )
    else:
        n_rows = schema.check(read_table(X), type(estimator).__name__).n_rows
    return Encoded([], n_rows, 0, np.zeros(0, np.int32))


def as_given_to_learners(X: Any, schema: Schema) -> Any:
    """What every learner takes, and rows can be drawn from; tables with text stay as they are.

    Lists become arrays, a dict of columns of numbers becomes a matrix, and sparse matrices have rows.
    """
    if sparse.issparse(X):
        return X if X.format == "csr" else X.tocsr()
    if not isinstance(X, Mapping):
        return X if is_frame(X) or isinstance(X, np.ndarray) else np.asarray(X)
    table = read_table(X)
    if schema.names is not None and set(schema.names) == set(table.names or ()):
        place = {name: index for index, name in enumerate(table.names or ())}
        table = table.select([place[name] for name in schema.names])
    numeric = all(kind == "numeric" for kind in schema.kinds)
    return _matrix(table) if numeric else X


def _matrix(table: Table) -> FloatArray:
    columns = [table.column(index).values for index in range(table.n_columns)]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def _sparse_shape(X: Any) -> tuple[int, int]:
    if X.ndim != 2:
        raise InvalidInput(f"Expected 2D array, got a sparse array with {X.ndim} dimension(s) as X.")
    n_rows, n_columns = X.shape
    for size, what in ((n_rows, "sample(s)"), (n_columns, "feature(s)")):
        if size == 0:
            raise InvalidInput(
                f"Found array with 0 {what} (shape=({n_rows}, {n_columns})) while a minimum of 1 is required."
            )
    return n_rows, n_columns


def _projection(X: Any) -> FloatArray:
    directions = np.random.default_rng(0).normal(size=X.shape[1])
    return np.asarray(X.tocsr().astype(np.float64) @ directions)
