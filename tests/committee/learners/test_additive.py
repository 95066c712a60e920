"""Additive models: curves that bend at quantiles, and the products that curves cannot replace."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from coterie.committee.learners.additive import AdditiveClassifier, AdditiveRegressor, knots_of, telling_pairs
from coterie.files import load, save

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
BENT = np.abs(X[:, 0]) + 0.5 * X[:, 1]
CROSSED = X[:, 2] * X[:, 3]


def unexplained(model: Any, y: Any) -> float:
    new = np.random.default_rng(1).normal(size=(500, 4))
    truth = np.abs(new[:, 0]) + 0.5 * new[:, 1] if y is BENT else new[:, 2] * new[:, 3]
    return float(np.mean((model.fit(X, y).predict(new) - truth) ** 2) / np.var(truth))


def test_curves_follow_what_bends_and_lines_cannot() -> None:
    assert unexplained(AdditiveRegressor(random_state=0), BENT) < 0.05
    assert unexplained(Ridge(), BENT) > 0.4


def test_products_of_two_columns_need_pairs() -> None:
    assert unexplained(AdditiveRegressor(random_state=0), CROSSED) > 0.7
    assert unexplained(AdditiveRegressor(random_state=0, n_pairs=1), CROSSED) < 0.05


def test_the_pair_is_the_one_whose_product_is_correlated_with_what_is_left() -> None:
    assert telling_pairs(X, CROSSED[:, None], 1).tolist() == [[2, 3]]
    assert telling_pairs(X[:, :1], CROSSED[:, None], 5).shape == (0, 2)


def test_columns_of_two_values_do_not_bend() -> None:
    columns, places = knots_of(np.column_stack([X[:, 0] > 0, X[:, 1]]), 3)

    assert columns.tolist() == [1, 1, 1]
    np.testing.assert_allclose(places, np.quantile(X[:, 1], [0.25, 0.5, 0.75]))


def test_probabilities_are_those_of_logistic_regression_on_the_features() -> None:
    labels = np.where(BENT > 1, "high", np.where(BENT > 0.3, "middle", "low"))
    model = AdditiveClassifier(random_state=0, n_pairs=2).fit(X, labels)
    features = (model._raw_features(X) - model.centre_) / model.spread_
    peer = LogisticRegression(C=model.strength_, max_iter=200, tol=1e-3).fit(features, labels)

    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(features), atol=1e-6)
    assert model.predict(X).tolist() == peer.predict(features).tolist()


def test_rows_of_more_weight_count_for_more() -> None:
    y = np.where(X[:, 0] > 0, 1.0, 0.0)
    heavy = AdditiveRegressor(random_state=0).fit(X, y, np.where(X[:, 0] > 0, 9.0, 1.0))

    assert heavy.predict(X).mean() > AdditiveRegressor(random_state=0).fit(X, y).predict(X).mean() + 0.01


@pytest.mark.parametrize("kind", [AdditiveClassifier, AdditiveRegressor])
def test_a_file_holds_all_of_it(kind: Any, tmp_path: Path) -> None:
    model = kind(random_state=0, n_knots=2, n_pairs=3).fit(X, (BENT > 0.5).astype(int))
    save(model, tmp_path / "model")

    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))
