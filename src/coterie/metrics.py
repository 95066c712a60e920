"""Metrics by one set of names, for `scoring=`, leaderboards, `coterie evaluate`, quality gates and reports.

A metric is shown as it is: an error is positive, and in the units of the target. Which way is better is part of its
description. scikit-learn's names of the same metrics, such as `roc_auc` or `neg_root_mean_squared_error`, are accepted
wherever these are.

The functions take the weights of rows last and alone, so that a bootstrap is a loop over counts. scikit-learn's metrics
are their slow twins in the tests.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    get_scorer,
    get_scorer_names,
    make_scorer,
)

from coterie._typing import AnyArray, FloatArray, Task

WeightedMetric: TypeAlias = Callable[[FloatArray], float]
Unit: TypeAlias = Literal["target", "share", "none"]

_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class PredictedRows:
    """The targets of some rows, and their predictions.

    Attributes
    ----------
    truth : codes of classes, or numbers
    predicted : in the same form
    proba : array of shape (n_rows, n_classes), or None
    n_classes : None for numbers
    """

    truth: AnyArray
    predicted: AnyArray
    proba: FloatArray | None = None
    n_classes: int | None = None


@dataclass(frozen=True)
class NamedMetric:
    """A measure of how good predictions are.

    Attributes
    ----------
    name : str
    label : str, its name in a sentence
    scorers : scikit-learn's names of the same metric; the first is for two classes or numbers, `of_several` for more
    greater_is_better : bool
    task : "classification" or "regression"
    of_weights : from rows to a function of their weights; NaN if it cannot be computed from these rows
    unit : what it is measured in
    needs_proba : whether it is a metric of probabilities
    of_several : scikit-learn's scorer for more than two classes; None if there is no such metric
    """

    name: str
    label: str
    scorers: tuple[str, ...]
    greater_is_better: bool
    task: Task
    of_weights: Callable[[PredictedRows], WeightedMetric]
    unit: Unit = "none"
    needs_proba: bool = False
    of_several: str | None = None

    @property
    def arrow(self) -> str:
        """Which way is better."""
        return "↑" if self.greater_is_better else "↓"

    def fits(self, n_classes: int | None) -> bool:
        """Whether it is one of predictions of so many classes; None for numbers."""
        if n_classes is None or self.task == "regression":
            return (n_classes is None) == (self.task == "regression")
        return n_classes < 3 or self.of_several is not None


def _mean_of(values: FloatArray) -> WeightedMetric:
    return lambda weight: float(weight @ values / weight.sum())


def _errors(rows: PredictedRows) -> FloatArray:
    return np.asarray(np.abs(rows.truth - rows.predicted), dtype=np.float64)


def _rmse(rows: PredictedRows) -> WeightedMetric:
    squares = _errors(rows) ** 2
    return lambda weight: float(np.sqrt(weight @ squares / weight.sum()))


def _r2(rows: PredictedRows) -> WeightedMetric:
    truth, squares = rows.truth, _errors(rows) ** 2

    def explained(weight: FloatArray) -> float:
        middle = weight @ truth / weight.sum()
        spread = weight @ (truth - middle) ** 2
        return float(1 - weight @ squares / spread) if spread > 0 else math.nan

    return explained


def _median_error(rows: PredictedRows) -> WeightedMetric:
    errors = np.sort(_errors(rows), kind="stable")
    order = np.argsort(_errors(rows), kind="stable")

    def median(weight: FloatArray) -> float:
        reached = np.cumsum(weight[order])
        half = reached[-1] / 2
        places = [np.searchsorted(reached, half, side) for side in ("left", "right")]
        return float(np.mean(errors[np.minimum(places, len(errors) - 1)]))

    return median


def _right(rows: PredictedRows) -> FloatArray:
    return np.asarray(rows.truth == rows.predicted, dtype=np.float64)


def _balanced_accuracy(rows: PredictedRows) -> WeightedMetric:
    right, n_classes = _right(rows), rows.n_classes or 1

    def balanced(weight: FloatArray) -> float:
        there = np.bincount(rows.truth, weight, minlength=n_classes)
        known = np.bincount(rows.truth, weight * right, minlength=n_classes)
        return float((known[there > 0] / there[there > 0]).mean())

    return balanced


def _f1(rows: PredictedRows) -> WeightedMetric:
    right, n_classes = _right(rows), rows.n_classes or 1

    def f1(weight: FloatArray) -> float:
        there, named = (
            np.bincount(codes, weight, minlength=n_classes) for codes in (rows.truth, rows.predicted)
        )
        both = np.bincount(rows.truth, weight * right, minlength=n_classes)
        scores = np.divide(2 * both, there + named, out=np.zeros(n_classes), where=there + named > 0)
        return float(scores[1] if n_classes == 2 else scores.mean())

    return f1


def _log_loss(rows: PredictedRows) -> WeightedMetric:
    assert rows.proba is not None
    of_true_class = rows.proba[np.arange(len(rows.truth)), rows.truth]
    return _mean_of(-np.log(np.clip(of_true_class, _LEAST, 1.0)))


def _brier(rows: PredictedRows) -> WeightedMetric:
    assert rows.proba is not None
    n_classes = rows.proba.shape[1]
    squares = ((rows.proba - np.eye(n_classes)[rows.truth]) ** 2).sum(axis=1)
    return _mean_of(squares / 2 if n_classes == 2 else squares)


_RankMetric: TypeAlias = Callable[[FloatArray, AnyArray, AnyArray, AnyArray], float]


def _of_each_class(metric: _RankMetric) -> Callable[[PredictedRows], WeightedMetric]:
    """Of the second class of two; of several the mean of each against the others."""

    def of_weights(rows: PredictedRows) -> WeightedMetric:
        assert rows.proba is not None
        n_classes = rows.proba.shape[1]
        codes = [n_classes - 1] if n_classes < 3 else range(n_classes)
        ranked = [(rows.truth == code, *_order_of(rows.proba[:, code])) for code in codes]
        return lambda weight: float(np.mean([metric(weight, *own) for own in ranked]))

    return of_weights


def _order_of(score: FloatArray) -> tuple[AnyArray, AnyArray]:
    """Rows from the highest score down, and where rows of one score end.

    Rows of one score are counted together, so their order does not matter, and the sort that numpy does by vectors,
    which is eight times as fast as a stable one, will do.
    """
    order = np.argsort(-score)
    return order, np.flatnonzero(np.append(np.diff(score[order]) != 0, True))


def _counts(
    weight: FloatArray, positive: AnyArray, order: AnyArray, ends: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """True positives and false positives among the rows with at least each score."""
    sorted_weight = weight[order]
    true_positives = np.cumsum(sorted_weight * positive[order])[ends]
    return true_positives, np.cumsum(sorted_weight)[ends] - true_positives


def _auc(weight: FloatArray, positive: AnyArray, order: AnyArray, ends: AnyArray) -> float:
    """The probability that a positive row has a higher score than a negative one; a tie counts half."""
    true_positives, false_positives = _counts(weight, positive, order, ends)
    if true_positives[-1] == 0 or false_positives[-1] == 0:
        return math.nan
    steps = np.diff(false_positives, prepend=0.0)
    before = np.append(0.0, true_positives[:-1])
    return float(steps @ (true_positives + before) / 2 / true_positives[-1] / false_positives[-1])


def _average_precision(weight: FloatArray, positive: AnyArray, order: AnyArray, ends: AnyArray) -> float:
    """The mean precision over the positive rows, from the highest score down."""
    true_positives, false_positives = _counts(weight, positive, order, ends)
    if true_positives[-1] == 0:
        return math.nan
    predicted = true_positives + false_positives
    precision = np.divide(true_positives, predicted, out=np.zeros_like(true_positives), where=predicted > 0)
    return float(np.diff(true_positives, prepend=0.0) @ precision / true_positives[-1])


_CLASSES: Task = "classification"
_NUMBERS: Task = "regression"

# In the order in which they are shown.
METRICS: dict[str, NamedMetric] = {
    own.name: own
    for own in (
        NamedMetric(
            "accuracy",
            "accuracy",
            ("accuracy",),
            True,
            _CLASSES,
            lambda rows: _mean_of(_right(rows)),
            "share",
            of_several="accuracy",
        ),
        NamedMetric(
            "balanced_accuracy",
            "balanced accuracy",
            ("balanced_accuracy",),
            True,
            _CLASSES,
            _balanced_accuracy,
            "share",
            of_several="balanced_accuracy",
        ),
        NamedMetric("f1", "F1", ("f1", "f1_macro"), True, _CLASSES, _f1, of_several="f1_macro"),
        NamedMetric(
            "auc",
            "ROC AUC",
            ("roc_auc", "roc_auc_ovr"),
            True,
            _CLASSES,
            _of_each_class(_auc),
            needs_proba=True,
            of_several="roc_auc_ovr",
        ),
        NamedMetric(
            "average_precision",
            "average precision",
            ("average_precision",),
            True,
            _CLASSES,
            _of_each_class(_average_precision),
            needs_proba=True,
            of_several="average_precision",
        ),
        NamedMetric(
            "log_loss",
            "log loss",
            ("neg_log_loss",),
            False,
            _CLASSES,
            _log_loss,
            needs_proba=True,
            of_several="neg_log_loss",
        ),
        NamedMetric(
            "brier",
            "Brier score",
            ("neg_brier_score",),
            False,
            _CLASSES,
            _brier,
            needs_proba=True,
            of_several="neg_brier_score",
        ),
        NamedMetric("r2", "R² (share of variance explained)", ("r2",), True, _NUMBERS, _r2),
        NamedMetric(
            "rmse",
            "root mean squared error",
            ("neg_root_mean_squared_error", "neg_mean_squared_error"),
            False,
            _NUMBERS,
            _rmse,
            "target",
        ),
        NamedMetric(
            "mae",
            "mean absolute error",
            ("neg_mean_absolute_error",),
            False,
            _NUMBERS,
            lambda rows: _mean_of(_errors(rows)),
            "target",
        ),
        NamedMetric(
            "median_error",
            "median absolute error",
            ("neg_median_absolute_error",),
            False,
            _NUMBERS,
            _median_error,
            "target",
        ),
    )
}
_BY_SCORER = {scorer: metric for metric in METRICS.values() for scorer in metric.scorers}


def metrics_of(n_classes: int | None, *, with_proba: bool = True) -> list[NamedMetric]:
    """The metrics of so many classes, or of numbers if `n_classes` is None, in the order in which they are shown."""
    return [own for own in METRICS.values() if own.fits(n_classes) and (with_proba or not own.needs_proba)]


def metric_of_predictions(scoring: str, n_classes: int | None) -> NamedMetric | None:
    """The metric whose own function gives the score by a name, but for its sign and rounding, from predictions alone.

    None if scikit-learn's is to be used: for labels, which the estimator decides for, for a weighted median, and for
    a mean squared error, which is no root.

    Examples
    --------
    >>> metric_of_predictions("roc_auc", 2) is METRICS["auc"], metric_of_predictions("f1", 2)
    (True, None)
    """
    metric = METRICS.get(scoring) or _BY_SCORER.get(scoring)
    if metric is None or not metric.fits(n_classes) or scoring == "neg_mean_squared_error":
        return None
    if scoring not in METRICS and scoring not in (metric.scorers[0], metric.of_several):
        return None
    by_own_function = metric.needs_proba if n_classes is not None else metric.name in ("rmse", "mae", "r2")
    return metric if by_own_function else None


def metric_names(task: Task) -> list[str]:
    """The names of the metrics of a task.

    Examples
    --------
    >>> metric_names("regression")
    ['r2', 'rmse', 'mae', 'median_error']
    """
    return [name for name, own in METRICS.items() if own.task == task]


def is_metric_name(name: object) -> bool:
    """Whether it is one of our names, or of scikit-learn's."""
    return isinstance(name, str) and (name in METRICS or name in get_scorer_names())


