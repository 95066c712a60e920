"""Out of bag: the predictions of a forest for its training rows, each by the trees that did not draw it.

About 37 % of the trees did not draw a given row, and these are a forest that never saw it. So their predictions are
honest: their score estimates the score on new rows, without a row being set aside.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from coterie._params import in_short, is_auto
from coterie._sklearn import is_scorer
from coterie._storage import expect, storable
from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie._value_types import FLOAT_VECTOR, INTEGERS, array
from coterie.data.parts import rows_of
from coterie.errors import CoterieError, InvalidParameter
from coterie.fitting.scoring import PredictionView, named_scorer, takes_weight
from coterie.forests.tree_ranges import GrowingForest


def _verify_out_of_bag(known: Any) -> None:
    expect(len(known.means) == len(known.coverage), "has means and coverage of different rows")


@storable(
    "OutOfBag",
    {"means": array("f", 2), "coverage": INTEGERS, "errors": FLOAT_VECTOR},
    verify=_verify_out_of_bag,
)
@dataclass(frozen=True)
class OutOfBag:
    """What is known out of bag.

    Attributes
    ----------
    means : float array of shape (n_rows, n_columns), NaN for rows that no tree left out
    coverage : whole numbers of shape (n_rows,), how many trees left each row out
    errors : float array of shape (n_trees,), after each tree the share of wrong classes or the mean squared error
    """

    means: FloatArray
    coverage: AnyArray
    errors: FloatArray

    @classmethod
    def of(cls, training: GrowingForest, unit: float) -> "OutOfBag":
        counts = training.oob_counts[:, 0]
        means = training.oob_sums
        with np.errstate(invalid="ignore"):
            means /= counts[:, None]
        with np.errstate(over="ignore"):  # squares of numbers near the largest float
            return cls(means * unit, counts.astype(np.int64), training.oob_errors * unit * unit)

    def resume(self, training: GrowingForest, unit: float) -> None:
        """Let the trees of another fit to the same rows go on from here."""
        sums = np.where(self.coverage[:, None] > 0, self.means / unit * self.coverage[:, None], 0.0)
        training.resume_out_of_bag(
            np.ascontiguousarray(sums).reshape(-1),
            self.coverage.astype(np.uint32),
            self.errors / unit / unit,
        )


def oob_score(
    estimator: Any,
    X: Any,
    y: AnyArray,
    weight: FloatArray | None,
    known: OutOfBag,
    *,
    members: str = "trees",
) -> float | None:
    """The score of the out-of-bag predictions; None if it was not requested.

    `X` is None if there is no such table here, `y` the target as the user gave it, `weight` the sample weights. Rows
    without weight and rows that no tree left out take no part. `members` is what the trees are called.
    """
    wanted = estimator.oob_score
    if isinstance(wanted, bool | np.bool_) and not wanted:
        return None
    covered = known.coverage > 0
    weighty = np.ones(len(y), bool) if weight is None else weight > 0
    if not is_auto(wanted):
        _warn_of_missing(int((weighty & ~covered).sum()), int(weighty.sum()), len(known.errors), members)
    if not covered.any():
        return math.nan
    if callable(wanted) or (isinstance(wanted, str) and not is_auto(wanted)):
        return _chosen_score(estimator, X, y, weight, known, covered)
    predicted = estimator._response_functions()["predict"](known.means[covered])
    own_weight = None if weight is None else weight[covered]
    if estimator._task == "classification":
        right = (predicted == y[covered]).reshape(len(predicted), -1).all(axis=1)
        return float(np.average(right, weights=own_weight))
    return float(r2_score(y[covered], predicted, sample_weight=own_weight)) if covered.sum() > 1 else math.nan


def _warn_of_missing(n_missing: int, n_rows: int, n_trees: int, members: str) -> None:
    if n_missing:
        warnings.warn(
            "Some inputs do not have OOB scores. This probably means too few estimators were used to compute any "
            f"reliable oob estimates: {n_missing} of {n_rows} rows were drawn by each of the {n_trees} {members}, so "
            f"nothing is known of them out of bag. They are NaN there, and are left out of oob_score_.",
            UserWarning,
            stacklevel=4,
        )


def _chosen_score(
    estimator: Any, X: Any, y: AnyArray, weight: FloatArray | None, known: OutOfBag, covered: BoolArray
) -> float:
    """By the name of a scorer, by a scorer, or by a function of true and predicted targets."""
    wanted = estimator.oob_score
    scorer = named_scorer(wanted, estimator) if isinstance(wanted, str) else wanted
    weights = {"sample_weight": weight[covered]} if weight is not None and takes_weight(scorer) else {}
    rows = None if X is None else rows_of(X, np.flatnonzero(covered))
    view = PredictionView(estimator, known.means[covered], rows, parameter="oob_score")
    try:
        if is_scorer(scorer):
            return float(scorer(view, rows, y[covered], **weights))
        return float(scorer(y[covered], view.predict(rows), **weights))
    except CoterieError:
        raise
    except Exception as error:
        raise InvalidParameter(
            f"oob_score={in_short(wanted)} cannot score the {int(covered.sum())} rows that were out of bag: "
            f"{type(error).__name__}: {error}",
            parameter="oob_score",
            received=wanted,
        ) from error


def required_oob(estimator: Any, known: OutOfBag | None, what: str) -> OutOfBag:
    """What is known out of bag, or an error with a hint how to have it."""
    if known is None:
        raise AttributeError(
            f"{what} is not known: this {type(estimator).__name__} was fitted without out-of-bag predictions. "
            "Fit it with bootstrap=True and oob_score=True."
        )
    return known
