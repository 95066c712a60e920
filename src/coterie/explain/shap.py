"""SHAP values of a forest, as arrays.

The values of features that `TargetStatistics` made are divided among the columns that they were made from.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray
from coterie.data.encoding import Encoded


@dataclass(frozen=True)
class ShapInputs:
    """Trees, the rows to explain, and what else a prediction is made of.

    Attributes
    ----------
    forest : the engine's Forest or PackedForest
    encoded : the features of the rows
    scale : what the sum of the trees' predictions is multiplied with
    baseline : float array of shape (n_rows, n_outputs) or (n_outputs,), added to it
    n_columns : int, of the table
    n_threads : int
    made_from : for each feature beyond the columns of the table, the columns it was made from
    background : the features of other rows for interventional values, or None for path-dependent ones
    """

    forest: Any
    encoded: Encoded
    scale: float
    baseline: FloatArray
    n_columns: int
    n_threads: int
    made_from: Sequence[tuple[int, ...]] = field(default=())
    background: Encoded | None = None

    @property
    def n_outputs(self) -> int:
        packed = isinstance(self.forest, _engine.PackedForest)
        return int(self.forest.n_columns if packed else self.forest.n_outputs)


def shap_values(inputs: ShapInputs) -> tuple[FloatArray, FloatArray]:
    """Values of shape (n_rows, n_columns, n_outputs), and base values of shape (n_rows, n_outputs)."""
    n_features = inputs.encoded.n_features
    out = np.zeros((inputs.encoded.n_rows, inputs.n_outputs, n_features + 1))
    encoded, flat = inputs.encoded, out.reshape(-1)
    if inputs.background is None:
        _engine.add_shap_values(inputs.forest, encoded.values, encoded.n_levels, flat, inputs.n_threads)
    else:
        _engine.add_interventional_values(
            inputs.forest, encoded.values, inputs.background.values, encoded.n_levels, flat, inputs.n_threads
        )
    out *= inputs.scale
    values = out[:, :, : inputs.n_columns].copy()
    for place, columns in enumerate(inputs.made_from, start=inputs.n_columns):
        for column in columns:
            values[:, :, column] += out[:, :, place] / len(columns)
    return values.swapaxes(1, 2), out[:, :, -1] + inputs.baseline


def shap_interactions(inputs: ShapInputs) -> FloatArray:
    """Interaction values of shape (n_rows, n_columns, n_columns, n_outputs); rows of a matrix add up to the values."""
    n_features = inputs.encoded.n_features
    out = np.zeros((inputs.encoded.n_rows, inputs.n_outputs, n_features + 1, n_features + 1))
    encoded = inputs.encoded
    _engine.add_shap_interactions(
        inputs.forest, encoded.values, encoded.n_levels, out.reshape(-1), inputs.n_threads
    )
    belongs = np.zeros((n_features, inputs.n_columns))
    belongs[range(inputs.n_columns), range(inputs.n_columns)] = 1.0
    for place, columns in enumerate(inputs.made_from, start=inputs.n_columns):
        belongs[place, list(columns)] = 1.0 / len(columns)
    inside = out[:, :, :-1, :-1] * inputs.scale
    if inputs.made_from:
        inside = np.einsum("nkab,ac,bd->nkcd", inside, belongs, belongs)
    return np.moveaxis(inside, 1, 3)
