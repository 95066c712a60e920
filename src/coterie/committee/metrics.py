"""What a committee is scored by: the loss of rows, or any scorer of scikit-learn; greater is better, with an error.

The log loss and the squared error are means over rows, so their errors are those of means. Of any other score the error
is found by the jackknife: the score without each of twenty parts of the rows. Rows of one group stay together in both.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray, Task
from coterie._value_types import FLOATS, INTEGERS, NONE, array
from coterie.combining.greedy import LogLossOfMean, ScoreOfMean, SelectionLoss, SquaredErrorOfMean
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.scoring import PredictionScorer
from coterie.members.decision_rule import Objective, cross_fitted_decisions, parts_of_rows
from coterie.members.oof_score import Score
from coterie.metrics import PredictedRows, metric_of_predictions

_PARTS = 20
_LEAST = float(np.finfo(np.float64).eps)


@storable("committee.Rows", {"truth": array("fiu", 1), "weight": FLOATS, "groups": INTEGERS | NONE})
@dataclass(frozen=True)
class RowTargets:
    """The true targets of some rows, codes of classes or numbers; their weights, and their groups if there are any."""

    truth: AnyArray
    weight: FloatArray
    groups: AnyArray | None = None

    def take(self, rows: AnyArray) -> "RowTargets":
        groups = None if self.groups is None else self.groups[rows]
        return RowTargets(self.truth[rows], self.weight[rows], groups)


class Metric(Protocol):
    """Scores predictions of shape (n_rows, n_columns)."""

    @property
    def name(self) -> str: ...

    @property
    def most_rows(self) -> int:
        """Rows that weights are chosen by, at most."""

    @property
    def chosen_by(self) -> "Metric":
        """What weights are chosen by: itself, or one that is less noisy."""

    def evaluator(self, library: FloatArray, rows: RowTargets) -> SelectionLoss:
        """What a greedy choice from predictions of shape (n_members, n_rows, n_columns) computes after each step."""

    def value(self, predictions: FloatArray, rows: RowTargets) -> float: ...

    def score(self, predictions: FloatArray, rows: RowTargets) -> Score: ...


class _MeanLoss:
    """Minus a mean of losses of rows."""

    name: str
    most_rows = 50_000

    @property
    def chosen_by(self) -> Any:
        return self

    def losses(self, predictions: FloatArray, truth: AnyArray) -> FloatArray:
        raise AssertionError("each metric defines the loss of a row")

    def value(self, predictions: FloatArray, rows: RowTargets) -> float:
        return float(-(rows.weight @ self.losses(predictions, rows.truth)) / rows.weight.sum())

    def score(self, predictions: FloatArray, rows: RowTargets) -> Score:
        losses = self.losses(predictions, rows.truth)
        return mean_with_error(-losses, rows)


def mean_with_error(values: FloatArray, rows: RowTargets) -> Score:
    """A weighted mean, and its standard error; rows of one group err together.

    Examples
    --------
    >>> rows = RowTargets(np.zeros(4), np.ones(4), np.array([0, 0, 1, 1]))
    >>> score = mean_with_error(np.array([1.0, 1.0, 3.0, 3.0]), rows)
    >>> score.value, round(score.error, 6)
    (2.0, 1.0)
    """
    total = rows.weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        middle = float(rows.weight @ values / total)
        off = rows.weight * (values - middle)
        if rows.groups is not None:
            off = np.bincount(rows.groups, weights=off)[np.unique(rows.groups)]
        n = len(off) if rows.groups is not None else int((rows.weight > 0).sum())
        if n < 2:
            return Score(middle, float("nan"))
        return Score(middle, float(np.sqrt((off**2).sum() * n / (n - 1)) / total))


class LogLossMetric(_MeanLoss):
    """Minus the log loss of probabilities."""

    name = "neg_log_loss"

    def evaluator(self, library: FloatArray, rows: RowTargets) -> SelectionLoss:
        return LogLossOfMean(library, rows.truth, rows.weight)

    def losses(self, predictions: FloatArray, truth: AnyArray) -> FloatArray:
        of_true_class = predictions[np.arange(len(truth)), truth]
        return -np.log(np.maximum(of_true_class, _LEAST))


class SquaredErrorMetric(_MeanLoss):
    """Minus the squared error."""

    name = "neg_mean_squared_error"

    def evaluator(self, library: FloatArray, rows: RowTargets) -> SelectionLoss:
        unit = _unit(rows.truth)
        return SquaredErrorOfMean(library / unit, rows.truth[:, None] / unit, rows.weight)

    def losses(self, predictions: FloatArray, truth: AnyArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray((truth - predictions[:, 0]) ** 2)


def _unit(truth: AnyArray) -> float:
    """A power of two, by which numbers whose squares are no floats are divided."""
    largest = float(np.abs(truth).max(initial=0.0))
    moderate = largest == 0 or 1e-100 < largest < 1e100
    return 1.0 if moderate else 2.0 ** max(-1000, math.frexp(largest)[1] - 1)


class ScorerMetric:
    """A scorer of scikit-learn.

    Parameters
    ----------
    scorer : scores raw predictions
    labels : the target as the user gave it, from that of `RowTargets`
    task : "classification" or "regression"
    """

    most_rows = 10_000

    def __init__(self, scorer: PredictionScorer, labels: Callable[[AnyArray], AnyArray], task: Task) -> None:
        self._scorer, self._labels, self._task = scorer, labels, task

    @property
    def name(self) -> str:
        return self._scorer.name

    @property
    def chosen_by(self) -> Metric:
        return self

    def evaluator(self, library: FloatArray, rows: RowTargets) -> SelectionLoss:
        """Scores of a greedy choice: thousands of them, so by our own function of a metric if there is one.

        It takes a tenth of the time of scikit-learn's, whose checks of what it is given are most of its work.
        """
        n_columns = library.shape[2]
        metric = metric_of_predictions(self.name, n_columns if self._task == "classification" else None)
        if metric is None:
            return ScoreOfMean(library, lambda predictions: self.value(predictions, rows))
        sign, of_weights = 1.0 if metric.greater_is_better else -1.0, metric.of_weights

        def score(predictions: FloatArray) -> float:
            own = PredictedRows(rows.truth, predictions[:, 0], predictions, n_columns)
            found = sign * of_weights(own)(rows.weight)
            return (
                found if math.isfinite(found) else self.value(predictions, rows)
            )  # which says why it is not

        return ScoreOfMean(library, score)

    def value(self, predictions: FloatArray, rows: RowTargets) -> float:
        return self._scorer.score(predictions, self._labels(rows.truth), rows.weight)

    def score(self, predictions: FloatArray, rows: RowTargets) -> Score:
        part = (np.arange(len(predictions)) if rows.groups is None else rows.groups) % _PARTS
        parts = np.unique(part)
        found = self.value(predictions, rows)
        if len(parts) < 2:
            return Score(found, float("nan"))
        try:
            without = [self.value(predictions[part != own], rows.take(part != own)) for own in parts]
        except (InvalidInput, InvalidParameter):  # a part holds all rows of a class
            return Score(found, float("nan"))
        return Score(found, _jackknife_error(without))


class ThresholdMetric:
    """A score of decisions by a threshold, which is tuned to it: of each fifth of the rows by the others.

    Weights are chosen by the log loss, because a mean with better probabilities has better decisions at its threshold,
    and the score of decisions about few positive rows is too noisy to choose by.

    Parameters
    ----------
    objective : the score
    positive : the place of the positive class
    class_weights : what the weights of rows were multiplied by, for each class, or None: decisions count without them
    """

    most_rows = 50_000
    chosen_by = LogLossMetric()

    def __init__(self, objective: Objective, positive: int, class_weights: FloatArray | None = None) -> None:
        self._objective, self._positive, self._class_weights = objective, positive, class_weights

    @property
    def name(self) -> str:
        return str(self._objective)

    def evaluator(self, library: FloatArray, rows: RowTargets) -> SelectionLoss:
        return self.chosen_by.evaluator(library, rows)

    def value(self, predictions: FloatArray, rows: RowTargets) -> float:
        weight, positive, decided = self._decided(predictions, rows)
        return self._objective.score(positive, decided, weight)

    def score(self, predictions: FloatArray, rows: RowTargets) -> Score:
        weight, positive, decided = self._decided(predictions, rows)
        found = self._objective.score(positive, decided, weight)
        part = (np.arange(len(predictions)) if rows.groups is None else rows.groups) % _PARTS
        parts = np.unique(part)
        if len(parts) < 2:
            return Score(found, float("nan"))
        without = [
            self._objective.score(positive[part != own], decided[part != own], weight[part != own])
            for own in parts
        ]
        return Score(found, _jackknife_error(without))

    def _decided(self, predictions: FloatArray, rows: RowTargets) -> tuple[FloatArray, AnyArray, AnyArray]:
        weight = unweighted(rows, self._class_weights)
        positive = rows.truth == self._positive
        part = parts_of_rows(len(predictions), rows.groups)
        own = predictions[:, self._positive]
        return weight, positive, cross_fitted_decisions(own, positive, weight, self._objective, part)


def unweighted(rows: RowTargets, class_weights: FloatArray | None) -> FloatArray:
    """The weights of rows without those of their classes."""
    if class_weights is None:
        return rows.weight
    of_rows = class_weights[rows.truth]
    return np.divide(rows.weight, of_rows, out=np.zeros(len(of_rows)), where=of_rows > 0)


def _jackknife_error(without: list[float]) -> float:
    """The standard error of a score, from those without each of some parts of the rows."""
    n_parts = len(without)
    return float(np.sqrt(np.sum((np.array(without) - np.mean(without)) ** 2) * (n_parts - 1) / n_parts))
