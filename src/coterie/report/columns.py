"""Which columns the model lives on, and what it makes of them."""

from dataclasses import replace
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.table import Table
from coterie.diagnostics.dependence import DependenceCurve, dependence
from coterie.diagnostics.importance import Importance, importance
from coterie.errors import CoterieError
from coterie.plots.dependence_display import DependenceDisplay
from coterie.plots.importance_display import ImportanceDisplay
from coterie.report.association import association
from coterie.report.content import Block, Cell, Figure, Section, Sheet, Words
from coterie.report.figures_in_words import plural
from coterie.report.subject import Subject, probabilities_of

__all__ = ["dependences", "importances", "measured_columns"]

_MOST_MEASURED = 30
_MOST_SHOWN = 15
_MOST_ROWS = 800
_N_REPEATS = 3
_MOST_CURVES = 6
_CURVE_ROWS = 200
_CURVE_POINTS = 15
_MOST_LEVELS = 12
_LEAST = float(np.finfo(np.float64).eps)


def measured_columns(subject: Subject) -> Importance:
    """How much worse answers become when a column changes places; of very many columns, for some."""
    some = subject.some(_MOST_ROWS)
    places = None
    if subject.whole.n_columns > _MOST_MEASURED:
        places = np.sort(np.argsort(-_promise(subject), kind="stable")[:_MOST_MEASURED]).tolist()
    return importance(
        subject.model,
        some.X,
        some.y,
        features=places,
        scoring=_goodness(subject),
        n_repeats=_N_REPEATS,
        n_jobs=subject.n_jobs,
        random_state=subject.seed,
    )


def _goodness(subject: Subject) -> Any:
    """Minus the log loss where there are probabilities: it feels more than a change of the class."""
    if subject.classes is None or not hasattr(subject.model, "predict_proba"):
        return None
    places = {label: code for code, label in enumerate(subject.classes.tolist())}

    def score(model: Any, X: Any, y: AnyArray) -> float:
        proba = probabilities_of(model, X)
        assert proba is not None
        codes = [places[label] for label in y.tolist()]
        return float(np.log(np.maximum(proba[np.arange(len(codes)), codes], _LEAST)).mean())

    return score


def _promise(subject: Subject) -> FloatArray:
    """A guess of what columns are worth that is cheap for very many of them."""
    gains = _gains(subject.model, subject.whole.n_columns)
    if gains is not None:
        return gains
    answers = subject.answers
    said = answers.said if answers.proba is None else answers.proba.max(axis=1)
    if answers.proba is not None and answers.proba.shape[1] == 2:
        said = answers.proba[:, 1]
    return np.array(
        [
            association(_part(subject.whole, place, subject.rows), said)
            for place in range(subject.whole.n_columns)
        ]
    )


def _gains(model: Any, n_columns: int) -> FloatArray | None:
    """Shares in the gain of splits, also of the trees among the members of a committee."""
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


def _part(table: Table, place: int, rows: AnyArray) -> Any:
    column = table.column(place)
    return type(column)(column.name, column.kind, column.values[rows], column.levels)


def importances(subject: Subject, found: Importance, seen: bool | None) -> Section:
    what = "R²" if subject.classes is None else "accuracy" if _goodness(subject) is None else "log-likelihood"
    left = subject.whole.n_columns - len(found.names)
    text = (
        f"How much the {what} falls when the values of one column change places among "
        f"{plural(min(len(subject.rows), _MOST_ROWS), 'row')}; the mean and the spread of {_N_REPEATS} times. "
        "Columns that say the same share their worth."
    )
    if left:
        text += f" {plural(left, 'column')} that seem to matter less were not measured."
    blocks: list[Block] = [Words(text)]
    if seen:
        blocks.append(Words("On rows that fit saw, this also rewards what was learned by heart.", "note"))
    chart = ImportanceDisplay(found, _MOST_SHOWN).chart()
    axis = type(chart.x)(f"fall of the {what}", chart.x.low, chart.x.high)
    blocks.append(Figure(type(chart)(chart.title, axis, chart.y, bars=chart.bars, marks=chart.marks)))
    assert found.spread is not None
    rows: list[tuple[Cell, ...]] = [
        (found.names[place], float(found.values[place]), float(found.spread[place])) for place in found.order
    ]
    blocks.append(Sheet(("column", f"fall of the {what}", "spread"), tuple(rows), left_out=left, folded=True))
    return Section("importances", "Importance of columns", tuple(blocks))


def dependences(subject: Subject, found: Importance) -> Section:
    key, title = "dependence", "Dependence"
    worth = [place for place in found.order.tolist() if found.values[place] > 0]
    names = [found.names[place] for place in worth[:_MOST_CURVES]]
    if not names:
        return Section(key, title, why_not="no column makes answers worse when its values change places.")
    some = subject.some(_CURVE_ROWS)
    target = None
    if subject.classes is not None and len(subject.classes) != 2:
        target = subject.classes.tolist()[int(np.bincount(subject.truth).argmax())]
    places = [subject.column_names.index(name) for name in names]
    curves = dependence(
        subject.model,
        some.X,
        places,
        kind="average",
        grid_resolution=_CURVE_POINTS,
        target=target,
        n_jobs=subject.n_jobs,
    )
    about = "" if target is None else f" It is about the most frequent class, “{target}”."
    text = (
        f"What the model would say on average if a column had other values, for the {plural(len(names), 'column')} "
        f"that matter most, asked about {plural(len(some.rows), 'row')}.{about}"
    )
    shown = replace(curves, curves=tuple(_readable(curve) for curve in curves.curves))
    figures = [Figure(DependenceDisplay(shown, own.name).chart(), _caption(own)) for own in curves.curves]
    return Section(key, title, (Words(text), *figures))


def _readable(curve: DependenceCurve) -> DependenceCurve:
    """Of very many levels, the most frequent."""
    if not curve.categorical or len(curve.grid) <= _MOST_LEVELS:
        return curve
    some = np.sort(np.argsort(-curve.count, kind="stable")[:_MOST_LEVELS])
    return replace(curve, grid=curve.grid[some], average=curve.average[some], count=curve.count[some])


def _caption(curve: DependenceCurve) -> str:
    n_levels = len(curve.grid)
    return f"The {_MOST_LEVELS} most frequent of {n_levels} levels." if _readable(curve) is not curve else ""
