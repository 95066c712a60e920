"""The error by round or by tree: on validation rows, out of bag, and on the rows of the report."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics.votes import codes_of, n_stages_of, staged_predictions
from coterie.errors import CoterieError
from coterie.plots.chart import Axis, Chart, Line
from coterie.report.content import Figure, Section
from coterie.report.evaluated_model import EvaluatedModel

_KEY, _TITLE = "training_curves", "Training curves"
_MOST_POINTS = 400
_MOST_STAGES = 25
_MOST_ROWS = 2_000
_RECORDED = {
    "validation_losses_": ("validation loss", "round"),
    "validation_errors_": ("validation error", "round"),
    "oob_errors_": ("out-of-bag error", "trees"),
    "estimator_errors_": ("weighted error of each member", "round"),
}


def training_curves_section(evaluated: EvaluatedModel) -> Section:
    figures = _recorded_curves(evaluated.model) or _member_curves(evaluated.model)
    staged = _staged_errors(evaluated)
    if staged is not None:
        figures = [*figures, staged]
    if figures:
        return Section(_KEY, _TITLE, tuple(figures))
    reason = (
        f"{evaluated.name} has no rounds or trees to evaluate one by one, and recorded no errors during fit."
    )
    return Section(_KEY, _TITLE, reason=reason)


def _recorded_curves(model: Any) -> list[Figure]:
    figures = []
    lines = _losses_of_eval_sets(model)
    if lines:
        deciding = list(lines)[-1]
        lowest = _lowest(lines[deciding], "round")
        caption = f"Means over the rows of each set. On {deciding}, the set that decides: {lowest}"
        figures.append(Figure(_chart("loss by round", "loss", "round", lines), caption))
    for name, (label, step) in _RECORDED.items():
        values = _numbers(getattr(model, name, None))
        if values is not None and not (lines and name == "validation_losses_"):
            figures.append(Figure(_chart(label, label, step, {label: values}), _lowest(values, step)))
    return figures


def _losses_of_eval_sets(model: Any) -> dict[str, FloatArray]:
    """The losses of the training rows and of each eval set, if there are any; the last decides."""
    curves = getattr(model, "eval_losses_", {})
    found = {"training rows": getattr(model, "train_losses_", None), **curves} if curves else {}
    lines = {name: _numbers(values) for name, values in found.items()}
    return {name: values for name, values in lines.items() if values is not None}


def _member_curves(model: Any) -> list[Figure]:
    """The validation losses of the members that recorded them, those with the largest weights first."""
    figures = []
    names = getattr(model, "members_", getattr(model, "candidates_", []))
    members = [own for own in getattr(model, "estimators_", []) if hasattr(own, "models")]
    weights = dict(zip(names, getattr(model, "weights_", []), strict=False))
    shares = np.array([weights.get(own.name, 0.0) for own in members])
    for place in np.argsort(-shares, kind="stable").tolist():
        found = [_numbers(getattr(own, "validation_losses_", None)) for own in members[place].models]
        lines = {f"fold {number}": own for number, own in enumerate(found, start=1) if own is not None}
        if lines:
            name = members[place].name
            which = (
                f"One line for each of {len(lines)} folds."
                if len(lines) > 1
                else "Validation rows of one fold."
            )
            caption = f"{which} Training stops soon after the loss has stopped falling."
            title = f"Validation loss of {name}"
            figures.append(Figure(_chart(title, "validation loss", "round", lines), caption))
    return figures[:2]


def _staged_errors(evaluated: EvaluatedModel) -> Figure | None:
    """The error on the rows of the report after some of the rounds or trees."""
    n_stages = n_stages_of(evaluated.model)
    if n_stages is None or n_stages < 3:
        return None
    stages = np.unique(np.geomspace(1, n_stages, _MOST_STAGES).round().astype(np.int64))
    some = evaluated.subsample(_MOST_ROWS)
    try:
        numbers, staged = staged_predictions(evaluated.model, some.X, stages)
    except CoterieError:  # some models cannot predict with their first rounds alone
        return None
    errors = np.array([_error(some, own) for own in staged])
    label = "root mean squared error" if evaluated.classes is None else "error rate"
    at = numbers.astype(np.float64)
    chart = _chart(f"{label} on these rows", label, "rounds or trees", {"on these rows": errors}, at)
    return Figure(chart, "The error of the first rounds or trees alone, on the rows of this report.")


def _error(evaluated: EvaluatedModel, predicted: AnyArray) -> float:
    if evaluated.classes is None:
        return float(
            np.sqrt(((np.asarray(predicted, dtype=np.float64).reshape(-1) - evaluated.y_true) ** 2).mean())
        )
    return float((codes_of(predicted, evaluated.classes, len(evaluated.y_true)) != evaluated.y_true).mean())


def _numbers(values: Any) -> FloatArray | None:
    if values is None:
        return None
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind != "f" or np.isfinite(array).sum() < 3:
        return None
    return np.asarray(array, dtype=np.float64)


def _lowest(values: FloatArray, step: str) -> str:
    best = int(np.nanargmin(values)) + 1
    what = "round" if step == "round" else "tree"
    return f"Lowest after {what} {best:,} of {len(values):,}."


def _chart(
    title: str, label: str, step: str, lines: dict[str, FloatArray], at: FloatArray | None = None
) -> Chart:
    drawn, last = [], 1.0
    ends: list[float] = []
    for name, values in lines.items():
        x = np.arange(1.0, len(values) + 1) if at is None else at
        fine = np.isfinite(values)
        x, y = x[fine], values[fine]
        if len(x) > _MOST_POINTS:
            some = np.unique(np.geomspace(1, len(x), _MOST_POINTS).round().astype(np.intp)) - 1
            x, y = x[some], y[some]
        last, ends = max(last, float(x[-1])), [*ends, float(y.min()), float(y.max())]
        drawn.append(Line(name, x, y))
    low, high = min(ends), max(ends)
    pad = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
    bottom = max(0.0, low - pad) if low >= 0 else low - pad
    return Chart(
        title[:1].upper() + title[1:],
        Axis(step, 1.0, max(2.0, last), log=last > 50),
        Axis(label, bottom, high + pad),
        tuple(drawn),
    )
