"""Estimated Shapley values: they add up, are exact where they must be, and are as far off as they say."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from coterie.data.mixed_rows import MixedRows
from coterie.explain import sampled
from coterie.explain.sampled import ColumnOrders, sampled_values
from tests.naive.shapley import interventional_values

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = RNG.normal(size=(6, 4)), RNG.normal(size=(5, 4))


def estimated(function: Any, rows: Any, background: Any, n_permutations: int = 20, seed: int = 0) -> Any:
    orders = ColumnOrders.drawn(rows.shape[1], len(background), n_permutations, seed)
    mixed = MixedRows(rows, background)
    return sampled_values(function, mixed, function(rows), function(background), orders)


def pairs(X: Any) -> Any:
    """Interactions of two columns at most, and two outputs."""
    return np.column_stack([X[:, 0] * X[:, 1] + np.exp(X[:, 2]) - X[:, 3], X[:, 0] * X[:, 3]])


def triples(X: Any) -> Any:
    return (X[:, 0] * X[:, 1] * X[:, 2] + X[:, 0] * np.maximum(X[:, 3], 0) * (X[:, 1] > 0))[:, None]


@pytest.mark.parametrize("function", [pairs, triples])
def test_the_values_of_a_row_add_up_to_its_difference_from_the_background(function: Any) -> None:
    values, _ = estimated(function, ROWS, BACKGROUND, 2)
    assert_allclose(
        values.sum(axis=1), function(ROWS) - function(BACKGROUND).mean(axis=0), rtol=0, atol=1e-12
    )


def test_what_two_columns_do_together_is_divided_exactly() -> None:
    values, errors = estimated(pairs, ROWS, BACKGROUND, 2)
    assert_allclose(values, interventional_values(pairs, ROWS, BACKGROUND), rtol=0, atol=1e-12)
    assert_allclose(errors, 0.0, atol=1e-12)


def test_estimates_are_off_by_about_their_standard_errors() -> None:
    exact = interventional_values(triples, ROWS, BACKGROUND)
    found = [estimated(triples, ROWS, BACKGROUND, 40, seed) for seed in range(60)]
    offs = np.array([(values - exact)[:, :3] for values, _ in found])
    promised = np.sqrt(np.mean([errors[:, :3] ** 2 for _, errors in found], axis=0))
    ratio = np.sqrt((offs**2).mean(axis=0)) / promised
    assert 0.8 < np.median(ratio) < 1.25
    assert np.abs(offs.mean(axis=0)).max() < 5 * (promised / np.sqrt(60)).max()  # no bias


def test_more_orders_bring_estimates_closer() -> None:
    exact = interventional_values(triples, ROWS, BACKGROUND)
    few, many = (np.abs(estimated(triples, ROWS, BACKGROUND, n)[0] - exact).max() for n in (10, 2000))
    assert many < few / 4
    assert many < 0.05


def test_a_column_alone_takes_the_whole_difference() -> None:
    def square(X: Any) -> Any:
        return X**2

    values, errors = estimated(square, ROWS[:, :1], BACKGROUND[:, :1])
    assert_allclose(values[:, 0], ROWS[:, :1] ** 2 - (BACKGROUND[:, :1] ** 2).mean(), atol=1e-12)
    assert_array_equal(errors, 0.0)


def test_every_row_of_the_background_takes_part_equally_often() -> None:
    assert ColumnOrders.drawn(3, 5, 20, 0).rank.shape == (5, 4, 3)
    assert ColumnOrders.drawn(3, 5, 21, 0).n_permutations == 25
    assert ColumnOrders.drawn(3, 5, 2, 0).n_permutations == 10  # two for each, so that errors are known
    assert_array_equal(np.sort(ColumnOrders.drawn(3, 5, 20, 0).rank, axis=2)[0, 0], [0, 1, 2])


def test_values_do_not_depend_on_how_many_points_are_predicted_at_once(monkeypatch: Any) -> None:
    whole = estimated(triples, ROWS, BACKGROUND)
    monkeypatch.setattr(sampled, "_MOST_ROWS", 7)
    monkeypatch.setattr(sampled, "_MOST_CELLS", 100)
    parts = estimated(triples, ROWS, BACKGROUND)
    assert_array_equal(parts[0], whole[0])
    assert_array_equal(parts[1], whole[1])


def test_a_row_has_the_same_values_alone() -> None:
    whole = estimated(triples, ROWS, BACKGROUND)[0]
    assert_array_equal(estimated(triples, ROWS[2:3], BACKGROUND)[0][0], whole[2])
