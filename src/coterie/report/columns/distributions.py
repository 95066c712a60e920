"""What the target and the columns hold: histograms, shares of labels, and a table of quantiles."""

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.table import Column
from coterie.diagnostics.importance import Importance
from coterie.plots.chart import MAX_LABEL_LENGTH, Axis, Bars, Chart, Line, ticks
from coterie.report.columns.values import (
    FEW_ROWS,
    MISSING,
    coarse,
    day_text,
    hardly_repeats,
    missing_rows,
    number_text,
    short_text,
)
from coterie.report.content import Block, Cell, Figure, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel
from coterie.report.forms.number_format import percent, plural

_MOST_CHARTS = 8
_MOST_BARS = 10
_MOST_LISTED = 50
_N_BINS = 24
_FEW_VALUES = 6  # numbers that each have a bar


def distributions_section(evaluated: EvaluatedModel, importance: Importance) -> Section:
    names = {name: place for place, name in enumerate(evaluated.column_names)}
    order = [names[importance.names[place]] for place in importance.order.tolist()]
    order += [place for place in range(evaluated.table.n_columns) if place not in set(order)]
    charts = [_of_target(evaluated)]
    charts += [_chart_of(evaluated, place) for place in order[:_MOST_CHARTS]]
    n_columns = evaluated.table.n_columns
    which = (
        "of all columns"
        if n_columns <= _MOST_CHARTS
        else f"of the {_MOST_CHARTS} most important of {plural(n_columns, 'column')}"
    )
    text = f"Distributions of the target and {which}, over {plural(evaluated.n_rows, 'row')}."
    if not evaluated.shows_rows:
        text += f" Labels with fewer than {FEW_ROWS} rows are put together, and no smallest or largest value is shown."
    blocks: list[Block] = [Paragraph(text), *(Figure(chart, caption) for chart, caption in charts)]
    blocks += _tables(evaluated, order)
    return Section("distributions", "Distributions", tuple(blocks))


def _of_target(evaluated: EvaluatedModel) -> tuple[Chart, str]:
    if evaluated.classes is None:
        values = np.asarray(evaluated.all_y_true, dtype=np.float64)
        return _histogram(
            "Distribution of the target", "target", values, is_date=False, exact=evaluated.shows_rows
        ), ""
    counts = np.bincount(evaluated.all_y_true, minlength=len(evaluated.classes))
    return _bars("Distribution of the target", list(evaluated.labels), counts, evaluated.n_rows)


def _chart_of(evaluated: EvaluatedModel, place: int) -> tuple[Chart, str]:
    column, name = evaluated.table.column(place), evaluated.column_names[place]
    title = f"Distribution of {name}"
    missing = missing_rows(column)
    if column.levels is not None:
        counts = np.bincount(column.values[~missing], minlength=len(column.levels))
        labels = [short_text(str(level)) for level in column.levels.tolist()]
        if hardly_repeats(column):
            lengths = np.array([len(str(level)) for level in column.levels.tolist()], dtype=np.float64)
            values, what = lengths[column.values[~missing]], f"length of {name}, in characters"
            caption = "Nearly every row has a text of its own, so this is how long they are."
            return _histogram(title, what, values, is_date=False, exact=evaluated.shows_rows), caption
        return _bars(title, *_safe_labels(labels, counts, evaluated), evaluated.n_rows, int(missing.sum()))
    values = np.asarray(column.values, dtype=np.float64)
    distinct = np.unique(values[~missing])
    if 0 < len(distinct) <= _FEW_VALUES and place not in evaluated.dates:
        counts = np.array([int((values == value).sum()) for value in distinct.tolist()])
        is_flag = place in evaluated.flags
        labels = [number_text(value, is_date=False, is_flag=is_flag) for value in distinct.tolist()]
        return _bars(title, *_safe_labels(labels, counts, evaluated), evaluated.n_rows, int(missing.sum()))
    share = float(missing.mean())
    caption = f"Missing: {percent(share)}." if share else ""
    exact = evaluated.shows_rows
    return (
        _histogram(title, name, values[np.isfinite(values)], is_date=place in evaluated.dates, exact=exact),
        caption,
    )


def _safe_labels(
    labels: list[str], counts: AnyArray, evaluated: EvaluatedModel
) -> tuple[list[str], AnyArray]:
    """Without rows, labels of few rows are put together."""
    few = counts < FEW_ROWS
    if evaluated.shows_rows or not few.any():
        return labels, counts
    kept = [label for label, rare in zip(labels, few.tolist(), strict=True) if not rare]
    return [*kept, "rare labels"], np.append(counts[~few], counts[few].sum())


def _bars(
    name: str, labels: list[str], counts: AnyArray, n_rows: int, n_missing: int = 0
) -> tuple[Chart, str]:
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    shown, hidden = order[:_MOST_BARS].tolist(), order[_MOST_BARS:]
    names = [labels[place] for place in shown]
    sizes = [int(counts[place]) for place in shown]
    if len(hidden):
        names, sizes = [*names, f"{len(hidden):,} other labels"], [*sizes, int(counts[hidden].sum())]
    if n_missing:
        names, sizes = [*names, MISSING], [*sizes, n_missing]
    if not names:
        names, sizes = [MISSING], [n_rows]
    shares = np.array(sizes[::-1], dtype=np.float64) / n_rows
    chart = Chart(
        name,
        Axis("share of rows", 0.0, 1.05 * float(shares.max())),
        Axis("", -0.6, len(names) - 0.4, names=tuple(names[::-1])),
        bars=(Bars("", shares),),
    )
    cut = [own for own in names if len(own) > MAX_LABEL_LENGTH]
    return chart, "Long labels are cut; the table below has them whole." if cut else ""


