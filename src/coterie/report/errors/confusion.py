"""The confusion matrix of a classifier, and precision and recall of each class."""

import numpy as np

from coterie.report.content import Block, Cell, ConfusionMatrix, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel, Predictions

_MOST_CLASSES = 20


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
