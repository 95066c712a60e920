"""Parts of the report, each on its own."""

import math

import numpy as np

from coterie.report.content import ConfusionMatrix
from coterie.report.errors.residuals import _distribution
from coterie.report.forms.number_format import percent
from coterie.report.forms.plain_text import _block
from coterie.report.model.training_curves import _numbers


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
