"""Residuals of a regressor: by prediction, and their distribution."""

import numpy as np

from coterie._typing import FloatArray
from coterie.plots.chart import Axis, Chart, Line, Mark, Points
from coterie.report.content import Block, Figure, Paragraph, Section
from coterie.report.evaluated_model import EvaluatedModel, Predictions
from coterie.report.forms.number_format import format_number

_MOST_POINTS = 800


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
    blocks: list[Block] = [Paragraph(words)]
    if evaluated.shows_rows:
        chart = _true_by_predicted(predictions.take(some))
        blocks.append(Figure(chart, "Rows on the line are predicted exactly."))
    blocks += [
        Figure(
            _residuals_by_prediction(predictions, some, shows_rows=evaluated.shows_rows),
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


def _residuals_by_prediction(predictions: Predictions, some: np.ndarray, *, shows_rows: bool) -> Chart:
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
        points=(Points("rows", predictions.y_pred[some], error[some]),) if shows_rows else (),
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
