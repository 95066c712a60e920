"""From raw predictions to classes and numbers, by hand."""

from typing import Literal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from coterie.trees.links import Hinge, Logistic, NumberLink, OneVersusRest, Shares, Softmax

SCORES = np.array([[-0.5], [0.0], [0.5], [3.0]])


@pytest.mark.parametrize(
    ("second", "chosen"),
    [("score > 0", [0, 0, 1, 1]), ("score >= 0", [0, 1, 1, 1]), ("probability > 1/2", [0, 0, 1, 1])],
)
def test_at_a_tie_the_class_is_the_one_that_the_library_takes(
    second: Literal["score > 0", "score >= 0", "probability > 1/2"], chosen: list[int]
) -> None:
    assert_array_equal(Logistic(second=second).chosen(SCORES), chosen)


def test_two_classes_share_one_score() -> None:
    odds = np.exp(2 * SCORES[:, 0])
    assert_allclose(
        Logistic(scale=2.0).probabilities(SCORES), np.stack([1 / (1 + odds), odds / (1 + odds)], 1)
    )
    assert_array_equal(Hinge().chosen(SCORES), [0, 0, 1, 1])
    assert_array_equal(Hinge().probabilities(SCORES), [[1, 0], [1, 0], [0, 1], [0, 1]])


def test_several_classes_have_a_score_each() -> None:
    scores = np.log([[1.0, 2.0, 5.0], [8.0, 1.0, 1.0]])
    assert_allclose(Softmax().probabilities(scores), [[0.125, 0.25, 0.625], [0.8, 0.1, 0.1]])
    assert_allclose(OneVersusRest().probabilities(scores), [[1 / 2, 2 / 3, 5 / 6], [8 / 9, 1 / 2, 1 / 2]])
    for link in (Softmax(), OneVersusRest(), Shares()):
        assert_array_equal(link.chosen(scores), [2, 0])
    assert_array_equal(Shares().probabilities(scores), scores)


def test_numbers_follow_their_link() -> None:
    assert_allclose(NumberLink("exp").predictions(SCORES), np.exp(SCORES[:, 0]))
    assert_allclose(NumberLink("signed_square").predictions(SCORES), [-0.25, 0.0, 0.25, 9.0])
    assert_allclose(NumberLink("log1p_exp").predictions(SCORES), np.log1p(np.exp(SCORES[:, 0])))
    assert NumberLink().predictions(np.hstack([SCORES, SCORES])).shape == (4, 2)
