"""Jackknives of a forest: intervals for targets, variances of means."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from coterie.errors import InvalidInput, InvalidParameter
from coterie.forests import jackknife
from coterie.forests.jackknife import infinitesimal_jackknife, jackknife_plus
from tests.naive.forest_arrays import random_forest
from tests.naive.jackknife import naive_infinitesimal_jackknife, naive_jackknife_plus

seeds = st.integers(0, 2**32 - 1)


def calibration(seed: int, n_rows: int, n_trees: int, n_new: int = 7) -> tuple[Any, Any, Any]:
    """Answers, which trees are without a row, and residuals: NaN where every tree drew the row."""
    rng = np.random.default_rng(seed)
    out = random_forest(seed, n_rows, n_trees).counts == 0
    out[0, 0] = True
    out[-1] &= n_rows == 1
    residuals = np.where(out.any(axis=1), rng.exponential(size=n_rows), np.nan)
    return rng.normal(size=(n_new, n_trees)), out, residuals


@settings(max_examples=60, deadline=None)
@given(
    seed=seeds,
    n_rows=st.integers(1, 40),
    n_trees=st.integers(1, 9),
    per_cent=st.sampled_from([1, 5, 10, 29, 50, 90]),
)
def test_intervals_are_those_of_the_formula(seed: int, n_rows: int, n_trees: int, per_cent: int) -> None:
    answers, out, residuals = calibration(seed, n_rows, n_trees)
    found = jackknife_plus(answers, out, residuals, per_cent / 100)
    assert_allclose(np.transpose(found), naive_jackknife_plus(answers, out, residuals, per_cent), rtol=1e-12)


def test_blocks_change_nothing_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, out, residuals = calibration(3, 50, 12, n_new=30)
    counts = random_forest(3, 50, 12).counts.T
    whole = [*jackknife_plus(answers, out, residuals, 0.1), infinitesimal_jackknife(counts, answers)]
    monkeypatch.setattr(jackknife, "_BLOCK_VALUES", 100)
    parts = [*jackknife_plus(answers, out, residuals, 0.1), infinitesimal_jackknife(counts, answers)]
    assert_allclose(whole, parts, rtol=1e-12)


def test_too_few_rows_promise_nothing() -> None:
    answers, out, residuals = calibration(0, 10, 8)
    lower, upper = jackknife_plus(answers, out[:8], residuals[:8], 0.1)
    assert_array_equal(lower, -np.inf)
    assert_array_equal(upper, np.inf)


def test_nine_rows_are_enough_for_nine_tenths() -> None:
    """The first and the last of nine: the least m - R and the greatest m + R."""
    out = np.ones((9, 3), dtype=bool)
    residuals = np.arange(9.0)
    lower, upper = jackknife_plus(np.array([[1.0, 2.0, 3.0]]), out, residuals, 0.1)
    assert (lower[0], upper[0]) == (2.0 - 8.0, 2.0 + 8.0)


def test_29_of_a_hundred_is_29_though_not_in_floats() -> None:
    assert 0.29 * 100 < 29
    out, residuals = np.ones((99, 2), dtype=bool), np.arange(99.0)
    lower, upper = jackknife_plus(np.zeros((1, 2)), out, residuals, 0.29)
    assert (lower[0], upper[0]) == (-98 + 28, 98 - 28)


def test_intervals_hold_the_targets_of_new_rows() -> None:
    """Trees are means of what they drew, and targets are noise: the interval must find how large it is."""
    rng = np.random.default_rng(0)
    n_rows, n_trees, covered = 60, 40, []
    for _ in range(60):
        y = rng.normal(size=n_rows + 20)
        counts = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_trees)
        answers = counts @ y[:n_rows] / n_rows
        out = counts.T == 0
        oob = np.array([answers[trees].mean() if trees.any() else np.nan for trees in out])
        lower, upper = jackknife_plus(np.tile(answers, (1, 1)), out, np.abs(y[:n_rows] - oob), 0.1)
        covered.append((lower <= y[n_rows:]) & (y[n_rows:] <= upper))
    assert 0.87 < np.mean(covered) < 0.94


@settings(max_examples=40, deadline=None)
@given(seed=seeds, n_rows=st.integers(2, 12), n_trees=st.integers(2, 30), replace=st.booleans())
def test_variances_are_those_of_the_formula(seed: int, n_rows: int, n_trees: int, replace: bool) -> None:
    rng = np.random.default_rng(seed)
    size = n_rows if replace else int(rng.integers(1, n_rows))
    counts = np.stack(
        [np.bincount(rng.choice(n_rows, size, replace=replace), minlength=n_rows) for _ in range(n_trees)]
    )
    answers = rng.normal(size=(4, n_trees)) + counts @ rng.normal(size=n_rows)
    expected = [naive_infinitesimal_jackknife(counts, said, replace=replace) for said in answers]
    found = infinitesimal_jackknife(counts, answers, replace=replace)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [20, 60])
def test_the_variance_of_a_mean_is_found_with_replacement(size: int) -> None:
    """Trees that answer with the mean of what they drew: the truth is the variance of the mean of all rows."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    counts = rng.multinomial(size, np.full(60, 1 / 60), size=20_000)
    answers = (counts @ y / size)[None, :]
    assert_allclose(infinitesimal_jackknife(counts, answers), y.var() / 60, rtol=0.1)


