"""The way in: everything that `fit` and `predict` do with the user's data before the engine sees it."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._typing import FloatArray, Task
from coterie.data.encoding import Encoded, Encoder
from coterie.data.few_rows import encode_few
from coterie.data.schema import ColumnOrder, Schema
from coterie.data.table import read_table
from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight

__all__ = ["TrainingData", "prepare_prediction", "prepare_training"]

_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)


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
    encoder = Encoder(
        getattr(estimator, "categorical_features", "auto"),
        getattr(estimator, "unknown_category", "missing"),
    )
    encoded = encoder.fit_transform(table, target.values, weight)
    schema = Schema.of(table, encoder.n_levels > 0)
    schema.set_feature_names(estimator)
    estimator.schema_ = schema
    estimator.encoder_ = encoder
    return TrainingData(encoded, encoder, schema, target, weight, given_weight)


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
    warnings.warn(
        f"X does not have valid feature names, but {type(estimator).__name__} was fitted with feature names",
        UserWarning,
        stacklevel=4,
    )