def nearest_metric(name: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant, one of `names`, or of scikit-learn where we have none.

    Examples
    --------
    >>> [nearest_metric(name, METRICS) for name in ("rsme", "roc-auc", "neg_mean_sq_error", "max_eror")]
    ['rmse', 'auc', 'rmse', 'neg_max_error']
    """
    meant = {own: own for own in names}
    for scorer in get_scorer_names():
        own = _BY_SCORER.get(scorer)
        if own is None or own.name in meant:
            meant.setdefault(scorer, scorer if own is None else own.name)
    near = get_close_matches(name.lower(), list(meant), n=1, cutoff=0.65)
    return meant[near[0]] if near else None


def advice_about(name: object, task: Task) -> str:
    """What to write in place of a name that is no metric, or one of another task.

    Examples
    --------
    >>> advice_about("rsme", "regression")
    "Did you mean 'rmse'? Metrics for regression are r2, rmse, mae, median_error, and scikit-learn's names of scorers."
    """
    names = metric_names(task)
    near = nearest_metric(name, names) if isinstance(name, str) else None
    guess = "" if near is None or near == name else f"Did you mean {near!r}? "
    return f"{guess}Metrics for {task} are {', '.join(names)}, and scikit-learn's names of scorers."


def task_of(name: object) -> Task | None:
    """The task that a metric is for; None if it is not one of ours."""
    metric = METRICS.get(name) or _BY_SCORER.get(name) if isinstance(name, str) else None
    return None if metric is None else metric.task


# Where scikit-learn's scorers need labels 0 and 1, and ours take the second class of any two.
_OF_POSITIVE_LABEL: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "f1": (f1_score, {"zero_division": 0.0}),
    "average_precision": (
        average_precision_score,
        {"response_method": ("decision_function", "predict_proba")},
    ),
    "brier": (brier_score_loss, {"response_method": "predict_proba", "greater_is_better": False}),
}


def scorer_of(scoring: Any, classes: AnyArray | None = None) -> Any:
    """scikit-learn's scorer by its name or by ours; what is no name stays as it is.

    `classes` are the labels of a classifier: by them the scorers of several classes are chosen.
    """
    metric = METRICS.get(scoring) if isinstance(scoring, str) else None
    if metric is None:
        return get_scorer(scoring)
    if classes is not None and len(classes) > 2 and metric.of_several is not None:
        return get_scorer(metric.of_several)
    if metric.name in _OF_POSITIVE_LABEL and classes is not None and len(classes) == 2:
        function, settings = _OF_POSITIVE_LABEL[metric.name]
        return make_scorer(function, pos_label=classes[1], **settings)
    return get_scorer(metric.scorers[0])


@dataclass(frozen=True)
class ShownMetric:
    """How a score is shown whose name a model keeps: by which name, which way is better, and from which number.

    Attributes
    ----------
    name : str
    greater_is_better : bool
    is_root : whether the root of the number is shown: of a mean squared error
    """

    name: str
    greater_is_better: bool = True
    is_root: bool = False

    @property
    def arrow(self) -> str:
        return "↑" if self.greater_is_better else "↓"

    @property
    def heading(self) -> str:
        return f"{self.name} {self.arrow}"

    @property
    def direction(self) -> str:
        return "more is better" if self.greater_is_better else "less is better"

    def value(self, score: float) -> float:
        """What is shown for a score of which more is better."""
        if self.greater_is_better:
            return score
        return math.sqrt(max(-score, 0.0)) if self.is_root else 0.0 - score

    def error(self, score: float, error: float) -> float:
        """The standard error of what is shown; of a root by the delta method."""
        if not self.is_root:
            return error
        root = self.value(score)
        return error / (2 * root) if root > 0 else math.nan

    def ends(self, score: float, half_width: float) -> tuple[float, float]:
        """The ends of an interval of what is shown, the lower first, from those of the score.

        Examples
        --------
        >>> shown_metric("neg_mean_squared_error").ends(-10.0, 6.0), shown_metric("neg_max_error").ends(-3.0, 1.0)
        ((2.0, 4.0), (2.0, 4.0))
        """
        low, high = sorted((self.value(score - half_width), self.value(score + half_width)))
        if self.name not in METRICS:
            return low, high
        return (
            (low, min(high, 1.0)) if self.greater_is_better else (max(low, 0.0), high)
        )  # as metrics are bounded

    def loss(self, score: float, other: float) -> float:
        """By how much `other` is worse than `score`, in what is shown."""
        lost = self.value(score) - self.value(other)
        return lost if self.greater_is_better else -lost


def shown_metric(scoring: str) -> ShownMetric:
    """How scores by a scorer are shown.

    Examples
    --------
    >>> shown_metric("neg_mean_squared_error").heading, shown_metric("neg_mean_squared_error").value(-9.0)
    ('rmse ↓', 3.0)
    >>> shown_metric("roc_auc").heading, shown_metric("neg_max_error").heading, shown_metric("jaccard").heading
    ('auc ↑', 'max_error ↓', 'jaccard ↑')
    """
    metric = METRICS.get(scoring) or _BY_SCORER.get(scoring)
    if metric is not None:
        return ShownMetric(metric.name, metric.greater_is_better, is_root=scoring == "neg_mean_squared_error")
    is_loss = scoring.startswith("neg_")
    return ShownMetric(scoring.removeprefix("neg_"), not is_loss)
