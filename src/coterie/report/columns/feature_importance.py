"""Feature importance by permutation."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics.importance import Importance, importance
from coterie.errors import CoterieError
from coterie.plots.explanations.feature_displays import ImportanceDisplay
from coterie.report.columns.association import association
from coterie.report.columns.values import column_part
from coterie.report.content import Block, Cell, Figure, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel, predicted_probabilities
from coterie.report.forms.number_format import plural

_MOST_MEASURED = 30
_MOST_SHOWN = 15
_MOST_ROWS = 800
_N_REPEATS = 3
_LEAST = float(np.finfo(np.float64).eps)


def column_importance(evaluated: EvaluatedModel) -> Importance:
    """Permutation importance; of very many columns, of those that seem most important."""
    some = evaluated.subsample(_MOST_ROWS)
    places = None
    if evaluated.table.n_columns > _MOST_MEASURED:
        places = np.sort(np.argsort(-_rough_importance(evaluated), kind="stable")[:_MOST_MEASURED]).tolist()
    return importance(
        evaluated.model,
        some.X,
        some.y,
        features=places,
        scoring=_scorer(evaluated),
        n_repeats=_N_REPEATS,
        n_jobs=evaluated.n_jobs,
        random_state=evaluated.seed,
    )


def _scorer(evaluated: EvaluatedModel) -> Any:
    """Minus the log loss, which is more sensitive than accuracy; None (the model's own score) without probabilities."""
    if evaluated.classes is None or not hasattr(evaluated.model, "predict_proba"):
        return None
    places = {label: code for code, label in enumerate(evaluated.classes.tolist())}

    def score(model: Any, X: Any, y: AnyArray) -> float:
        proba = predicted_probabilities(model, X)
        assert proba is not None
        codes = [places[label] for label in y.tolist()]
        return float(np.log(np.maximum(proba[np.arange(len(codes)), codes], _LEAST)).mean())

    return score


def _rough_importance(evaluated: EvaluatedModel) -> FloatArray:
    """A guess of the importance of columns that is cheap for very many of them."""
    gains = _gains(evaluated.model, evaluated.table.n_columns)
    if gains is not None:
        return gains
    predictions = evaluated.predictions
    predicted = predictions.y_pred if predictions.proba is None else predictions.proba.max(axis=1)
    if predictions.proba is not None and predictions.proba.shape[1] == 2:
        predicted = predictions.proba[:, 1]
    return np.array(
        [
            association(column_part(evaluated.table.column(place), evaluated.rows), predicted)
            for place in range(evaluated.table.n_columns)
        ]
    )


def _gains(model: Any, n_columns: int) -> FloatArray | None:
    """Shares of the gain of splits, of the model or of the trees among its members."""
    found = _own_gains(model, n_columns)
    members = getattr(model, "estimators_", None)
    if found is not None or not isinstance(members, list):
        return found
    parts = [_own_gains(own, n_columns) for member in members for own in getattr(member, "models", [member])]
    known = [part for part in parts if part is not None]
    return np.mean(known, axis=0) if known else None


def _own_gains(model: Any, n_columns: int) -> FloatArray | None:
    try:
        gains = np.asarray(model.feature_importances_, dtype=np.float64)
    except (AttributeError, CoterieError):
        return None
    return gains if gains.shape == (n_columns,) and np.isfinite(gains).all() else None


def _measure(evaluated: EvaluatedModel) -> tuple[str, str, str]:
    """What is measured, and which way it goes without a column."""
    if evaluated.classes is None:
        return "R²", "falls", "decrease"
    if _scorer(evaluated) is None:
        return "accuracy", "falls", "decrease"
    return "log loss", "rises", "increase"


def importance_section(evaluated: EvaluatedModel, found: Importance, seen: bool | None) -> Section:
    what, moves, change = _measure(evaluated)
    left = evaluated.table.n_columns - len(found.names)
    text = (
        f"Permutation importance: by how much the {what} {moves} if the values of one column are shuffled among "
        f"{plural(min(len(evaluated.rows), _MOST_ROWS), 'row')}{' of the training table' if seen else ''}; mean and "
        f"standard deviation of {_N_REPEATS} repeats. Columns that say the same share their importance. A number near "
        "0, or below it, means that the model does no worse without the column."
    )
    if left:
        text += f" {plural(left, 'column')} that seem less important were not measured."
    blocks: list[Block] = [Paragraph(text)]
    if seen:
        blocks.append(
            Paragraph(
                "Measured on training rows: columns that the model has overfitted to look more important than they "
                "are.",
                "note",
            )
        )
    chart = ImportanceDisplay(found, _MOST_SHOWN).chart()
    axis = type(chart.x)(f"{change} in {what}", chart.x.low, chart.x.high)
    blocks.append(Figure(type(chart)(chart.title, axis, chart.y, bars=chart.bars, marks=chart.marks)))
    assert found.spread is not None
    rows: list[tuple[Cell, ...]] = [
        (found.names[place], float(found.values[place]), float(found.spread[place])) for place in found.order
    ]
    blocks.append(
        TableBlock(
            ("column", f"{change} in {what}", "standard deviation"), tuple(rows), n_left_out=left, folded=True
        )
    )
    return Section("feature_importance", "Feature importance", tuple(blocks))
