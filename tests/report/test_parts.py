"""Parts of the report, each on its own."""

import math

import numpy as np
import pytest

from coterie.report.columns import shap_summary
from coterie.report.content import ConfusionMatrix, Figure
from coterie.report.errors.residuals import _distribution
from coterie.report.forms.number_format import format_number, percent
from coterie.report.forms.plain_text import _block
from coterie.report.model.training_curves import _numbers
from coterie.report.scores.thresholds import ranking_curves
from tests.helpers.reports import coterie_report, fitted, report_of


def test_a_share_that_is_not_known_is_a_dash():
    assert percent(math.nan) == "–"
    assert percent(math.inf) == "–"


def test_three_finite_values_make_a_curve():
    assert _numbers([0.5, 0.4, 0.3]).tolist() == [0.5, 0.4, 0.3]
    assert _numbers([0.5, 0.4, math.nan]) is None
    assert _numbers([[0.5, 0.4, 0.3]]) is None


def test_a_distribution_is_drawn_in_steps():
    (line,) = _distribution(np.arange(50.0)).lines
    assert line.steps
    assert math.isclose(line.y[:-1].sum(), 1.0)


def test_a_confusion_matrix_is_written_as_plain_values():
    block = ConfusionMatrix(labels=("no", "yes"), counts=np.array([[3, 1], [0, 2]]), caption="Counts.")
    written = _block(block)
    assert written["kind"] == "confusion_matrix"
    assert written["labels"] == ["no", "yes"]
    assert written["counts"] == [[3, 1], [0, 2]]


def test_numbers_have_four_digits() -> None:
    assert [format_number(value) for value in (1.23456, 12.3456, 123.456, 999.94)] == [
        "1.235",
        "12.35",
        "123.5",
        "999.9",
    ]


@pytest.mark.parametrize("name", ["two", "three", "numbers", "boosting"])
def test_charts_show_what_they_hold(name: str) -> None:
    """Every axis has a length, and every line and bar begins and ends on the chart."""
    blocks = [block for section in report_of(name).sections for block in section.blocks]
    charts = [block.chart for block in blocks if isinstance(block, Figure)]
    assert len(charts) > 3
    for chart in charts:
        for axis in (chart.x, chart.y):
            assert axis.low < axis.high, (chart.title, axis)
        for line in chart.lines:
            for values, axis in ((line.x, chart.x), (line.y, chart.y)):
                known = values[np.isfinite(values)]
                room = 1e-9 * (axis.high - axis.low)
                assert known.min() >= axis.low - room, (chart.title, line.label)
                assert known.max() <= axis.high + room, (chart.title, line.label)
        for bars in chart.bars:
            assert bars.length.max() <= chart.x.high, chart.title
            assert bars.length.max() >= 0.5 * chart.x.high, chart.title


def test_the_leaderboard_counts_members_without_weight() -> None:
    [text] = [
        block.text
        for section in report_of("two").sections
        if section.key == "leaderboard"
        for block in section.blocks[:1]
    ]
    weights = [row["weight"] for row in fitted("two")[0].leaderboard()]
    n_unused = sum(weight == 0 for weight in weights)

    assert n_unused > 0
    assert f"{n_unused} of {len(weights) - 1} members" in text


def test_long_curves_begin_with_the_highest_score() -> None:
    score = np.linspace(0, 1, 5000)
    positive = np.arange(5000) % 3 == 0
    positive[-1] = True

    rate, recall, precision = ranking_curves(score, positive)

    assert (rate[1], recall[1]) == (0.0, pytest.approx(1 / positive.sum()))
    assert (rate[-1], recall[-1], precision[0]) == (1.0, 1.0, 1.0)


def test_a_model_that_cannot_explain_has_no_summary() -> None:
    section = next(own for own in report_of("voting").sections if own.key == "shap_summary")

    assert section.reason
    assert section.blocks == ()


def test_a_committee_of_many_columns_is_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    model, X, y = fitted("two")
    monkeypatch.setattr(shap_summary, "_MOST_SAMPLED", 3)

    sections = coterie_report().build(model, X, y).sections

    [reason] = [own.reason for own in sections if own.key == "shap_summary"]
    assert reason == "a committee of more than 3 columns takes too long to explain here."
