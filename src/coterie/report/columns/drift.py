"""Whether the columns hold the same in these rows as in those of the fit, with a test for each column.

The test is Pearson's chi-squared test of homogeneity over the cells of the profile. P-values are corrected for the
number of columns by Holm's method. Of many rows every difference is significant, so a column counts as changed only
if it moved far enough as well: by the total variation distance, the share of rows that would have to change.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.stats import chi2

from coterie._typing import AnyArray, FloatArray
from coterie.data.table import Table
from coterie.plots.chart import Axis, Bars, Chart
from coterie.report.columns.profile import ColumnProfile, TableProfile
from coterie.report.columns.values import FEW_ROWS, column_part, day_text
from coterie.report.content import Block, Cell, Fact, Facts, Figure, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel
from coterie.report.forms.number_format import percent, plural

_LEVEL = 0.01  # of significance, for all columns together
_FAR = 0.1  # share of rows that would have to change
_LEAST_ROWS = 30
_LEAST_IN_CELL = 10  # rows of both tables: smaller cells are put together
_MOST_LISTED = 50
_MOST_BARS = 15


@dataclass(frozen=True)
class ColumnDrift:
    """How far a column moved.

    Attributes
    ----------
    name : str
    distance : total variation distance between the two tables
    p_value : of the chi-squared test
    corrected : the same, corrected for the number of columns
    words : what changed most
    """

    name: str
    distance: float
    p_value: float
    corrected: float
    words: str

    @property
    def is_changed(self) -> bool:
        return self.corrected < _LEVEL and self.distance >= _FAR


def drift_section(evaluated: EvaluatedModel, reference: TableProfile | None, seen: bool | None) -> Section:
    key, title = "drift", "Drift since the fit"
    if seen:
        return Section(key, title, reason="these are the rows of the fit.")
    if reference is None:
        reason = "nothing is known about the rows of the fit; pass reference=X_train. Files of `coterie fit` know it."
        return Section(key, title, reason=reason)
    if min(reference.n_rows, evaluated.n_rows) < _LEAST_ROWS:
        return Section(
            key, title, reason=f"it takes at least {_LEAST_ROWS} rows in both tables to compare them."
        )
    least_named = 1 if evaluated.shows_rows else FEW_ROWS
    found = drift_of(reference, evaluated.table, evaluated.dates, least_named, evaluated.flags)
    if not found:
        return Section(
            key, title, reason="no column of the fit is in this table with the same kind of values."
        )
    changed = [own for own in found if own.is_changed]
    blocks: list[Block] = [
        Paragraph(_sentence(found, changed), "warning" if changed else "plain"),
        Facts(
            (
                Fact("columns compared", f"{len(found):,}"),
                Fact("changed", f"{len(changed):,}", f"p below {_LEVEL}, and a distance of at least {_FAR}"),
                Fact("rows of the fit", f"{reference.n_rows:,}", "that the summary is about"),
            )
        ),
    ]
    shown = found[:_MOST_BARS][::-1]
    names = tuple(own.name for own in shown)
    largest = max(own.distance for own in shown)
    chart = Chart(
        "Distance from the rows of the fit",
        Axis("share of rows that would have to change", 0.0, max(0.1, 1.05 * largest)),
        Axis("", -0.6, len(names) - 0.4, names=names),
        bars=(Bars("", np.array([own.distance for own in shown])),),
    )
    blocks.append(Figure(chart))
    rows: list[tuple[Cell, ...]] = [
        (own.name, own.distance, _p_text(own.corrected), "changed" if own.is_changed else "", own.words)
        for own in found[:_MOST_LISTED]
    ]
    caption = (
        "Distance: total variation, 0 for the same shares and 1 for none in common. p: chi-squared test, corrected for "
        "the number of columns by Holm's method."
    )
    blocks.append(
        TableBlock(
            ("column", "distance", "p", "verdict", "what changed most"),
            tuple(rows),
            caption,
            n_left_out=len(found) - len(rows),
            folded=not changed and len(rows) > 12,
        )
    )
    return Section(key, title, tuple(blocks))


def _sentence(found: list[ColumnDrift], changed: list[ColumnDrift]) -> str:
    if not changed:
        return "No column has changed noticeably since the fit."
    listed = ", ".join(f"“{own.name}”" for own in changed[:5]) + (" and others" if len(changed) > 5 else "")
    verb = "has" if len(changed) == 1 else "have"
    return (
        f"{plural(len(changed), 'column')} of {len(found):,} {verb} changed since the fit: {listed}. The model may be "
        "less accurate than it was; if this lasts, fit it again with newer rows."
    )


def _p_text(p_value: float) -> str:
    return "below 0.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def drift_of(
    reference: TableProfile,
    table: Table,
    dates: frozenset[int] = frozenset(),
    least_named: int = 1,
    flags: frozenset[int] = frozenset(),
) -> list[ColumnDrift]:
    """The columns of the profile that the table has too, the largest distance first.

    A label that fewer rows of the fit have than `least_named` is not named.
    """
    places = {table.label(place): place for place in range(table.n_columns)}
    raw = []
    for own in reference.columns:
        place = places.get(own.name)
        if place is None:
            continue
        counts = own.counts_of(column_part(table.column(place), np.arange(table.n_rows)))
        if counts is None:
            continue
        before = np.array(own.counts)
        shares, now = before / before.sum(), counts / counts.sum()
        distance = float(np.abs(shares - now).sum() / 2)
        names = _dated(own) if place in dates else own.cell_names()
        if place in flags and len(own.cuts) == 1:
            names = ["False", "True", "missing"]
        if own.levels is not None:
            rare = before[: len(own.levels)] < least_named
            names = ["a rare label" if at < len(rare) and rare[at] else name for at, name in enumerate(names)]
        raw.append((own.name, distance, chi_squared_p(before, counts), _words(names, shares, now)))
    corrected = holm(np.array([own[2] for own in raw]))
    found = [
        ColumnDrift(name, distance, p_value, float(corrected[at]), words)
        for at, (name, distance, p_value, words) in enumerate(raw)
    ]
    return sorted(found, key=lambda own: (-own.is_changed, -own.distance))


def _dated(own: ColumnProfile) -> list[str]:
    ends = [day_text(float(np.floor(cut))) for cut in own.cuts]
    if not ends:
        return own.cell_names()
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    return [f"before {ends[0]}", *between, f"{ends[-1]} and later", "missing"]


def _words(names: list[str], before: FloatArray, now: FloatArray) -> str:
    """The cell whose share changed most."""
    change = now - before
    most = int(np.abs(change).argmax())
    if change[most] == 0:
        return "nothing"
    more = "more" if change[most] > 0 else "less"
    return f"{more} often {names[most]}: {percent(float(now[most]))}, and {percent(float(before[most]))} in the fit"


def chi_squared_p(before: AnyArray, now: AnyArray) -> float:
    """The p-value of Pearson's test that both rows of counts have the same shares; small cells are put together.

    Examples
    --------
    >>> before = np.array([30, 70])
    >>> chi_squared_p(before, 2 * before), round(chi_squared_p(before, before[::-1]), 9)
    (1.0, 1.5e-08)
    """
    both = np.array([before, now], dtype=np.float64)
    few = both.sum(axis=0) < _LEAST_IN_CELL
    if few.any():
        both = np.column_stack([both[:, ~few], both[:, few].sum(axis=1)])
    both = both[:, both.sum(axis=0) > 0]
    if both.shape[1] < 2:
        return 1.0
    expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0) / both.sum()
    statistic = float(((both - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, both.shape[1] - 1))


def holm(p_values: FloatArray) -> FloatArray:
    """P-values corrected by Holm's method, in the order in which they came.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return corrected
