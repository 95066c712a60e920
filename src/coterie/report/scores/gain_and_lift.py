"""Gain and lift: what is found if only the rows with the highest probabilities are looked at."""

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.plots.chart import Axis, Chart, Line
from coterie.report.content import Cell, Figure, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel, Predictions
from coterie.report.forms.number_format import format_number, percent
from coterie.report.scores.two_classes import positive_class

_SHARES = np.linspace(0, 1, 101)
_TENTHS = np.linspace(0.1, 1, 10)


def gain_and_lift_section(evaluated: EvaluatedModel, predictions: Predictions, where: str) -> Section:
    key, title = "gain_and_lift", "Gain and lift"
    found = positive_class(evaluated, predictions)
    if isinstance(found, str):
        return Section(key, title, reason=found)
    label, score, positive = found
    gains = cumulative_gain(score, positive, _SHARES)
    fifth = float(cumulative_gain(score, positive, np.array([0.2]))[0])
    text = (
        f"If rows are sorted by their probability of “{label}”, {where}, the first fifth of them holds "
        f"{percent(fifth)} of all “{label}”: {format_number(fifth / 0.2)} times as many as a random fifth."
    )
    ideal = np.minimum(1.0, _SHARES / float(positive.mean()))
    gain = Chart(
        "Cumulative gain curve",
        Axis("share of rows, the highest probabilities first", 0.0, 1.0),
        Axis(f"share of all “{label}” found", 0.0, 1.0),
        (
            Line("model", _SHARES, gains),
            Line("chance", np.array([0.0, 1.0]), np.array([0.0, 1.0])),
            Line("perfect", _SHARES, ideal),
        ),
    )
    lifts = gains[1:] / _SHARES[1:]
    lift = Chart(
        "Lift curve",
        Axis("share of rows, the highest probabilities first", 0.0, 1.0),
        Axis("times as many as by chance", 0.0, 1.08 * max(1.0, float(lifts.max()))),
        (
            Line("model", _SHARES[1:], lifts),
            Line("chance", np.array([0.0, 1.0]), np.array([1.0, 1.0])),
        ),
    )
    return Section(
        key, title, (Paragraph(text), Figure(gain), Figure(lift), _by_tenth(score, positive, label))
    )


def cumulative_gain(score: FloatArray, positive: AnyArray, shares: FloatArray) -> FloatArray:
    """The share of the positive rows among these shares of rows with the highest scores.

    Rows with equal scores come in a random order; this is the mean over all orders.

    Examples
    --------
    >>> score, positive = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    >>> cumulative_gain(score, positive, np.array([0.25, 0.5, 1.0]))
    array([0.5 , 0.75, 1.  ])
    """
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    seen = np.append(0, ends + 1) / len(score)
    found = np.append(0, np.cumsum(positive[order])[ends]) / positive.sum()
    return np.asarray(np.interp(shares, seen, found))


def _by_tenth(score: FloatArray, positive: AnyArray, label: str) -> TableBlock:
    gains = cumulative_gain(score, positive, _TENTHS)
    lowest = np.quantile(score, 1 - _TENTHS, method="inverted_cdf")
    n_positive = int(positive.sum())
    rows: list[tuple[Cell, ...]] = []
    for place, share in enumerate(_TENTHS.tolist()):
        gain = float(gains[place])
        within = gain - (float(gains[place - 1]) if place else 0.0)
        rows.append(
            (
                percent(share),
                float(lowest[place]),
                round(n_positive * gain),
                percent(gain),
                float(gain / share),
                percent(within * n_positive / (0.1 * len(score))),
            )
        )
    columns = (
        "rows looked at",
        "lowest probability",
        f"“{label}” found",
        "gain",
        "lift",
        f"share of “{label}” in this tenth",
    )
    caption = (
        "Gain: the share of all positive rows found so far. Lift: the gain divided by the share of rows."
    )
    return TableBlock(columns, tuple(rows), caption)
