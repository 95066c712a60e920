"""SHAP values of many rows: how much each column contributes, and in which direction."""

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.errors import CoterieError
from coterie.explain import Explanation
from coterie.plots.chart import Axis, Bars, Chart, Mark, Points
from coterie.report.columns.values import column_part, missing_rows
from coterie.report.content import Block, Cell, Figure, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel
from coterie.report.forms.number_format import plural

_MOST_ROWS = 400
_FEW_ROWS = 40  # of a committee: a value of it takes many predictions
_MOST_SAMPLED = 60  # columns of a committee
_FEW_ORDERS = 4  # of the columns, as its values are estimated
_MOST_COLUMNS = 12
_MOST_LISTED = 50
_N_BINS = 40
_HALF_HEIGHT = 0.36  # of the cloud of dots of one column
_GROUPS = ("low values", "middle values", "high values", "labels and missing values")


def shap_section(evaluated: EvaluatedModel) -> Section:
    key, title = "shap_summary", "SHAP summary"
    explain = getattr(evaluated.model, "explain", None)
    if explain is None:
        return Section(key, title, reason=f"{evaluated.name} has no method `explain`.")
    is_sampled = hasattr(evaluated.model, "members_")
    if is_sampled and evaluated.table.n_columns > _MOST_SAMPLED:
        reason = f"a committee of more than {_MOST_SAMPLED} columns takes too long to explain here."
        return Section(key, title, reason=reason)
    some = evaluated.subsample(_FEW_ROWS if is_sampled else _MOST_ROWS)
    try:
        found: Explanation = explain(some.X, n_permutations=_FEW_ORDERS) if is_sampled else explain(some.X)
    except (CoterieError, NotImplementedError) as error:
        first = str(error).split("\n")[0].split(". ")[0].rstrip(".")
        return Section(key, title, reason=f"{evaluated.name} cannot be explained: {first}.")
    sizes = mean_sizes(found)
    order = np.argsort(-sizes, kind="stable")
    text = (
        "SHAP values divide each prediction among the columns: they add up to the difference from the mean "
        f"prediction. Here are those of {plural(len(found), 'row')}, in units of the "
        f"{found.unit}{_of_output(found, evaluated)}."
    )
    if is_sampled:
        text += " Those of members that are no trees are estimates from a few sampled orders of the columns."
    blocks: list[Block] = [Paragraph(text), Figure(_size_chart(found, sizes, order))]
    values = _of_one_output(found)
    if values is not None and evaluated.shows_rows:
        caption = "Each dot is a row. Right of zero, the column raises the prediction of that row."
        blocks.append(Figure(_swarm(some, values, order, found), caption))
    rows: list[tuple[Cell, ...]] = [
        _row(found, values, sizes, place) for place in order[:_MOST_LISTED].tolist()
    ]
    columns = ("column", "mean size of the SHAP value", *(() if values is None else ("lowest", "highest")))
    blocks.append(TableBlock(columns, tuple(rows), n_left_out=len(sizes) - len(rows), folded=True))
    return Section(key, title, tuple(blocks))


def mean_sizes(found: Explanation) -> FloatArray:
    """The mean absolute SHAP value of each column, over rows and outputs."""
    sizes = np.abs(found.values)
    return np.asarray(sizes.mean(axis=0) if sizes.ndim == 2 else sizes.mean(axis=(0, 2)))


def _of_output(found: Explanation, evaluated: EvaluatedModel) -> str:
    if evaluated.classes is None:
        return ""
    if found.values.ndim == 3 and found.values.shape[2] > 2:
        return ", as the mean over all classes"
    label = found.outputs[-1]
    return "" if label is None else f" of “{label}”"


def _of_one_output(found: Explanation) -> FloatArray | None:
    """Of the only output, or of the second of two; None where there are more."""
    if found.values.ndim == 2:
        return found.values
    return found.values[:, :, 1] if found.values.shape[2] == 2 else None


