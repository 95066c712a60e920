"""ROC and precision-recall curves of several classes, each against the others, with the areas below them."""

import numpy as np

from coterie._typing import FloatArray
from coterie.metrics import METRICS, PredictedRows
from coterie.plots.chart import Axis, Chart, Line
from coterie.report.content import Cell, Figure, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel, Predictions
from coterie.report.forms.number_format import format_number
from coterie.report.scores.thresholds import ranking_curves

_MOST_CURVES = 6  # more cannot be told apart
_MOST_LISTED = 50


def class_curves_section(evaluated: EvaluatedModel, predictions: Predictions, where: str) -> Section:
    key, title = "class_curves", "ROC and precision-recall by class"
    if evaluated.classes is None or len(evaluated.classes) < 3:
        what = (
            "the target is numeric."
            if evaluated.classes is None
            else "the target has fewer than three classes."
        )
        return Section(key, title, reason=what)
    if predictions.proba is None:
        return Section(key, title, reason=f"{evaluated.name} predicts no probabilities.")
    counts = np.bincount(predictions.y_true, minlength=len(evaluated.classes))
    codes = [code for code in np.argsort(-counts, kind="stable").tolist() if 0 < counts[code] < counts.sum()]
    if not codes:
        return Section(key, title, reason="all rows are of one class.")
    areas = {code: class_areas(predictions, code) for code in codes}
    hardest = min(codes, key=lambda code: areas[code][0])
    mean = float(np.mean([areas[code][0] for code in codes]))
    text = (
        f"Each class against all others, {where}: the mean area under the ROC curve is {format_number(mean)}. "
        f"“{evaluated.labels[hardest]}” is the hardest to tell from the others, with "
        f"{format_number(areas[hardest][0])}."
    )
    curves = {code: ranking_curves(predictions.proba[:, code], predictions.y_true == code) for code in codes}
    shown = codes[:_MOST_CURVES]
    most = f" The {_MOST_CURVES} most frequent of {len(codes)} classes." if len(codes) > _MOST_CURVES else ""
    roc = Chart(
        "ROC curve of each class",
        Axis("false positive rate", 0.0, 1.0),
        Axis("true positive rate (recall)", 0.0, 1.0),
        (
            *(Line(evaluated.labels[code], *curves[code][:2]) for code in shown),
            Line("", np.array([0.0, 1.0]), np.array([0.0, 1.0]), faint=True),
        ),
    )
    by_recall = Chart(
        "Precision-recall curve of each class",
        Axis("recall", 0.0, 1.0),
        Axis("precision", 0.0, 1.0),
        tuple(Line(evaluated.labels[code], *curves[code][1:]) for code in shown),
    )
    rows: list[tuple[Cell, ...]] = [
        (evaluated.labels[code], int(counts[code]), *areas[code]) for code in codes[:_MOST_LISTED]
    ]
    table = TableBlock(
        ("class", "rows", "area under the ROC curve", "average precision"),
        tuple(rows),
        "Average precision: the area under the precision-recall curve; by chance it is the share of the class.",
        n_left_out=len(codes) - len(rows),
    )
    return Section(
        key,
        title,
        (
            Paragraph(text),
            Figure(roc, f"The nearer to the upper left corner, the better.{most}"),
            Figure(by_recall, f"The nearer to the upper right corner, the better.{most}"),
            table,
        ),
    )


def class_areas(predictions: Predictions, code: int) -> tuple[float, float]:
    """The area under the ROC curve and the average precision of one class against the others."""
    assert predictions.proba is not None
    own: FloatArray = predictions.proba[:, code]
    rows = PredictedRows(
        (predictions.y_true == code).astype(np.intp),
        (own > 0.5).astype(np.intp),
        np.column_stack([1 - own, own]),
        2,
    )
    ones = np.ones(len(own))
    auc, precision = (METRICS[name].of_weights(rows)(ones) for name in ("auc", "average_precision"))
    return auc, precision
