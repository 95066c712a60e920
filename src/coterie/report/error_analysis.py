"""Where predictions are wrong: confusion matrix and calibration of classifiers, residuals of regressors."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from coterie._typing import FloatArray
from coterie.diagnostics.calibration import calibration
from coterie.plots.calibration_display import CalibrationDisplay
from coterie.plots.chart import Axis, Chart, Line, Mark, Points
from coterie.report.content import Block, Cell, ConfusionMatrix, Figure, Paragraph, Section, TableBlock
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