def _row(found: Explanation, values: FloatArray | None, sizes: FloatArray, place: int) -> tuple[Cell, ...]:
    own: tuple[Cell, ...] = (found.column_names[place], float(sizes[place]))
    if values is None:
        return own
    return (*own, float(values[:, place].min()), float(values[:, place].max()))


def _size_chart(found: Explanation, sizes: FloatArray, order: AnyArray) -> Chart:
    shown = order[:_MOST_COLUMNS][::-1]
    names = tuple(found.column_names[place] for place in shown.tolist())
    largest = float(sizes[shown].max()) or 1.0
    return Chart(
        "Mean size of SHAP values",
        Axis(f"mean absolute contribution to the {found.unit}", 0.0, 1.05 * largest),
        Axis("", -0.6, len(names) - 0.4, names=names),
        bars=(Bars("", sizes[shown]),),
    )


def _swarm(some: EvaluatedModel, values: FloatArray, order: AnyArray, found: Explanation) -> Chart:
    """A dot for each row and column; dots that would hide each other are stacked."""
    shown = order[:_MOST_COLUMNS][::-1].tolist()
    x: dict[str, list[FloatArray]] = {name: [] for name in _GROUPS}
    y: dict[str, list[FloatArray]] = {name: [] for name in _GROUPS}
    names = {name: place for place, name in enumerate(some.column_names)}
    ends = float(values[:, shown].min()), float(values[:, shown].max())
    for height, place in enumerate(shown):
        own = values[:, place]
        groups = _groups(some, names.get(found.column_names[place]))
        offsets = swarm_offsets(own, ends)
        for number, name in enumerate(_GROUPS):
            rows = groups == number
            x[name].append(own[rows])
            y[name].append(height + offsets[rows])
    points = tuple(
        Points(name, np.concatenate(x[name]), np.concatenate(y[name]))
        for name in _GROUPS
        if sum(map(len, x[name]))
    )
    room = 0.04 * (ends[1] - ends[0]) or 1.0
    low, high = min(0.0, ends[0]) - room, max(0.0, ends[1]) + room
    return Chart(
        "SHAP values of the rows",
        Axis(f"contribution to the {found.unit}", low, high),
        Axis("", -0.6, len(shown) - 0.4, names=tuple(found.column_names[place] for place in shown)),
        points=points,
        marks=(Mark(0.0),),
    )


def _groups(some: EvaluatedModel, place: int | None) -> AnyArray:
    """For each row whether its value is in the lower, the middle or the upper third; 3 for labels and missing ones."""
    n_rows = len(some.rows)
    if place is None or some.table.column(place).kind == "nominal":
        return np.full(n_rows, 3)
    column = column_part(some.table.column(place), some.rows)
    values = np.asarray(column.values, dtype=np.float64)
    known = ~missing_rows(column)
    groups = np.full(n_rows, 3)
    if known.any():
        low, high = np.quantile(values[known], [1 / 3, 2 / 3])
        groups[known] = np.where(values[known] > high, 2, np.where(values[known] < low, 0, 1))
        if len(np.unique(values[known])) == 2:
            groups[known] = np.where(values[known] == values[known].max(), 2, 0)
    return groups


def swarm_offsets(values: FloatArray, ends: tuple[float, float]) -> FloatArray:
    """How far up or down each dot moves: those in one bin are spread evenly, more of them wider.

    Examples
    --------
    >>> swarm_offsets(np.array([0.0, 0.0, 0.0, 1.0]), (0.0, 1.0)).round(2).tolist()
    [-0.36, 0.0, 0.36, 0.0]
    """
    low, high = ends
    bins = np.clip(((values - low) / ((high - low) or 1.0) * _N_BINS).astype(np.intp), 0, _N_BINS - 1)
    counts = np.bincount(bins, minlength=_N_BINS)
    fullest = max(2, int(counts.max()))
    offsets = np.zeros(len(values))
    for own in np.flatnonzero(counts > 1).tolist():
        rows = np.flatnonzero(bins == own)
        reach = _HALF_HEIGHT * (len(rows) - 1) / (fullest - 1)
        offsets[rows] = np.linspace(-reach, reach, len(rows))
    return offsets
