"""What single models tell a committee: predictions of rows that they left out, and the rows they are fitted to."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.committee.fold_features import FeaturedModel
from coterie.committee.numeric_pipeline import NumericPipelineClassifier, NumericPipelineRegressor
from coterie.members.weight_parameter import takes_weight


def left_out_predictions(model: Any, classes: AnyArray | None) -> FloatArray:
    """What a model predicts for rows that it left out, shape (n_rows, n_columns); NaN where it cannot."""
    model = model.model if isinstance(model, FeaturedModel) else model
    # Boosters and networks that left folds out; else trees that left bags out.
    out_of_fold = hasattr(model, "oof_prediction_" if classes is None else "oof_proba_")
    if classes is None:
        predicted = model.oof_prediction_ if out_of_fold else model.oob_prediction_
        return np.asarray(predicted, dtype=np.float64).reshape(-1, 1)
    proba = np.asarray(model.oof_proba_ if out_of_fold else model.oob_decision_function_, dtype=np.float64)
    full = np.zeros((len(proba), len(classes)))
    full[:, np.searchsorted(classes, model.classes_)] = proba
    return full


def takes_weights(estimator: Any) -> bool:
    """Whether a member can be told how often rows count, also if it is fitted to the matrix of a table."""
    on_matrix = isinstance(estimator, NumericPipelineClassifier | NumericPipelineRegressor)
    return takes_weight(estimator.estimator if on_matrix else estimator)


def sampled_rows(rows: RowArray, most: int, seed: int, labels: AnyArray | None) -> RowArray:
    """A sample of rows if there are too many; at least one row of every class stays.

    Examples
    --------
    >>> len(sampled_rows(np.arange(100), 10, seed=0, labels=None))
    10
    """
    if len(rows) <= most:
        return rows
    drawn = np.random.default_rng(seed).choice(rows, most, replace=False, shuffle=False)
    if labels is not None:
        of_rows, first = np.unique(labels[rows], return_index=True)
        if len(np.unique(labels[drawn])) < len(of_rows):
            drawn = np.union1d(drawn, rows[first])
    return np.sort(drawn)
