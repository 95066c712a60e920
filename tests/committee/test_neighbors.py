"""Nearest neighbours with weights: scikit-learn's without them, and the row so many times with them."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from coterie.committee.numeric_pipeline import NeighborsClassifier, NeighborsRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = X[:, 0] + RNG.normal(size=300)
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.5, 0.5])]
NEW = np.vstack([X[:5], RNG.normal(size=(50, 4))])  # some lie where rows are


def test_without_weights_they_are_scikit_learns() -> None:
    ours = NeighborsClassifier().fit(X, LABELS)
    theirs = KNeighborsClassifier(20, weights="distance").fit(X, LABELS)

    np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=1e-12)
    np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    np.testing.assert_allclose(
        NeighborsRegressor().fit(X, Y).predict(NEW),
        KNeighborsRegressor(20, weights="distance").fit(X, Y).predict(NEW),
        atol=1e-12,
    )


@pytest.mark.parametrize("n_rows", [30, 300])
def test_a_weight_is_the_row_so_many_times(n_rows: int) -> None:
    times = RNG.integers(1, 4, n_rows)
    weighted = NeighborsRegressor().fit(X[:n_rows], Y[:n_rows], times.astype(float))
    repeated = NeighborsRegressor().fit(X[:n_rows].repeat(times, axis=0), Y[:n_rows].repeat(times))

    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), atol=1e-12)


def test_rows_that_count_for_little_are_outnumbered() -> None:
    weight = np.where(LABELS == "low", 1e-3, 1.0)
    model = NeighborsClassifier().fit(X, LABELS, weight)

    low = list(model.classes_).index("low")
    assert model.predict_proba(NEW[5:])[:, low].max() < 0.05
    assert NeighborsClassifier().fit(X, LABELS).predict_proba(NEW[5:])[:, low].max() > 0.5


def test_one_row_is_its_own_answer_everywhere() -> None:
    assert NeighborsRegressor().fit(X[:1], Y[:1]).predict(NEW).tolist() == [Y[0]] * len(NEW)
