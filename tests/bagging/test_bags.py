"""Which rows and columns members see: draws follow from what rows hold, and weights are copies."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import BaggingClassifier, BaggingRegressor
from coterie._params import spawn_seeds
from coterie.bagging._bags import Bags
from coterie.data.content import hashes_of_numbers, hashes_of_rows
from coterie.data.prepare import read_table
from coterie.errors import InvalidInput, InvalidParameter
from coterie.forests.plan import BagPlan, copies_of, plan_bags
from tests.naive.bagging import written_out

RNG = np.random.default_rng(7)
X = RNG.normal(size=(200, 6))
NUMBERS = X[:, 0] + X[:, 1] * X[:, 2]
RARE = np.where(np.arange(200) % 10 == 0, "rare", np.where(NUMBERS > 0, "high", "low"))
KINDS: list[tuple[Any, Any]] = [
    (True, None),
    (True, 0.5),
    (False, 0.4),
    ("partition", 0.25),
    ("balanced", None),
    (False, None),
]


def counts_of(model: Any, n_rows: int = 200) -> Any:
    return np.stack([np.bincount(own, minlength=n_rows) for own in model.estimators_samples_])


def test_a_bootstrap_draws_as_many_rows_as_there_are() -> None:
    counts = counts_of(BaggingRegressor(n_estimators=20, random_state=0).fit(X, NUMBERS))

    assert (counts.sum(axis=1) == 200).all()
    assert 0.33 < (counts == 0).mean() < 0.41
    assert len(np.unique(counts, axis=0)) == 20


@pytest.mark.parametrize(("max_samples", "expected"), [(50, 50), (0.1, 20), (1.0, 200), (1, 1)])
def test_max_samples_says_how_many_are_drawn(max_samples: float, expected: int) -> None:
    model = BaggingRegressor(n_estimators=5, max_samples=max_samples, random_state=0).fit(X, NUMBERS)

    assert (counts_of(model).sum(axis=1) == expected).all()


def test_rows_without_replacement_are_drawn_once() -> None:
    model = BaggingRegressor(n_estimators=10, bootstrap=False, max_samples=0.5, random_state=0)
    counts = counts_of(model.fit(X, NUMBERS))

    assert (counts.sum(axis=1) == 100).all()
    assert counts.max() == 1
    assert model.oob_score_ > 0.3


def test_parts_do_not_overlap_and_new_parts_follow() -> None:
    model = BaggingRegressor(n_estimators=8, bootstrap="partition", max_samples=50, random_state=0)
    counts = counts_of(model.fit(X, NUMBERS))

    assert (counts.sum(axis=1) == 50).all()
    assert (counts[:4].sum(axis=0) == 1).all()
    assert (counts[4:].sum(axis=0) == 1).all()
    assert not np.array_equal(counts[:4], counts[4:])


def test_balanced_bags_have_as_many_of_each_class_as_the_rarest_has_rows() -> None:
    model = BaggingClassifier(n_estimators=8, bootstrap="balanced", random_state=0).fit(X, RARE)

    for rows in model.estimators_samples_:
        assert np.unique(RARE[rows], return_counts=True)[1].tolist() == [20, 20, 20]


def test_columns_are_drawn_for_each_member() -> None:
    model = BaggingRegressor(n_estimators=40, max_features=0.5, random_state=0).fit(X, NUMBERS)
    several = BaggingRegressor(n_estimators=40, bootstrap_features=True, random_state=0).fit(X, NUMBERS)

    assert all(len(own) == 3 and len(set(own)) == 3 for own in model.estimators_features_)
    assert set(np.concatenate(model.estimators_features_)) == set(range(6))
    sizes = [len(own) for own in several.estimators_features_]
    assert np.mean(sizes) == pytest.approx(6 * (1 - (5 / 6) ** 6), abs=0.4)
    assert all(len(set(own)) == len(own) for own in several.estimators_features_)


def test_columns_that_are_not_there_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"max_features=7 must be <= n_features: X has 6"):
        BaggingRegressor(max_features=7).fit(X, NUMBERS)
    with pytest.raises(InvalidParameter, match="X has no columns to draw from"):
        BaggingRegressor(max_features=0.5).fit(["a", "b"], [1, 2])


@pytest.mark.parametrize(("bootstrap", "max_samples"), KINDS)
def test_the_order_of_the_table_does_not_matter(bootstrap: Any, max_samples: Any) -> None:
    order = np.random.default_rng(0).permutation(200)
    settings: dict[str, Any] = {"bootstrap": bootstrap, "max_samples": max_samples, "random_state": 0}
    one = BaggingClassifier(n_estimators=5, **settings).fit(X, RARE)
    other = BaggingClassifier(n_estimators=5, **settings).fit(X[order], RARE[order])

    np.testing.assert_array_equal(counts_of(one)[:, order], counts_of(other))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(KINDS),
    weight=st.lists(st.integers(0, 4), min_size=12, max_size=12).filter(lambda w: sum(w[:6]) and sum(w[6:])),
    takes_weight=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_weight_is_the_row_written_out_as_often(
    kind: tuple[Any, Any], weight: list[int], takes_weight: bool, seed: int
) -> None:
    codes = np.repeat([0, 1], 6)
    weights = np.array(weight, dtype=float)
    rows = written_out(np.arange(12), weights)
    contents = hashes_of_numbers(np.arange(12.0))
    try:
        plan = plan_bags(*kind, copies_of(weights), codes, total=weights.sum())
    except InvalidParameter:  # a single part of everything
        assert kind[0] == "partition"
        return
    again = plan_bags(*kind, np.ones(len(rows)), codes[rows], total=weights.sum())
    assert plan == again

    seeds = spawn_seeds(seed, 5)
    weighted = Bags.of(plan, contents, codes, weights, takes_weight=takes_weight)
    repeated = Bags.of(plan, contents[rows], codes[rows], np.ones(len(rows)), takes_weight=takes_weight)
    for number in range(5):
        bag, written = weighted.draw(number, seeds), repeated.draw(number, seeds)
        drawn = np.bincount(bag.repeated(), minlength=12)
        np.testing.assert_array_equal(drawn, np.bincount(rows[written.repeated()], minlength=12))
        np.testing.assert_allclose(bag.weight, bag.counts)
        assert (weights[bag.rows] > 0).all()


def test_draws_go_by_weight() -> None:
    weight = np.array([0.25, 1.0, 0.5, 30.0])
    plan = BagPlan("bootstrap", 4000, weight.sum())
    seeds = spawn_seeds(0, 1)
    contents = hashes_of_numbers(np.arange(4.0))
    told = Bags.of(plan, contents, None, weight, takes_weight=True).draw(0, seeds)
    untold = Bags.of(plan, contents, None, weight, takes_weight=False).draw(0, seeds)

    by_row = np.zeros(4)
    by_row[told.rows] = told.weight
    np.testing.assert_allclose(by_row / by_row.sum(), weight / weight.sum(), atol=0.02)
    counts = np.bincount(untold.repeated(), minlength=4)
    np.testing.assert_allclose(counts / counts.sum(), weight / weight.sum(), atol=0.02)


def test_heavy_rows_come_sooner_where_weights_cannot_count_otherwise() -> None:
    weight = np.full(40, 0.25)
    weight[3] = 1.0
    plan, contents = BagPlan("subsample", 10, 1.0), hashes_of_numbers(np.arange(40.0))
    seeds = spawn_seeds(0, 400)
    told, untold = (Bags.of(plan, contents, None, weight, takes_weight=each) for each in (True, False))

    often = [np.mean([3 in bags.draw(k, seeds).rows for k in range(400)]) for bags in (told, untold)]

    assert often[0] == pytest.approx(10 / 40, abs=0.06)
    assert often[1] > 0.55


def test_equal_rows_have_equal_numbers_whatever_the_type_of_the_table() -> None:
    same = [
        np.array([[1, 0], [2, 5]]),
        np.array([[1.0, -0.0], [2.0, 5.0]]),
        {"a": [1, 2], "b": [0.0, 5.0]},
        np.array([[1, 0], [2, 5]], dtype=object),
    ]
    hashes = [hashes_of_rows(read_table(table)).tolist() for table in same]

    assert all(own == hashes[0] for own in hashes)
    assert hashes[0][0] != hashes[0][1]
    swapped = hashes_of_rows(read_table(np.array([[0, 1], [5, 2]])))
    assert not set(swapped.tolist()) & set(hashes[0])
    words = hashes_of_rows(read_table({"a": ["x", "y", None, "x"], "b": [np.nan] * 4}))
    assert len(set(words.tolist())) == 3
    assert words[0] == words[3]
