"""Neighbours by leaves: rows are near if trees put them together."""

from pathlib import Path

import numpy as np
import pandas as pd

from coterie.committee.learners.leaf_neighbors import (
    LeafNeighborsClassifier,
    LeafNeighborsRegressor,
    shared_leaves,
)
from coterie.files import load, save

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"a": RNG.normal(size=300), "noise": 100 * RNG.normal(size=300), "town": RNG.choice(["x", "y"], 300)}
)
Y = (X["a"] > 0) + 2.0 * (X["town"] == "x")


def test_shares_are_those_of_the_definition() -> None:
    new, known = RNG.integers(3, size=(5, 7)), RNG.integers(4, size=(6, 7))
    slow = [[np.mean(one == other) for other in known] for one in new]

    np.testing.assert_allclose(shared_leaves(new, known), slow)


def test_columns_that_tell_nothing_do_not_make_rows_distant() -> None:
    model = LeafNeighborsRegressor(random_state=0).fit(X[:200], Y[:200])

    assert np.mean((model.predict(X[200:]) - Y[200:]) ** 2) < 0.1 * np.var(Y)


def test_predictions_are_means_over_the_nearest_rows() -> None:
    model = LeafNeighborsRegressor(5, power=1.0, random_state=0).fit(X[:200], Y[:200])
    shares = shared_leaves(model.forest_.apply(X[200:201]), model.leaves_)[0]
    nearest = shares >= np.sort(shares)[-5]
    expected = np.average(Y[:200][nearest], weights=shares[nearest])

    np.testing.assert_allclose(model.predict(X[200:201]), expected, atol=1e-6)


def test_a_weight_of_zero_has_no_part_and_probabilities_sum_to_one(tmp_path: Path) -> None:
    weight = np.where(Y == 3, 0.0, 1.0)
    model = LeafNeighborsClassifier(random_state=0).fit(X, Y.astype(int), weight)
    save(model, tmp_path / "model")
    proba = load(tmp_path / "model").predict_proba(X)

    np.testing.assert_array_equal(proba, model.predict_proba(X))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert proba[:, 3].max() == 0.0
