"""`explain`, the method of every model that is a sum or a mean of trees, and SHAP values of a forest as arrays.

The values of features that `TargetStatistics` made are divided among the columns that they were made from.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

import coterie._engine as _engine
from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.data.encoding import Encoded
from coterie.data.prepare import read_table
from coterie.errors import InvalidParameter, InvalidType
from coterie.explain.cells import cells_of
from coterie.explain.explanation import Explanation


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


ExplainedOutputs: TypeAlias = Callable[[], tuple[tuple[Any, ...], str]]


class TreeModel(Protocol):
    """What `explain` needs of a model, which takes it as a method: `explain = explain_trees` in the class."""

    schema_: Any

    def _shap_inputs(self, X: Any, background: Any) -> ShapInputs:
        """The trees, and the rows as they see them."""
        ...

    def _explained_outputs(self) -> tuple[tuple[Any, ...], str]:
        """The label of each output, None where there is only one; and what the predictions are, such as "log-odds"."""
        ...


def explain(self: TreeModel, X: Any, *, background: Any = None, interactions: bool = False) -> Explanation:
    """The contribution of each column to the predictions for some rows: exact SHAP values.

    Parameters
    ----------
    X : a table with the columns of `fit`
    background : a table, default=None
        Rows to compare with: an unknown column takes their values, one after the other (interventional SHAP). None: a
        row goes both ways at a split on an unknown column, in the shares of the training rows (path-dependent SHAP),
        which is faster.
    interactions : bool, default=False
        Whether to divide contributions further among pairs of columns; not with a background.

    Returns
    -------
    Explanation
        `values`, `base_values` and `to_text`. Boosting is explained in the units of its raw predictions, before the
        link; forests and trees in those of their predictions.

    References
    ----------
    Lundberg, Erion and Lee, Consistent individualized feature attribution for tree ensembles (2018).
    """
    _check_interactions(interactions, background)
    inputs = self._shap_inputs(X, background)
    values, base_values = shap_values(inputs)
    outputs, unit = self._explained_outputs()
    table = self.schema_.check(read_table(X), type(self).__name__)
    pairs = shap_interactions(inputs) if interactions else None
    if inputs.n_outputs == 1:
        values, base_values = values[:, :, 0], base_values[:, 0]
        pairs = None if pairs is None else pairs[:, :, :, 0]
    names = tuple(table.label(column) for column in range(table.n_columns))
    return Explanation(
        values,
        base_values,
        cells_of(X, table),
        names,
        outputs,
        unit,
        pairs,
        probabilities=_probabilities(self, base_values + values.sum(axis=1), unit),
        base_probabilities=_probabilities(self, base_values, unit),
    )


def _probabilities(model: Any, raw: FloatArray, unit: str) -> FloatArray | None:
    """What raw predictions of classes are as probabilities, in the shape of the raw predictions; None for others."""
    if unit == "probability" or not hasattr(model, "classes_") or not hasattr(model, "_probabilities"):
        return None
    proba = model._probabilities(raw.reshape(len(raw), -1))
    if isinstance(proba, list):  # of labels, those of the second class
        seconds = np.column_stack([own[:, 1] for own in proba if own.shape[1] > 1])
        return seconds[:, 0] if raw.ndim == 1 else seconds
    proba = np.asarray(proba)
    return np.asarray(proba[:, -1] if raw.ndim == 1 else proba)


def _check_interactions(interactions: Any, background: Any) -> None:
    if not isinstance(interactions, bool | np.bool_):
        raise InvalidType.expecting(
            f"interactions={in_short(interactions)}", "True or False", "interactions", interactions
        )
    if interactions and background is not None:
        raise InvalidParameter(
            "interactions=True is for background=None.",
            parameter="interactions",
            received=interactions,
            allowed="False with a background",
            hint="Leave one of them out.",
        )


def class_outputs(classes: AnyArray | list[AnyArray]) -> tuple[Any, ...]:
    """The labels, with the number of their target where there are several."""
    if not isinstance(classes, list):
        return tuple(classes.tolist())
    return tuple(f"y{place}: {label}" for place, own in enumerate(classes) for label in own.tolist())


def exact_values(model: Any, X: Any, background: Any, unit: str) -> tuple[FloatArray, FloatArray] | None:
    """Interventional SHAP values of shape (n_rows, n_columns, n_outputs) and base values of shape (n_outputs,).

    None if they are not exact in this unit: the model is no sum of trees in it, its leaves hold linear models, it has
    features made of columns, whose joint contribution is not the sum of theirs, or it starts from another model.
    """
    trees = getattr(model, "_trees", None) or model  # bagging of plain trees holds them as a forest
    if not hasattr(trees, "_shap_inputs") or getattr(trees, "init_", None):
        return None
    if trees._explained_outputs()[1] != unit:
        return None
    inputs: ShapInputs = trees._shap_inputs(X, background)
    if inputs.made_from or _has_linear_leaves(inputs.forest):
        return None
    values, base_values = shap_values(inputs)
    return values, base_values[0]


def _has_linear_leaves(forest: Any) -> bool:
    if isinstance(forest, _engine.PackedForest):
        return False
    return any(len(forest.tree(place).linear_first_term) > 0 for place in range(len(forest)))


def gains_of(model: Any) -> FloatArray | None:
    """`feature_importances_` of a model, None if it has none."""
    gains = getattr(model, "feature_importances_", None)
    return None if gains is None else np.asarray(gains, dtype=np.float64)
