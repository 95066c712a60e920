"""SHAP values of a forest, as arrays.

Features that `TargetStatistics` made are put back to the columns that they were made from.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray
from coterie.data.encoding import Encoded

__all__ = ["TreeGame", "shap_interactions", "shap_values"]


@dataclass(frozen=True)
class TreeGame:
    """Trees, the rows to explain, and what else makes up a score.

    Attributes
    ----------
    forest : the engine's Forest or PackedForest
    encoded : the features of the rows
    scale : what the sum of the trees' answers is multiplied with
    start : float array of shape (n_rows, n_outputs) or (n_outputs,), added to it
    made_from : for each feature beyond the columns of the table, the columns it was made from
    n_threads : int
    background : the features of other rows, or None for the path-dependent game
    """

    forest: Any
    encoded: Encoded
    scale: float
    start: FloatArray
    n_columns: int
    n_threads: int
    made_from: Sequence[tuple[int, ...]] = field(default=())
    background: Encoded | None = None

    @property
    def n_outputs(self) -> int:
        packed = isinstance(self.forest, _engine.PackedForest)
        return int(self.forest.n_columns if packed else self.forest.n_outputs)


def shap_values(game: TreeGame) -> tuple[FloatArray, FloatArray]:
    """Values of shape (n_rows, n_columns, n_outputs), and what is expected, of shape (n_rows, n_outputs)."""
    n_features = game.encoded.n_features
    out = np.zeros((game.encoded.n_rows, game.n_outputs, n_features + 1))
    encoded, flat = game.encoded, out.reshape(-1)
    if game.background is None:
        _engine.add_shap_values(game.forest, encoded.values, encoded.n_levels, flat, game.n_threads)
    else:
        _engine.add_interventional_values(
            game.forest, encoded.values, game.background.values, encoded.n_levels, flat, game.n_threads
        )
    out *= game.scale
    values = out[:, :, : game.n_columns].copy()
    for place, columns in enumerate(game.made_from, start=game.n_columns):
        for column in columns:
            values[:, :, column] += out[:, :, place] / len(columns)
    return values.swapaxes(1, 2), out[:, :, -1] + game.start


def shap_interactions(game: TreeGame) -> FloatArray:
    """Interaction values of shape (n_rows, n_columns, n_columns, n_outputs); rows of a matrix add up to the values."""
    n_features = game.encoded.n_features
    out = np.zeros((game.encoded.n_rows, game.n_outputs, n_features + 1, n_features + 1))
    encoded = game.encoded
    _engine.add_shap_interactions(
        game.forest, encoded.values, encoded.n_levels, out.reshape(-1), game.n_threads
    )
    belongs = np.zeros((n_features, game.n_columns))
    belongs[range(game.n_columns), range(game.n_columns)] = 1.0
    for place, columns in enumerate(game.made_from, start=game.n_columns):
        belongs[place, list(columns)] = 1.0 / len(columns)
    inside = out[:, :, :-1, :-1] * game.scale
    if game.made_from:
        inside = np.einsum("nkab,ac,bd->nkcd", inside, belongs, belongs)
    return np.moveaxis(inside, 1, 3)
