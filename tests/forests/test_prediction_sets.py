"""Prediction sets: as small as the classes allow, and no more misses than asked for."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.prediction_sets import prediction_sets, set_threshold
from tests.naive.prediction_sets import naive_set

METHODS = ["threshold", "adaptive"]


def votes(rng: np.random.Generator, n_rows: int, n_classes: int, n_trees: int = 7) -> Any:
    """Probabilities as forests have them: shares of a few votes, hence with many ties."""
    return rng.multinomial(n_trees, np.full(n_classes, 1 / n_classes), size=n_rows) / n_trees


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 40),
    n_classes=st.integers(1, 4),
    per_cent=st.sampled_from([1, 5, 10, 25, 50, 90]),
    weighted=st.booleans(),
    method=st.sampled_from(METHODS),
)
def test_sets_are_those_of_the_definition(
    seed: int, n_rows: int, n_classes: int, per_cent: int, weighted: bool, method: Any
) -> None:
    rng = np.random.default_rng(seed)
    oob_proba, y_codes = votes(rng, n_rows, n_classes), rng.integers(0, n_classes, n_rows)
    weight = rng.integers(0, 3, n_rows) / 4 if weighted else None
    if n_rows > 1:
        oob_proba[-1] = np.nan
    if weight is not None:
        weight[0] = 1.0
    proba = votes(rng, 5, n_classes)
    threshold = set_threshold(oob_proba, y_codes, weight, per_cent / 100, method)
    found = prediction_sets(proba, threshold, method, allow_empty=True)
    weights = np.ones(n_rows) if weight is None else weight
    expected = [naive_set(oob_proba, y_codes, weights, row, Fraction(per_cent, 100), method) for row in proba]
    assert_array_equal(found, expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_sets_miss_as_often_as_asked(method: Any, alpha: float) -> None:
    rng = np.random.default_rng(0)
    # Probabilities that are wrong: too sure of themselves.
    true = rng.dirichlet([0.8, 0.5, 0.3], size=6000)
    said = true**2 / (true**2).sum(axis=1, keepdims=True)
    y_codes = (true.cumsum(axis=1) < rng.random((6000, 1))).sum(axis=1).clip(max=2)
    threshold = set_threshold(said[:3000], y_codes[:3000], None, alpha, method)
    sets = prediction_sets(said[3000:], threshold, method, allow_empty=True)
    covered = sets[np.arange(3000), y_codes[3000:]].mean()
    assert abs(covered - (1 - alpha)) < 0.02


def test_an_empty_set_gets_the_most_probable_class_unless_allowed() -> None:
    proba = np.array([[0.4, 0.4, 0.2], [0.9, 0.1, 0.0]])
    assert_array_equal(prediction_sets(proba, 0.3, allow_empty=True).sum(axis=1), [0, 1])
    assert_array_equal(prediction_sets(proba, 0.3), [[True, False, False], [True, False, False]])
    assert_array_equal(prediction_sets(proba, 0.3, "adaptive"), [[True, False, False], [True, False, False]])


def test_a_certain_row_has_one_class_in_its_adaptive_set() -> None:
    proba = np.repeat([[1.0, 0.0, 0.0], [0.5, 0.4, 0.1]], 50, axis=0)
    y_codes = np.repeat([0, 0, 1, 2], [50, 28, 20, 2])
    sets = prediction_sets(proba, set_threshold(proba, y_codes, None, 0.1, "adaptive"), "adaptive")
    assert_array_equal(sets[[0, 50]], [[True, False, False], [True, True, False]])


@pytest.mark.parametrize("method", METHODS)
def test_too_few_rows_give_every_class(method: Any) -> None:
    proba = votes(np.random.default_rng(0), 8, 3)
    threshold = set_threshold(proba, np.zeros(8, int), None, 0.1, method)
    assert threshold == math.inf
    assert prediction_sets(proba, threshold, method).all()


def test_27_of_30_is_nine_tenths_though_not_in_floats() -> None:
    """29 rows and the new one: the 27th score of 29, which are 0.01, 0.02 and so on."""
    sure = 1 - np.arange(1, 30) / 100
    assert set_threshold(np.c_[sure, 1 - sure], np.zeros(29, int), None, 0.1) == 0.27


@pytest.mark.parametrize("method", METHODS)
def test_equal_weights_of_any_size_are_no_weights(method: Any) -> None:
    rng = np.random.default_rng(1)
    proba, y_codes = votes(rng, 200, 3), rng.integers(0, 3, 200)
    plain = set_threshold(proba, y_codes, None, 0.1, method)
    for scale in (1e-6, 0.1, 1.0, 1e6):
        assert set_threshold(proba, y_codes, np.full(200, scale), 0.1, method) == plain


def test_heavy_rows_decide() -> None:
    proba = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)
    y_codes = np.zeros(100, int)
    light, heavy = np.repeat([[1.0, 0.01], [0.01, 1.0]], 50, axis=1)
    assert set_threshold(proba, y_codes, light, 0.1) == 0.1
    assert set_threshold(proba, y_codes, heavy, 0.1) == 0.8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1}, "alpha=1"),
        ({"method": "lac"}, "method='lac': expected 'threshold' or 'adaptive'"),
        ({"oob_proba": np.ones(3)}, r"oob_proba has the shape \(3,\)"),
        ({"oob_proba": np.full((3, 2), 0.7)}, "add up to 1"),
        ({"oob_proba": np.array([[1.5, -0.5]] * 3)}, ">= 0"),
        ({"oob_proba": np.full((3, 2), np.nan)}, "No row with a weight was out of bag"),
        ({"y_codes": np.array([0, 1])}, r"shape \(2,\)"),
        ({"y_codes": np.array([0, 1, 2])}, "go from 0 to 2"),
        ({"y_codes": np.array([0, 1, -1])}, "go from -1"),
        ({"weight": np.array([1.0, -1.0, 1.0])}, "weight="),
        ({"weight": np.zeros(3)}, "No row with a weight"),
    ],
)
def test_thresholds_that_make_no_sense(change: dict[str, Any], message: str) -> None:
    sound: dict[str, Any] = {
        "oob_proba": np.full((3, 2), 0.5),
        "y_codes": np.array([0, 1, 1]),
        "weight": None,
        "alpha": 0.5,
    }
    assert set_threshold(**sound) == 0.5
    with pytest.raises((InvalidInput, InvalidParameter), match=message):
        set_threshold(**{**sound, **change})


@pytest.mark.parametrize(
    ("proba", "threshold", "message"),
    [
        (np.array([[np.nan, 1.0]]), 0.5, "probabilities"),
        (np.array([[0.5, 0.5]]), math.nan, "threshold=nan"),
        (np.array([[0.5, 0.5]]), "all", "threshold='all'"),
        (np.zeros((2, 0)), 0.5, r"\(2, 0\)"),
    ],
)
def test_sets_that_make_no_sense(proba: Any, threshold: Any, message: str) -> None:
    with pytest.raises((InvalidInput, InvalidParameter), match=message):
        prediction_sets(proba, threshold)
