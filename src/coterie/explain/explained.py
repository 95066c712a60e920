"""`explain`, for every model that is a sum or a mean of trees."""

from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray
from coterie.data.column import Column
from coterie.data.table import Table, read_table
from coterie.errors import InvalidParameter, InvalidType
from coterie.explain.explanation import Explanation
from coterie.explain.shap import TreeGame, shap_interactions, shap_values

__all__ = ["Explained", "class_outputs"]


class Explained:
    """A model whose answers can be divided among the columns."""

    schema_: Any

    def explain(self, X: Any, *, background: Any = None, interactions: bool = False) -> Explanation:
        """What each column brought to the answers for some rows: SHAP values, exact.

        Parameters
        ----------
        X : a table with the columns of `fit`
        background : a table, default=None
            Rows to compare with: a column that is not known takes their values, one after the other. None: it lets a
            row go both ways at a split, in the shares of the training rows, which is faster.
        interactions : bool, default=False
            Whether to divide values further among pairs of columns; not with a background.

        Returns
        -------
        Explanation
            `values`, `base` and `words`. Boosting is explained in the units of its scores before the link, forests and
            trees in those of their answers.

        References
        ----------
        Lundberg, Erion and Lee, Consistent individualized feature attribution for tree ensembles (2018).
        """
        if not isinstance(interactions, bool | np.bool_):
            raise InvalidType(f"interactions={in_short(interactions)}: expected True or False.")
        if interactions and background is not None:
            raise InvalidParameter("interactions=True is for background=None: leave one of them out.")
        game = self._game_of(X, background)
        values, base = shap_values(game)
        outputs, unit = self._explained_outputs()
        table = self.schema_.check(read_table(X), type(self).__name__)
        pairs = shap_interactions(game) if interactions else None
        if game.n_outputs == 1:
            values, base = values[:, :, 0], base[:, 0]
            pairs = None if pairs is None else pairs[:, :, :, 0]
        names = tuple(table.label(column) for column in range(table.n_columns))
        return Explanation(values, base, _objects(table), names, outputs, unit, pairs)

    def _game_of(self, X: Any, background: Any) -> TreeGame:
        raise AssertionError("each kind of model says what its trees are")

    def _explained_outputs(self) -> tuple[tuple[Any, ...], str]:
        """What each output speaks of, None where there is nothing to tell apart; and what the scores are."""
        raise AssertionError("each kind of model says what its outputs are")


def class_outputs(classes: AnyArray | list[AnyArray]) -> tuple[Any, ...]:
    """The labels, also of which target where there are several."""
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
