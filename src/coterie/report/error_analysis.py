"""Where predictions are wrong: confusion matrix, thresholds and calibration of classifiers, residuals of regressors."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from coterie._typing import FloatArray
from coterie.diagnostics.calibration import calibration
from coterie.plots.chart import Axis, Chart, Line, Mark, Points
from coterie.plots.error_displays import CalibrationDisplay
from coterie.report.content import (
    Block,
    Cell,
    ConfusionMatrix,
    Figure,
    Paragraph,
    Section,
    TableBlock,
    ThresholdCounts,
)
from coterie.report.evaluated_model import EvaluatedModel, Predictions
from coterie.report.number_format import format_number, percent

_MOST_CLASSES = 20
_MOST_POINTS = 800
_N_BINS = 10


def confusion_section(evaluated: EvaluatedModel, predictions: Predictions, where: str) -> Section:
    key, title = "confusion_matrix", "Confusion matrix"
    if evaluated.classes is None:
        return Section(key, title, reason="the target is numeric.")
    n_classes = len(evaluated.classes)
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(counts, (predictions.y_true, predictions.y_pred), 1)
    blocks: list[Block] = [_most_confused(evaluated, counts, where)]
    if n_classes <= _MOST_CLASSES:
        caption = "Rows are the true classes, columns the predicted classes."
        blocks.append(ConfusionMatrix(evaluated.labels, counts, caption))
    blocks.append(_by_class(evaluated, counts))
    return Section(key, title, tuple(blocks))


def _most_confused(evaluated: EvaluatedModel, counts: np.ndarray, where: str) -> Paragraph:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    if not wrong.any():
        return Paragraph(f"{where.capitalize()}, no prediction is wrong.")
    true, predicted = np.unravel_index(int(wrong.argmax()), wrong.shape)
    labels = evaluated.labels
    return Paragraph(
        f"{where.capitalize()}, {wrong.sum():,} of {counts.sum():,} predictions are wrong. The most frequent error: "
        f"{wrong[true, predicted]:,} rows of “{labels[true]}” are predicted as “{labels[predicted]}”."
    )


def _by_class(evaluated: EvaluatedModel, counts: np.ndarray) -> TableBlock:
    present, predicted, right = counts.sum(axis=1), counts.sum(axis=0), np.diag(counts)
    order = np.argsort(-present, kind="stable")[:50]
    rows: list[tuple[Cell, ...]] = []
    for place in order.tolist():
        precision = right[place] / predicted[place] if predicted[place] else float("nan")
        recall = right[place] / present[place] if present[place] else float("nan")
        rows.append(
            (
                evaluated.labels[place],
                int(present[place]),
                int(predicted[place]),
                float(precision),
                float(recall),
            )
        )
    caption = (
        "Precision: the share of rows predicted as the class that belong to it. "
        "Recall: the share of its rows that are predicted as it."
    )
    columns = ("class", "rows", "predicted", "precision", "recall")
    return TableBlock(columns, tuple(rows), caption, n_left_out=len(counts) - len(order))


class _FixedProbabilities(ClassifierMixin, BaseEstimator):
    """A classifier that returns known probabilities, for functions that take a model."""

    def __init__(self, classes: np.ndarray, proba: FloatArray) -> None:
        self.classes_, self._proba = classes, proba

    def fit(self, X: object, y: object) -> "_FixedProbabilities":
        return self

    def predict_proba(self, _: object) -> FloatArray:
        return self._proba

    def __sklearn_is_fitted__(self) -> bool:
        return True


def calibration_section(evaluated: EvaluatedModel, predictions: Predictions, where: str) -> Section:
    key, title = "calibration", "Calibration"
    if evaluated.classes is None:
        return Section(key, title, reason="the target is numeric; see the residuals.")
    if predictions.proba is None or len(evaluated.classes) < 2:
        return Section(key, title, reason=f"{evaluated.name} predicts no probabilities.")
    y = evaluated.classes[predictions.y_true]
    found = calibration(
        _FixedProbabilities(evaluated.classes, predictions.proba),
        None,
        y,
        n_bins=_N_BINS,
        strategy="quantile",
    )
    curve = found.curves[0]
    what = f"of “{evaluated.labels[1]}”" if len(evaluated.classes) == 2 else "of the most probable class"
    words = (
        f"{where.capitalize()}, the expected calibration error of the probability {what} is "
        f"{percent(curve.expected_error)}; the largest error of a bin is {percent(curve.maximum_error)}. "
        f"The Brier score is {format_number(found.brier)}."
    )
    caption = (
        "On the diagonal, probabilities are calibrated: of the rows with 70 %, seven in ten belong to the class. "
        "Below it, probabilities are too high."
    )
    chart = CalibrationDisplay(found).chart()
    blocks: list[Block] = [
        Paragraph(words),
        Figure(chart, caption),
        Figure(_probability_distribution(predictions, evaluated), ""),
    ]
    return Section(key, title, tuple(blocks))


def _probability_distribution(predictions: Predictions, evaluated: EvaluatedModel) -> Chart:
    """How often each probability is predicted."""
    assert predictions.proba is not None
    two = predictions.proba.shape[1] == 2
    values = predictions.proba[:, 1] if two else predictions.proba.max(axis=1)
    edges = np.linspace(0, 1, 21)
    groups = {"all rows": np.ones(len(values), dtype=bool)}
    if two:
        groups = {evaluated.labels[code]: predictions.y_true == code for code in (1, 0)}
    lines = []
    for name, own in groups.items():
        shares = np.histogram(values[own], edges)[0] / max(1, own.sum())
        lines.append(Line(name, edges, np.append(shares, shares[-1]), steps=True))
    high = max(float(line.y.max()) for line in lines)
    label = f"probability of {evaluated.labels[1]}" if two else "probability of the most probable class"
    return Chart(
        "Distribution of predicted probabilities" + (", by true class" if two else ""),
        Axis(label, 0.0, 1.0),
        Axis("share of rows", 0.0, 1.08 * high or 1.0),
        tuple(lines),
    )


def residuals_section(evaluated: EvaluatedModel, predictions: Predictions, where: str) -> Section:
    key, title = "residuals", "Residuals"
    if evaluated.classes is not None:
        return Section(key, title, reason="the target is a class; see the confusion matrix and calibration.")
    error = predictions.y_true - predictions.y_pred
    low, middle, high = np.quantile(error, [0.05, 0.5, 0.95]).tolist()
    words = (
        f"{where.capitalize()}, 90 % of the residuals (true value minus prediction) are between {format_number(low)} "
        f"and {format_number(high)}; their median is {format_number(middle)}."
    )
    some = np.arange(len(error))
    if len(error) > _MOST_POINTS:
        some = np.linspace(0, len(error) - 1, _MOST_POINTS).round().astype(np.intp)
    blocks: list[Block] = [
        Paragraph(words),
        Figure(_true_by_predicted(predictions.take(some)), "Rows on the line are predicted exactly."),
        Figure(
            _residuals_by_prediction(predictions, some),
            "The band holds 80 % of nearby rows. A bend shows a systematic error; a widening band, a variance that "
            "is not constant.",
        ),
        Figure(_distribution(error), "Rows far from zero are worth a look."),
    ]
    return Section(key, title, tuple(blocks))


def _ends(values: FloatArray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    pad = 0.04 * (high - low) or 0.5 * abs(high) or 1.0
    return low - pad, high + pad


def _true_by_predicted(predictions: Predictions) -> Chart:
    ends = _ends(np.concatenate([predictions.y_true, predictions.y_pred]))
    line = np.array(ends)
    return Chart(
        "True and predicted values",
        Axis("predicted value", *ends),
        Axis("true value", *ends),
        (Line("", line, line, faint=True),),
        points=(Points("rows", predictions.y_pred, predictions.y_true),),
    )


def _residuals_by_prediction(predictions: Predictions, some: np.ndarray) -> Chart:
    error = predictions.y_true - predictions.y_pred
    order = np.argsort(predictions.y_pred, kind="stable")
    parts = [part for part in np.array_split(order, min(12, max(1, len(order) // 10))) if len(part)]
    x = np.array([predictions.y_pred[part].mean() for part in parts])
    low, middle, high = np.array([np.quantile(error[part], [0.1, 0.5, 0.9]) for part in parts]).T
    lines = (Line("median of nearby rows", x, middle, low=low, high=high),)
    ends = _ends(predictions.y_pred)
    zero = Line("", np.array(ends), np.zeros(2), faint=True)
    return Chart(
        "Residuals by predicted value",
        Axis("predicted value", *ends),
        Axis("residual", *_ends(error[some])),
        (*lines, zero) if len(parts) > 1 else (zero,),
        points=(Points("rows", predictions.y_pred[some], error[some]),),
    )


def _distribution(error: FloatArray) -> Chart:
    low, high = _ends(error)
    counts, edges = np.histogram(error, bins=40, range=(low, high))
    shares = np.append(counts, counts[-1]) / len(error)
    return Chart(
        "Distribution of residuals",
        Axis("residual", low, high),
        Axis("share of rows", 0.0, 1.08 * float(shares.max())),
        (Line("rows", edges, shares, steps=True),),
        (Mark(0.0),),
    )


_MOST_CURVE_POINTS = 300
_LISTED = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def thresholds_section(evaluated: EvaluatedModel, predictions: Predictions, where: str) -> Section:
    key, title = "thresholds", "ROC, precision-recall and thresholds"
    if evaluated.classes is None or len(evaluated.classes) != 2:
        reason = (
            "the target is numeric." if evaluated.classes is None else "the target does not have two classes."
        )
        return Section(key, title, reason=reason)
    if predictions.proba is None:
        return Section(key, title, reason=f"{evaluated.name} predicts no probabilities.")
    score, positive = predictions.proba[:, 1], predictions.y_true == 1
    if positive.all() or not positive.any():
        return Section(key, title, reason="all rows are of one class.")
    label = evaluated.labels[1]
    counts = _threshold_counts(score, positive, label)
    best = int(np.argmax(_f1(counts)))
    text = (
        f"A row is predicted as “{label}” if its probability reaches the decision threshold. {where.capitalize()}, the "
        f"best F1 score ({format_number(float(_f1(counts)[best]))}) is at a threshold of "
        f"{format_number(counts.thresholds[best])}; {percent(float(positive.mean()))} of rows are “{label}”."
    )
    rate, recall, precision = _curve(score, positive)
    roc = Chart(
        "ROC curve",
        Axis("false positive rate", 0.0, 1.0),
        Axis("true positive rate (recall)", 0.0, 1.0),
        (Line("model", rate, recall), Line("chance", np.array([0.0, 1.0]), np.array([0.0, 1.0]))),
    )
    base = float(positive.mean())
    by_recall = Chart(
        "Precision-recall curve",
        Axis("recall", 0.0, 1.0),
        Axis("precision", 0.0, 1.0),
        (Line("model", recall, precision), Line("chance", np.array([0.0, 1.0]), np.array([base, base]))),
    )
    return Section(
        key,
        title,
        (
            Paragraph(text),
            Figure(roc, "The nearer to the upper left corner, the better."),
            Figure(by_recall, "The nearer to the upper right corner, the better."),
            counts,
            _listed_thresholds(counts),
        ),
    )


def _threshold_counts(score: FloatArray, positive: np.ndarray, label: str) -> ThresholdCounts:
    steps = np.linspace(0, 1, 101).round(2)
    positives, negatives = np.sort(score[positive]), np.sort(score[~positive])
    true_positives = len(positives) - np.searchsorted(positives, steps, side="left")
    false_positives = len(negatives) - np.searchsorted(negatives, steps, side="left")
    return ThresholdCounts(
        label,
        tuple(steps.tolist()),
        tuple(true_positives.tolist()),
        tuple(false_positives.tolist()),
        tuple((len(positives) - true_positives).tolist()),
        tuple((len(negatives) - false_positives).tolist()),
    )


def _f1(counts: ThresholdCounts) -> FloatArray:
    twice = 2 * np.array(counts.true_positives, float)
    errors = np.array(counts.false_positives) + np.array(counts.false_negatives)
    return np.asarray(twice / np.maximum(1.0, twice + errors))


def _curve(score: FloatArray, positive: np.ndarray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """False positive rate, recall and precision, from the highest score down; of many points, some."""
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    true_positives = np.cumsum(positive[order])[ends].astype(np.float64)
    false_positives = ends + 1 - true_positives
    if len(ends) > _MOST_CURVE_POINTS:
        # Evenly along the ROC curve.
        length = true_positives / true_positives[-1] + false_positives / false_positives[-1]
        some = np.unique(np.searchsorted(length, np.linspace(length[0], length[-1], _MOST_CURVE_POINTS)))
        true_positives, false_positives = true_positives[some], false_positives[some]
    precision = true_positives / (true_positives + false_positives)
    rate = np.append(0.0, false_positives / false_positives[-1])
    recall = np.append(0.0, true_positives / true_positives[-1])
    return rate, recall, np.append(precision[0], precision)


def _listed_thresholds(counts: ThresholdCounts) -> TableBlock:
    rows: list[tuple[Cell, ...]] = []
    for threshold in _LISTED:
        place = round(100 * threshold)
        right, wrong = counts.true_positives[place], counts.false_positives[place]
        missed, predicted = counts.false_negatives[place], right + wrong
        precision = right / predicted if predicted else float("nan")
        recall, f1 = right / (right + missed), float(_f1(counts)[place])
        rows.append((f"{threshold:.2f}", predicted, right, wrong, missed, precision, recall, f1))
    columns = (
        "threshold",
        "predicted positives",
        "true positives",
        "false positives",
        "false negatives",
        "precision",
        "recall",
        "F1",
    )
    return TableBlock(columns, tuple(rows), f"The positive class is “{counts.positive_class}”.")
