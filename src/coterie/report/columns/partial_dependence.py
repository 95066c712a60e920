"""Partial dependence on the most important columns, drawn on one scale."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie._typing import FloatArray, RowArray
from coterie.data.column_from_rows import with_column_from_rows
from coterie.data.parts import rows_of
from coterie.diagnostics.dependence import DependenceCurve, dependence
from coterie.diagnostics.importance import Importance
from coterie.plots.chart import Axis, Chart, Line, Points
from coterie.report.columns.values import (
    FEW_ROWS,
    MISSING,
    coarse,
    column_part,
    hardly_repeats,
    missing_rows,
    number_text,
    short_text,
)
from coterie.report.content import Figure, Paragraph, Section
from coterie.report.evaluated_model import EvaluatedModel, predicted_probabilities
from coterie.report.forms.number_format import percent, plural

_MOST_CURVES = 6
_CURVE_ROWS = 200
_CURVE_POINTS = 15
_MOST_LEVELS = 12
_FEW_VALUES = 6
_FAR = 0.02  # share of rows at either end that curves do not reach


def partial_dependence_section(evaluated: EvaluatedModel, found: Importance) -> Section:
    key, title = "partial_dependence", "Partial dependence"
    worth = [place for place in found.order.tolist() if found.values[place] > 0]
    important = [evaluated.column_names.index(found.names[place]) for place in worth]
    unique = {place for place in important if hardly_repeats(evaluated.table.column(place))}
    places = [place for place in important if place not in unique][:_MOST_CURVES]
    if not places:
        reason = (
            "the labels of the important columns hardly repeat."
            if unique
            else "no column has a positive importance."
        )
        return Section(key, title, reason=reason)
    some = evaluated.subsample(_CURVE_ROWS)
    target = None
    if evaluated.classes is not None and len(evaluated.classes) != 2:
        target = evaluated.classes.tolist()[int(np.bincount(evaluated.y_true).argmax())]
    curves = dependence(
        evaluated.model,
        some.X,
        places,
        kind="average",
        grid_resolution=_CURVE_POINTS,
        target=target,
        n_jobs=evaluated.n_jobs,
    )
    about = "" if target is None else f" The curves are of the most frequent class, “{target}”."
    text = (
        f"The mean prediction for {plural(len(some.rows), 'row')} if all of them had the same value in one column, "
        f"for the {plural(len(places), 'most important column')}. All are drawn on one scale.{about}"
    )
    drawn = [
        _Drawn(readable, some, place, _without_value(evaluated, some, place, target))
        for own, place in zip(curves.curves, places, strict=True)
        if len((readable := _readable(own, evaluated.shows_rows)).grid)
    ]
    if not drawn:
        return Section(key, title, reason="the labels of the important columns have few rows each.")
    limits = _limits(np.concatenate([own.heights() for own in drawn]))
    figures = [
        Figure(own.chart(curves.meaning, limits), own.caption(evaluated), legend=False) for own in drawn
    ]
    return Section(key, title, (Paragraph(text), *figures))


def _readable(curve: DependenceCurve, shows_rows: bool) -> DependenceCurve:
    """Of very many levels, the most frequent; without rows none of those that few rows have."""
    if curve.categorical and not shows_rows:
        common = np.flatnonzero(curve.count >= FEW_ROWS)
        curve = replace(
            curve, grid=curve.grid[common], average=curve.average[common], count=curve.count[common]
        )
    if not curve.categorical or len(curve.grid) <= _MOST_LEVELS:
        return curve
    some = np.sort(np.argsort(-curve.count, kind="stable")[:_MOST_LEVELS])
    return replace(curve, grid=curve.grid[some], average=curve.average[some], count=curve.count[some])


def _without_value(evaluated: EvaluatedModel, some: EvaluatedModel, place: int, target: Any) -> float | None:
    """The mean prediction if the column is missing in all rows; None if no row of the report lacks it."""
    missing = np.flatnonzero(missing_rows(column_part(evaluated.table.column(place), evaluated.rows)))
    if not len(missing):
        return None
    together = rows_of(evaluated.X, np.append(missing[0], _places_in(evaluated, some)))
    moved = with_column_from_rows(together, place, np.zeros(len(some.rows) + 1, dtype=np.intp))
    if evaluated.classes is None:
        return float(np.asarray(evaluated.model.predict(moved), dtype=np.float64)[1:].mean())
    proba = predicted_probabilities(evaluated.model, moved)
    if proba is None:
        return None
    code = 1 if target is None else evaluated.classes.tolist().index(target)
    return float(proba[1:, code].mean())


def _places_in(evaluated: EvaluatedModel, some: EvaluatedModel) -> RowArray:
    return np.searchsorted(evaluated.rows, some.rows)


def _limits(values: FloatArray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.06 * (high - low) or 0.5
    return low - room, high + room


@dataclass(frozen=True)
class _Drawn:
    """A curve and the rows that it is about.

    Attributes
    ----------
    curve : of the levels or numbers that are drawn
    some : the rows whose predictions are averaged
    place : the position of the column
    missing : the mean prediction if the column is missing, or None
    """

    curve: DependenceCurve
    some: EvaluatedModel
    place: int
    missing: float | None

    def _inner(self) -> FloatArray:
        """Which numbers of the grid are not far from most rows: a line to a single far one says nothing."""
        values = self._values()
        if not len(values):
            return np.ones(len(self.curve.grid), dtype=bool)
        low, high = np.quantile(values, [_FAR, 1 - _FAR], method="inverted_cdf")
        inner = (self.curve.grid >= low) & (self.curve.grid <= high)
        return np.asarray(inner if inner.sum() > 1 else np.ones(len(inner), dtype=bool))

    def _values(self) -> FloatArray:
        values = np.asarray(self.some.table.column(self.place).values, dtype=np.float64)[self.some.rows]
        return np.sort(values[np.isfinite(values)])

    def _is_of_few(self) -> bool:
        """Whether the column holds so few numbers that a line between them would mean nothing."""
        return len(np.unique(self._values())) <= _FEW_VALUES and self.place not in self.some.dates

    def _name(self, value: Any) -> str:
        if self.curve.categorical:
            return short_text(str(value))
        return number_text(value, is_date=False, is_flag=self.place in self.some.flags)

    def heights(self) -> FloatArray:
        average = self.curve.average
        if not (self.curve.categorical or self._is_of_few()):
            average = average[self._inner()]
        return average if self.missing is None else np.append(average, self.missing)

    def chart(self, meaning: str, limits: tuple[float, float]) -> Chart:
        curve, y = self.curve, Axis(meaning, *limits)
        title = f"Partial dependence on {curve.name}"
        if curve.categorical or self._is_of_few():
            names = [self._name(value) for value in curve.grid.tolist()]
            heights = curve.average
            if self.missing is not None:
                names, heights = [*names, MISSING], np.append(heights, self.missing)
            places = np.arange(float(len(names)))
            x = Axis(curve.name, -0.5, len(names) - 0.5, names=tuple(names))
            return Chart(title, x, y, points=(Points("mean prediction", places, heights),))
        inner = self._inner()
        grid = curve.grid[inner].astype(np.float64)
        average = curve.average[inner]
        if not self.some.shows_rows:
            grid = coarse(grid)
        low, high = float(grid[0]), float(grid[-1])
        if low == high:
            low, high = low - 0.5, high + 0.5
        room = 0.02 * (high - low)
        x = Axis(curve.name, low - room, high + room, dates=self.place in self.some.dates)
        lines = [Line("mean prediction", grid, average)]
        if self.missing is not None:
            lines.append(Line("if missing", np.array([low, high]), np.full(2, self.missing)))
        points = [Points("mean prediction", grid, average)]
        if self.some.shows_rows:
            values = self._values()
            values = values[(values >= low) & (values <= high)]
            height = limits[0] + 0.015 * (limits[1] - limits[0])
            points.append(Points("rows", values, np.full(len(values), height)))
        return Chart(title, x, y, tuple(lines), points=tuple(points))

    def caption(self, evaluated: EvaluatedModel) -> str:
        if self.curve.categorical:
            column = evaluated.table.column(self.place)
            held = column.values[self.some.rows]
            n_levels, shown = len(np.unique(held[held >= 0])), len(self.curve.grid)
            return f"The {shown} most frequent of {n_levels} labels." if shown < n_levels else ""
        if self._is_of_few():
            return ""
        parts = []
        if self.some.shows_rows:
            parts.append("Dots at the bottom: values of rows.")
        if self.missing is not None:
            parts.append("Dashed: if the value is missing.")
        if not self._inner().all():
            parts.append(
                f"From the {percent(_FAR)} quantile of the rows to the {percent(1 - _FAR)} quantile."
            )
        return " ".join(parts)