def _histogram(title: str, label: str, values: FloatArray, *, is_date: bool, exact: bool) -> Chart:
    """The ends are round numbers unless they may be those of single rows; a few far values are not shown."""
    if not len(values):
        values = np.zeros(1)
    low, high = (float(end) for end in np.quantile(values, [0.005, 0.995]))
    if exact and len(np.unique(values)) <= _N_BINS:
        low, high = float(values.min()), float(values.max())
    room = (high - low) or max(1.0, 0.1 * abs(high))
    if not exact:
        marks = ticks(Axis("", low - 1e-9 * room, low + room))
        step = marks[1] - marks[0] if len(marks) > 1 else room
        low, high = np.floor(low / step) * step, np.ceil((low + room) / step) * step
    elif high == low:
        low, high = low - room / 2, low + room / 2
    counts, edges = np.histogram(values, bins=_bins(values, low, high))
    shares = np.append(counts, counts[-1]) / len(values)
    return Chart(
        title,
        Axis(label, float(edges[0]), float(edges[-1]), dates=is_date),
        Axis("share of rows", 0.0, 1.08 * float(shares.max()) or 1.0),
        (Line("rows", edges, shares, steps=True),),
    )


def _bins(values: FloatArray, low: float, high: float) -> FloatArray:
    """One for each of few whole numbers, so that none shares a bin with another."""
    whole = bool((values == np.round(values)).all())
    if whole and 1 <= high - low <= 2 * _N_BINS:
        return np.arange(np.floor(low), np.ceil(high) + 2) - 0.5
    return np.linspace(low, high, _N_BINS + 1)


def _tables(evaluated: EvaluatedModel, order: list[int]) -> list[TableBlock]:
    numbers: list[tuple[Cell, ...]] = []
    days: list[tuple[Cell, ...]] = []
    labels: list[tuple[Cell, ...]] = []
    for place in order[:_MOST_LISTED]:
        column, name = evaluated.table.column(place), evaluated.column_names[place]
        if column.levels is None and place in evaluated.flags:
            labels.append(_row_of_labels(evaluated, _with_words(column), name))
        elif column.levels is None:
            row = _row_of_numbers(evaluated, column, name, place)
            (days if place in evaluated.dates else numbers).append(row)
        else:
            labels.append(_row_of_labels(evaluated, column, name))
    left = evaluated.table.n_columns - len(numbers) - len(days) - len(labels)
    ends = ("smallest", "largest") if evaluated.shows_rows else ()
    found: list[TableBlock] = []
    quantiles = ("missing", "mean", "5 %", "median", "95 %", *ends)
    for rows, columns in (
        (numbers, ("numeric column", *quantiles)),
        (days, ("column of dates", *quantiles)),
        (labels, ("categorical column", "missing", "labels", "most frequent")),
    ):
        if rows:
            found.append(TableBlock(columns, tuple(rows), "", 0 if found else left, folded=len(rows) > 12))
    return found


def _row_of_numbers(evaluated: EvaluatedModel, column: Column, name: str, place: int) -> tuple[Cell, ...]:
    is_date = place in evaluated.dates
    values = np.asarray(column.values, dtype=np.float64)
    missing = percent(float(np.isnan(values).mean()))
    values = values[np.isfinite(values)]
    if not len(values):
        return (name, missing, *([""] * (6 if evaluated.shows_rows else 4)))
    wanted = [0.05, 0.5, 0.95, *([0.0, 1.0] if evaluated.shows_rows else [])]
    numbers = [float(values.mean()), *np.quantile(values, wanted).tolist()]
    if not evaluated.shows_rows:
        numbers = coarse(np.array(numbers)).tolist() if np.ptp(values) > 0 else numbers
    if is_date:
        return (name, missing, *(day_text(float(np.floor(number))) for number in numbers))
    return (name, missing, *(number_text(number, is_date=False) for number in numbers))


def _with_words(flags: Column) -> Column:
    """A column of True and False as one of labels."""
    values = np.where(missing_rows(flags), -1, flags.values == 1).astype(np.int32)
    return Column(flags.name, "nominal", values, np.array([False, True], dtype=object))


def _row_of_labels(evaluated: EvaluatedModel, column: Column, name: str) -> tuple[Cell, ...]:
    assert column.levels is not None
    missing = missing_rows(column)
    counts = np.bincount(column.values[~missing], minlength=len(column.levels))
    least = 1 if evaluated.shows_rows else FEW_ROWS
    order = [place for place in np.argsort(-counts, kind="stable")[:4].tolist() if counts[place] >= least]
    if hardly_repeats(column):
        return (name, percent(float(missing.mean())), int((counts > 0).sum()), "nearly all different")
    n_rows = max(1, len(column.values))
    listed = ", ".join(
        f"{short_text(str(column.levels[place]))} ({percent(counts[place] / n_rows)})" for place in order
    )
    return (name, percent(float(missing.mean())), int((counts > 0).sum()), listed or "rare labels only")
