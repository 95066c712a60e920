"""Losses row by row: slopes and curvatures are those of the values, and the values those of the losses beside them."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax

from coterie.errors import InvalidParameter
from coterie.losses import (
    LOSS_NAMES,
    CustomLoss,
    Expectile,
    Huber,
    Origin,
    Quantile,
    Tweedie,
    class_loss_of,
    loss_of,
)
from coterie.losses.choices import SquaredOfSeveral
from coterie.losses.row_losses import row_loss_of_classes, row_loss_of_numbers

RNG = np.random.default_rng(4)
N = 40
LOG_COSH = CustomLoss(
    value=lambda y, score: np.logaddexp(score - y, y - score),
    gradient=lambda y, score: np.tanh(score - y),
    hessian=lambda y, score: 1 - np.tanh(score - y) ** 2,
)
NUMBERS = [
    *LOSS_NAMES,
    Quantile(0.8),
    Quantile((0.1, 0.5, 0.9)),
    Huber(0.5),
    Expectile(0.2),
    Tweedie(1.2),
    LOG_COSH,
]


def problem(choice: Any) -> tuple[Any, Any, Any]:
    """The loss of a regressor, targets that every loss takes, and scores near them."""
    y = RNG.uniform(0.05, 0.95, N)
    loss = row_loss_of_numbers(loss_of(choice), y, None)
    return loss, y, RNG.normal(size=(N, loss_of(choice).n_outputs))


def classes(choice: Any, n_classes: int) -> tuple[Any, Any, Any]:
    return (
        row_loss_of_classes(choice, n_classes),
        RNG.integers(0, n_classes, N),
        RNG.normal(size=(N, 1 if n_classes == 2 else n_classes)),
    )


TWO_CLASSES = CustomLoss(
    value=lambda y, score: (score - 2 * y + 1) ** 2 / 2,
    gradient=lambda y, score: score - 2 * y + 1,
)
CASES = {f"{choice}": problem(choice) for choice in NUMBERS} | {
    "two classes": classes("log_loss", 2),
    "exponential": classes("exponential", 2),
    "five classes": classes("log_loss", 5),
    "own loss of classes": classes(TWO_CLASSES, 2),
}
STRAIGHT = [name for name, (loss, *_) in CASES.items() if type(loss).__name__ == "_Pinball"]


@pytest.mark.parametrize("case", CASES)
def test_a_gradient_is_the_slope_of_the_value(case: str) -> None:
    loss, y, scores = CASES[case]
    slopes = loss.gradients(y, scores)

    assert slopes.shape == scores.shape
    for output in range(scores.shape[1]):
        shift = 1e-6 * (np.arange(scores.shape[1]) == output)
        found = (loss.values(y, scores + shift) - loss.values(y, scores - shift)) / 2e-6
        assert_allclose(slopes[:, output], found, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("case", [name for name in CASES if name not in (*STRAIGHT, "own loss of classes")])
def test_a_curvature_is_the_bend_along_the_direction(case: str) -> None:
    loss, y, scores = CASES[case]
    along = RNG.normal(size=scores.shape)
    slope = [(loss.gradients(y, scores + t * along) * along).sum(axis=1) for t in (-1e-6, 1e-6)]

    assert_allclose(loss.curvatures(y, scores, along), (slope[1] - slope[0]) / 2e-6, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("case", [*STRAIGHT, "own loss of classes"])
def test_a_loss_that_knows_no_curvature_says_so(case: str) -> None:
    loss, y, scores = CASES[case]

    assert loss.curvatures(y, scores, np.ones_like(scores)) is None


# The turn of Huber's loss is another quantile there, and moves; several quantiles count as their mean.
SAME = [each for each in NUMBERS if each != "huber" and not isinstance(each, Quantile | Huber)]


@pytest.mark.parametrize("choice", SAME)
def test_the_mean_is_what_the_trees_of_boosting_minimise(choice: Any) -> None:
    loss, y, scores = problem(choice)
    begun = loss_of(choice).begin(y, None, 1)

    assert loss.values(y, scores).mean() == pytest.approx(begun.value(scores, y, None), rel=1e-12)


@pytest.mark.parametrize("choice", [each for each in NUMBERS if each != "huber" and each != Huber(0.5)])
def test_at_the_best_constant_slopes_cancel(choice: Any) -> None:
    loss, y, _ = problem(choice)
    start = loss_of(choice).begin(y, None, 1).start
    total = loss.gradients(y, np.tile(start, (N, 1))).sum(axis=0)

    # At a corner they need not cancel; a row more or less turns the sign.
    assert_allclose(total, 0, atol=1.0 if str(choice) in STRAIGHT else 1e-6)


@pytest.mark.parametrize(("name", "n_classes"), [("log_loss", 2), ("exponential", 2), ("log_loss", 5)])
def test_classes_cost_what_they_cost_in_boosting(name: str, n_classes: int) -> None:
    loss, y, scores = classes(name, n_classes)
    begun = class_loss_of(name, n_classes).begin(y.astype(np.int32), None, 1, Origin(add_constant=False))

    assert loss.values(y, scores).mean() == pytest.approx(begun.value(scores, y, None), rel=1e-12)


def test_slopes_of_several_classes_are_shares_minus_the_truth() -> None:
    loss, y, scores = classes("log_loss", 4)

    assert_allclose(loss.gradients(y, scores), softmax(scores, axis=1) - np.eye(4)[y], rtol=1e-12)


def test_the_turn_of_huber_counts_rows_by_weight() -> None:
    y, weight = RNG.normal(size=N), RNG.integers(1, 4, N).astype(float)
    weighted = row_loss_of_numbers(Huber(), y, weight)
    repeated = row_loss_of_numbers(Huber(), np.repeat(y, weight.astype(int)), None)

    assert weighted == repeated
    assert weighted != row_loss_of_numbers(Huber(), y, None)


def test_a_loss_that_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(InvalidParameter, match=r"SquaredOfSeveral.*CustomLoss"):
        row_loss_of_numbers(SquaredOfSeveral(2), np.zeros(3), None)
