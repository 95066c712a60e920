"""Whether predicted probabilities come true."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from coterie._typing import FloatArray
from coterie.diagnostics.calibration import calibration
from coterie.plots.chart import Axis, Chart, Line
from coterie.plots.scores.error_displays import CalibrationDisplay
from coterie.report.content import Block, Figure, Paragraph, Section
from coterie.report.evaluated_model import EvaluatedModel, Predictions
from coterie.report.forms.number_format import format_number, percent

_N_BINS = 10


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