@pytest.mark.parametrize("size", [6, 30, 54])
def test_the_variance_of_a_mean_is_found_without_replacement(size: int) -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=60)
    counts = (rng.random((20_000, 60)).argsort(axis=1) < size).astype(np.uint16)
    answers = (counts @ y / size)[None, :]
    found = infinitesimal_jackknife(counts, answers, replace=False)
    assert_allclose(found, y.var(ddof=1) / 60, rtol=0.1)


def test_a_variance_is_never_below_zero() -> None:
    rng = np.random.default_rng(3)
    counts = rng.multinomial(500, np.full(500, 1 / 500), size=5)
    found = infinitesimal_jackknife(counts, rng.normal(size=(20, 5)))
    assert (found >= 0).all()
    assert_array_equal(infinitesimal_jackknife(counts, np.full((3, 5), 7.0)), 0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0}, r"alpha=0: expected a number in \(0, 1\)"),
        ({"alpha": 1.0}, "alpha=1.0"),
        ({"alpha": "a tenth"}, "alpha='a tenth'"),
        ({"predictions": np.zeros(4)}, r"predictions have the shape \(4,\)"),
        ({"predictions": np.full((1, 4), np.nan)}, "not all finite"),
        ({"out": np.ones((3, 4))}, "out holds float64"),
        ({"out": np.ones((3, 5), bool)}, r"shape \(3, 5\).*4 trees"),
        ({"out": np.zeros((3, 4), bool)}, "no row is out of bag"),
        ({"residuals": np.zeros(2)}, r"residuals have the shape \(2,\)"),
        ({"residuals": np.array([1.0, np.nan, 1.0])}, r"residuals\[1\] is nan"),
    ],
)
def test_calibration_that_makes_no_sense(change: dict[str, Any], message: str) -> None:
    sound = {
        "predictions": np.zeros((1, 4)),
        "out": np.ones((3, 4), bool),
        "residuals": np.ones(3),
        "alpha": 0.5,
    }
    assert jackknife_plus(**sound)[1] == [1.0]  # type: ignore[arg-type]
    with pytest.raises((InvalidInput, InvalidParameter), match=message):
        jackknife_plus(**{**sound, **change})


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.ones((1, 3), int), "two trees"),
        (np.ones((3, 3), int), r"\(3, 3\) and predictions have the shape \(1, 2\)"),
        (np.ones((2, 3)), "float64"),
        (np.array([[2, 0], [1, 1]]), "drew a row 2 times"),
        (np.array([[1, 1], [1, 1]]), "drew every row"),
    ],
)
def test_counts_that_make_no_sense(counts: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        infinitesimal_jackknife(counts, np.zeros((1, 2)), replace=False)


@pytest.mark.parametrize(
    ("n_rows", "width", "step"), [(10, 2, 10), (10, 40, 2), (10, 30, 3), (5, 1000, 1), (3, 0, 3)]
)
def test_blocks_hold_as_many_rows_as_their_values_allow_and_one_at_least(
    monkeypatch: pytest.MonkeyPatch, n_rows: int, width: int, step: int
) -> None:
    monkeypatch.setattr(jackknife, "_BLOCK_VALUES", 100)
    blocks = list(jackknife._blocks(n_rows, width))

    assert [block.start for block in blocks] == list(range(0, n_rows, step))
    assert [block.stop for block in blocks] == [*range(step, n_rows, step), n_rows]
