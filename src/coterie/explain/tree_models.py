"""`explain`, the method of every model that is a sum or a mean of trees."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray
from coterie.data.prepare import read_table
from coterie.data.table import Column, Table
from coterie.errors import InvalidParameter, InvalidType
from coterie.explain.explanation import Explanation
from coterie.explain.shap import ShapInputs, shap_interactions, shap_values

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
    return Explanation(values, base_values, _objects(table), names, outputs, unit, pairs)


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


def _objects(table: Table) -> AnyArray:
    data = np.empty((table.n_rows, table.n_columns), dtype=object)
    for index in range(table.n_columns):
        data[:, index] = _labels(table.column(index))
    return data


def _labels(column: Column) -> AnyArray:
    if column.levels is None:
        return column.values.astype(object)
    levels = np.empty(len(column.levels) + 1, dtype=object)  # the last one is for code -1
    levels[:-1] = column.levels
    return np.asarray(levels[column.values])
