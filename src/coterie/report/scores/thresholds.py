"""Decisions between two classes: ROC and precision-recall curves, and what each decision threshold does."""

import numpy as np

from coterie._typing import FloatArray
from coterie.plots.chart import Axis, Chart, Line
from coterie.report.content import Cell, Figure, Paragraph, Section, TableBlock, ThresholdCounts
from coterie.report.evaluated_model import EvaluatedModel, Predictions
from coterie.report.forms.number_format import format_number, percent
from coterie.report.scores.two_classes import positive_class

_MOST_CURVE_POINTS = 300
_LISTED = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def thresholds_section(
    evaluated: EvaluatedModel, predictions: Predictions, where: str, command: str
) -> Section:
    key, title = "thresholds", "ROC, precision-recall and thresholds"
    found = positive_class(evaluated, predictions)
    if isinstance(found, str):
        return Section(key, title, reason=found)
    label, score, positive = found
    counts = _threshold_counts(score, positive, label, command)
    best = int(np.argmax(_f1(counts)))
    text = (
        f"A row is predicted as “{label}” if its probability reaches the decision threshold. {where.capitalize()}, the "
        f"best F1 score ({format_number(float(_f1(counts)[best]))}) is at a threshold of "
        f"{format_number(counts.thresholds[best])}; {percent(float(positive.mean()))} of rows are “{label}”."
    )
    rate, recall, precision = ranking_curves(score, positive)
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
            costs_table(counts),
        ),
    )


def _threshold_counts(score: FloatArray, positive: np.ndarray, label: str, command: str) -> ThresholdCounts:
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
        command,
    )


def _f1(counts: ThresholdCounts) -> FloatArray:
    twice = 2 * np.array(counts.true_positives, float)
    errors = np.array(counts.false_positives) + np.array(counts.false_negatives)
    return np.asarray(twice / np.maximum(1.0, twice + errors))


def ranking_curves(score: FloatArray, positive: np.ndarray) -> tuple[FloatArray, FloatArray, FloatArray]:
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


_COSTS = ((10.0, 1.0), (5.0, 1.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (1.0, 5.0), (1.0, 10.0), (1.0, 20.0))


def total_costs(counts: ThresholdCounts, of_false_positive: float, of_false_negative: float) -> FloatArray:
    """What all wrong decisions cost, at each threshold."""
    wrong = np.array(counts.false_positives, dtype=np.float64)
    missed = np.array(counts.false_negatives, dtype=np.float64)
    return np.asarray(of_false_positive * wrong + of_false_negative * missed)


def cheapest_place(costs: FloatArray) -> int:
    """The middle of the thresholds with the least costs that lie together; the first such run, if there are several."""
    least = np.flatnonzero(costs == costs.min())
    run = least[: int(np.argmax(np.append(np.diff(least) > 1, True))) + 1]
    return int(run[(len(run) - 1) // 2])


def costs_table(counts: ThresholdCounts) -> TableBlock:
    """The threshold with the least costs, for some costs of the two kinds of errors."""
    n_rows = sum(
        own[0]
        for own in (
            counts.true_positives,
            counts.false_positives,
            counts.false_negatives,
            counts.true_negatives,
        )
    )
    half = counts.thresholds.index(0.5)
    rows: list[tuple[Cell, ...]] = []
    for of_false_positive, of_false_negative in _COSTS:
        costs = total_costs(counts, of_false_positive, of_false_negative)
        best = cheapest_place(costs)
        rows.append(
            (
                f"{of_false_positive:g}",
                f"{of_false_negative:g}",
                f"{counts.thresholds[best]:.2f}",
                f"{1000 * costs[best] / n_rows:,.1f}",
                f"{1000 * costs[half] / n_rows:,.1f}",
            )
        )
    caption = (
        "The threshold with the least costs on these predictions, by what the two kinds of errors cost. The best of "
        "many thresholds looks a little better here than it will be on new rows."
    )
    columns = (
        "cost of a false positive",
        "cost of a false negative",
        "best threshold",
        "costs per 1,000 rows",
        "costs at 0.5",
    )
    return TableBlock(columns, tuple(rows), caption)
