"""A regression round by round: predictions along a column, residuals, what the next round adds, and errors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from coterie._params import Integer, unexpected
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.column_from_rows import with_column_from_rows, with_numbers
from coterie.data.parts import chosen_columns, row_indexable, rows_of, table_shape
from coterie.data.prepare import read_table
from coterie.data.target import read_target
from coterie.diagnostics.checks import check_choice, several_targets
from coterie.diagnostics.regions import PlaneAxis, plane_axis, typical_of
from coterie.diagnostics.votes import staged_predictions

_LOG_LINKS = ("poisson", "gamma", "tweedie")


@dataclass(frozen=True, repr=False, eq=False)
class FitBySteps:
    """How a regression follows its rows, before the first round and after each.

    Attributes
    ----------
    x : PlaneAxis, the column along which predictions are looked at, and where the rows are
    y : array of shape (n_rows,), the targets
    rounds : 0, 1, 2, ...; 0 is before the first round
    curves : array of shape (n_rounds + 1, len(x.values)), the prediction along the column
    predictions : array of shape (n_rounds + 1, n_rows), those of the rows
    training_error, test_error : arrays of shape (n_rounds + 1,), mean squared errors; the latter NaN without test rows
    learning_rate : float, the share of each tree that is added; 1 if the model has none

    Examples
    --------
    >>> X, y = np.arange(8.0)[:, None], np.array([0.0, 0.0, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0])
    >>> from coterie.ensemble import GradientBoostingRegressor
    >>> model = GradientBoostingRegressor(n_estimators=3, learning_rate=0.5, max_depth=1).fit(X, y)
    >>> found = fit_by_step(model, X, y)
    >>> found.training_error
    array([4.    , 1.    , 0.25  , 0.0625])
    >>> found.residuals(1), found.next_tree(1)[[0, -1]]
    (array([-1., -1., -1., -1.,  1.,  1.,  1.,  1.]), array([-1.,  1.]))
    """

    x: PlaneAxis
    y: FloatArray
    rounds: RowArray
    curves: FloatArray
    predictions: FloatArray
    training_error: FloatArray
    test_error: FloatArray
    learning_rate: float

    def residuals(self, number: int) -> FloatArray:
        """Targets minus predictions after so many rounds."""
        return np.asarray(self.y - self.predictions[self._checked(number)])

    def next_tree(self, number: int) -> FloatArray:
        """What the next round learned, along the column: its step divided by the learning rate; NaN after the last."""
        number = self._checked(number)
        if number == len(self.rounds) - 1:
            return np.full(self.curves.shape[1], np.nan)
        return np.asarray((self.curves[number + 1] - self.curves[number]) / self.learning_rate)

    @property
    def best_round(self) -> int | None:
        """After how many rounds the error on test rows is least; None without test rows."""
        return None if np.isnan(self.test_error).all() else int(np.nanargmin(self.test_error))

    def _checked(self, number: int) -> int:
        rule = Integer(0, len(self.rounds) - 1)
        if not rule.accepts(number):
            raise unexpected("number", number, rule.describe())
        return int(number)

    def __repr__(self) -> str:
        return f"FitBySteps({self.x.name}, {len(self.y):,} rows, {len(self.rounds) - 1} rounds)"


def fit_by_step(
    model: Any,
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    column: Any = 0,
    resolution: int = 200,
) -> FitBySteps:
    """What a boosted regression predicts after each round.

    Parameters
    ----------
    model : a fitted regressor of one target with rounds, or with members that can predict without the others
    X, y : its training rows
    X_test, y_test : rows that it was not fitted to, or None
        Default None: without them there is no error on new rows to show.
    column : the column along which predictions are shown; all others hold their median or most frequent level
        Default 0: the first, which is all of a table of one column.
    resolution : int, places along a column of numbers
        Default 200: steps of trees look like steps.

    Returns
    -------
    FitBySteps

    Notes
    -----
    Before the first round stands where the model begins: `baseline_`, the first model of scikit-learn's, or else the
    mean of y.
    """
    check_choice("resolution", resolution, Integer(2, 10_000))
    check_is_fitted(model)
    if is_classifier(model):
        raise unexpected("model", model, "a fitted regressor")
    shape = table_shape(X)
    places = chosen_columns(column, X, shape, "fit_by_step").places
    if len(places) != 1:
        raise unexpected("column", column, "one column")
    X = row_indexable(X)
    table = read_table(X)
    targets = _numbers(y, shape.n_rows, model)
    axis, rows = plane_axis(X, table, places[0], resolution)
    n_places = len(axis.values)
    cells = rows_of(typical_of(X, table), np.zeros(n_places, dtype=np.int64))
    if rows is None:
        cells = with_numbers(cells, places[0], axis.values)
    else:
        cells = with_column_from_rows(cells, places[0], rows, source=X)
    start = _start(model, targets)
    curves, predictions = (_staged(model, own, n, start) for own, n in ((cells, n_places), (X, shape.n_rows)))
    test_error = np.full(len(curves), np.nan)
    if X_test is not None:
        n_test = table_shape(X_test).n_rows
        held_out = _numbers(y_test, n_test, model)
        test_error = ((_staged(model, X_test, n_test, start) - held_out) ** 2).mean(axis=1)
    return FitBySteps(
        axis,
        targets,
        np.arange(len(curves)),
        curves,
        predictions,
        ((predictions - targets) ** 2).mean(axis=1),
        test_error,
        _learning_rate(model),
    )


def error_by_round_of_numbers(model: Any, X: Any, y: Any) -> FloatArray:
    """The mean squared error of a regressor after each of its rounds, or with each number of its members."""
    n_rows = table_shape(X).n_rows
    targets = _numbers(y, n_rows, model)
    _, staged = staged_predictions(model, X, "all")
    return np.array([float(np.mean((np.asarray(own).reshape(n_rows) - targets) ** 2)) for own in staged])


def _numbers(y: Any, n_rows: int, model: Any) -> FloatArray:
    target = read_target(y, task="regression", estimator_name="fit_by_step", n_rows=n_rows, multi_output=True)
    if target.n_outputs > 1:
        raise several_targets("Steps are shown of", model, target.n_outputs)
    return np.asarray(target.values, dtype=np.float64).reshape(n_rows)


def _staged(model: Any, X: Any, n_rows: int, start: float) -> FloatArray:
    _, staged = staged_predictions(model, X, "all")
    rows = [np.asarray(own, dtype=np.float64) for own in staged]
    if any(own.size != n_rows for own in rows):
        raise several_targets("Steps are shown of", model, rows[0].size // n_rows)
    return np.stack([np.full(n_rows, start), *(own.reshape(n_rows) for own in rows)])


def _start(model: Any, y: FloatArray) -> float:
    """The prediction before the first round."""
    baseline: AnyArray = np.asarray(getattr(model, "baseline_", np.zeros(0)))
    if baseline.size == 1:
        found = float(baseline.ravel()[0])
        return float(np.exp(found)) if str(getattr(model, "loss", "")) in _LOG_LINKS else found
    first: AnyArray = np.asarray(
        getattr(getattr(model, "init_", None), "constant_", y.mean()), dtype=np.float64
    )
    return float(first.ravel()[0])


def _learning_rate(model: Any) -> float:
    """That of the fit, for models that add trees; members of other ensembles are not divided."""
    rate = getattr(model, "learning_rate", 1.0)
    is_boosting = hasattr(model, "staged_predict") and not hasattr(model, "estimator_weights_")
    return float(rate) if is_boosting and isinstance(rate, int | float | np.number) and rate > 0 else 1.0


def spread_evenly(n_stages: int, most: int) -> list[int]:
    """Some of the stages, the first and the last among them; close to each other at the beginning.

    Examples
    --------
    >>> spread_evenly(5, 10), spread_evenly(1001, 6)
    ([0, 1, 2, 3, 4], [0, 3, 15, 62, 250, 1000])
    """
    if n_stages <= most:
        return list(range(n_stages))
    return sorted(set((np.geomspace(1, n_stages, most).round().astype(int) - 1).tolist()))
