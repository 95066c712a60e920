"""The rows with the largest errors, and what they hold in the most important columns."""

import numpy as np

from coterie.diagnostics.importance import Importance
from coterie.report.columns.values import cell_text, number_text
from coterie.report.content import Cell, Paragraph, Section, TableBlock
from coterie.report.errors.row_errors import row_errors
from coterie.report.evaluated_model import EvaluatedModel, JudgedRows
from coterie.report.forms.number_format import format_number, percent

_MOST_ROWS = 12
_MOST_COLUMNS = 5


def worst_rows_section(evaluated: EvaluatedModel, judged: JudgedRows, importance: Importance) -> Section:
    key, title = "worst_rows", "Worst rows"
    if not evaluated.shows_rows:
        return Section(key, title, reason="single rows are not shown (rows=False, or --no-rows).")
    errors = row_errors(judged.predictions, is_regression=evaluated.classes is None)
    order = np.argsort(-errors.values, kind="stable")[:_MOST_ROWS]
    order = order[errors.values[order] > 0]
    if not len(order):
        return Section(key, title, reason="no prediction is wrong.")
    n_rows = len(errors.values)
    names = {name: place for place, name in enumerate(evaluated.column_names)}
    columns = [names[importance.names[place]] for place in importance.order[:_MOST_COLUMNS].tolist()]
    rows: list[tuple[Cell, ...]] = []
    for place in order.tolist():
        row = int(judged.rows[place])
        held = (
            cell_text(
                evaluated.table.column(column),
                row,
                is_date=column in evaluated.dates,
                is_flag=column in evaluated.flags,
            )
            for column in columns
        )
        rows.append((row + 1, *_prediction(evaluated, judged, place), *held))
    share = float(errors.values[order].sum() / errors.values.sum())
    text = (
        f"The {len(order)} rows with the largest {_loss(errors.name)}, {judged.where}, and what they hold in the most "
        f"important columns. Together they are {percent(len(order) / n_rows)} of the rows and make up "
        f"{percent(share)} of the total {errors.name}. Look for wrong labels, typing errors and missing columns. "
        "Rows are counted from 1, in the order of the table."
    )
    told = tuple(evaluated.column_names[column] for column in columns)
    head = ("row", *_headings(evaluated, judged))
    return Section(key, title, (Paragraph(text), TableBlock((*head, *told), tuple(rows), is_wide=True)))


def _loss(name: str) -> str:
    return "errors" if name == "error rate" else name


def _headings(evaluated: EvaluatedModel, judged: JudgedRows) -> tuple[str, ...]:
    if evaluated.classes is None:
        return ("true value", "prediction", "residual")
    if judged.predictions.proba is None:
        return ("true class", "predicted class")
    return ("true class", "predicted class", "probability of the true class")


def _prediction(evaluated: EvaluatedModel, judged: JudgedRows, place: int) -> tuple[Cell, ...]:
    own = judged.predictions
    if evaluated.classes is None:
        true, predicted = float(own.y_true[place]), float(own.y_pred[place])
        return (
            number_text(true, is_date=False),
            number_text(predicted, is_date=False),
            format_number(true - predicted),
        )
    labels = evaluated.labels[int(own.y_true[place])], evaluated.labels[int(own.y_pred[place])]
    if own.proba is None:
        return labels
    return (*labels, percent(float(own.proba[place, int(own.y_true[place])])))
