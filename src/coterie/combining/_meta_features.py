"""The table that the final estimator learns from: what members predict, and perhaps columns of X beside it.

A data frame stays a data frame: predictions come first, under names of their own, then the columns of X as they are,
text and categories included. Arrays become arrays, sparse matrices sparse matrices, dicts dicts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from coterie._typing import FloatArray
from coterie.data.frames import eager_frame, is_frame
from coterie.errors import InvalidInput
from coterie.members.response import ResponseMethod


def features_of(predictions: FloatArray, response: ResponseMethod) -> FloatArray:
    """Answers as features: of two probabilities the second is enough; votes become the number of the class."""
    if response.is_vote:
        return response.finalize(predictions)
    if response.method == "predict_proba" and len(response.classes) == 1 and predictions.shape[1] == 2:
        return predictions[:, 1:]
    return predictions


def joined(features: FloatArray, names: Sequence[str], X: Any) -> Any:
    """Predictions and the columns of X in one table of X's own type; without X, the predictions alone."""
    if X is None:
        return features
    if sparse.issparse(X):
        return sparse.hstack([sparse.csr_array(features), X], format="csr")
    if isinstance(X, Mapping):
        _refuse_same_names(names, X)
        return {**{name: features[:, i] for i, name in enumerate(names)}, **X}
    if is_frame(X):
        frame = eager_frame(nw.to_native(X, pass_through=True))
        if all(isinstance(name, str) for name in frame.columns):
            return _joined_frame(features, names, frame)
        X = frame.to_numpy()
    array = np.asarray(X)
    if array.dtype.kind not in "biuf":
        array = np.asarray(X, dtype=object)  # text beside numbers keeps them numbers
    return np.hstack([features, array])


def _joined_frame(features: FloatArray, names: Sequence[str], frame: Any) -> Any:
    _refuse_same_names(names, frame.columns)
    added = [
        nw.new_series(name, np.ascontiguousarray(features[:, i]), backend=frame.implementation)
        for i, name in enumerate(names)
    ]
    return nw.to_native(frame.with_columns(*added).select([*names, *frame.columns]))


def _refuse_same_names(names: Sequence[str], columns: Any) -> None:
    both = sorted(set(names) & set(columns))
    if both:
        raise InvalidInput(
            f"X has a column {both[0]!r}, and so is called the prediction of a member.",
            parameter="X",
            column=str(both[0]),
            hint="Rename one of them.",
        )
