"""A weight says how often a row counts: 2 is the row twice, 0 is no row."""

from typing import Any

import numpy as np
import pytest

import coterie
from coterie.errors import CoterieError
from tests.helpers.estimators import (
    ESTIMATORS,
    WITH_FOLDS,
    WITHOUT_TARGET,
    answers,
    make,
    random_table,
    trees_of,
)

pytestmark = pytest.mark.parametrize("estimator", ESTIMATORS)
# Inside a pure leaf of boosting every split gains nothing but rounding: ask for a gain, so that none is made there.
SETTINGS = {"n_estimators": 3, "max_depth": 3, "min_child_weight": 0.0, "min_gain_to_split": 1e-3}


def distinct_table(estimator: type[Any], n_rows: int = 80) -> tuple[Any, Any]:
    """No near ties: the target depends strongly on one column after the other."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.permutation(n_rows) for _ in range(3)]).astype(float)
    score = 8 * (X[:, 0] > 20) + 3 * (X[:, 1] > 55) + 1.1 * (X[:, 2] > 33) + 0.01 * X[:, 0]
    y = score if random_table(estimator)[1].dtype.kind == "f" else np.where(score > 8.4, "high", "low")
    return X, y


def folds(estimator: type[Any], n_rows: int, repeats: Any = 1) -> dict[str, Any]:
    """Folds that go by the row and not by its place, for those that make folds."""
    fold = np.repeat(np.arange(n_rows) % 3, repeats)
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    return {"cv": pairs} if estimator in WITH_FOLDS else {}


def assert_same(one: Any, other: Any, X: Any) -> None:
    tolerance = 1e-5 if hasattr(one, "forest_") else 1e-12
    for a, b in zip(trees_of(one), trees_of(other), strict=True):
        if not hasattr(a, "feature"):  # networks, of which predictions tell enough
            continue
        np.testing.assert_array_equal(a.feature, b.feature)
        np.testing.assert_allclose(a.threshold, b.threshold, rtol=1e-12)
    np.testing.assert_allclose(answers(one, X), answers(other, X), rtol=tolerance, atol=tolerance)


def test_a_weight_of_two_is_the_row_twice(estimator: type[Any]) -> None:
    if estimator is coterie.IsolationForest:
        pytest.skip("weights say how likely rows are drawn; tests/forests says how likely")
    X, y = distinct_table(estimator)
    weight = np.random.default_rng(1).integers(1, 4, len(y))

    weighted = make(estimator, **SETTINGS, **folds(estimator, len(y))).fit(X, y, sample_weight=weight)
    again = make(estimator, **SETTINGS, **folds(estimator, len(y), weight))
    repeated = again.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))

    assert_same(weighted, repeated, X)


def test_a_weight_of_zero_is_no_row(estimator: type[Any]) -> None:
    X, y = distinct_table(estimator)
    weight = (np.random.default_rng(2).random(len(y)) < 0.8).astype(float)

    weighted = make(estimator, **SETTINGS, **folds(estimator, len(y))).fit(X, y, sample_weight=weight)
    again = make(estimator, **SETTINGS, **folds(estimator, len(y), weight.astype(int)))
    removed = again.fit(X[weight > 0], y[weight > 0])

    assert_same(weighted, removed, X)


def test_weights_of_one_are_no_weights(estimator: type[Any]) -> None:
    X, y = distinct_table(estimator)

    weighted = make(estimator, **SETTINGS).fit(X, y, sample_weight=np.ones(len(y)))

    assert_same(weighted, make(estimator, **SETTINGS).fit(X, y), X)


def test_the_scale_of_weights_does_not_matter(estimator: type[Any]) -> None:
    X, y = distinct_table(estimator)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    settings = {
        **SETTINGS,
        "bootstrap": False,  # a row of weight 2 is drawn as two rows are, one of 2048 as 64
        **folds(estimator, len(y)),
    }
    model = make(estimator, **settings).fit(X, y, sample_weight=weight)

    for factor in (1024.0, 1 / 1024):
        settings = {**settings, "min_gain_to_split": 1e-3 * factor}  # a gain is a sum over rows, in weights
        assert_same(model, make(estimator, **settings).fit(X, y, sample_weight=weight * factor), X)


def test_a_heavy_row_pulls_the_answer(estimator: type[Any]) -> None:
    if estimator in WITHOUT_TARGET:
        pytest.skip("there is no target that a row could pull")
    n_heavy = 3 if estimator in WITH_FOLDS else 1  # one for each fold
    X, y = np.zeros((9 + n_heavy, 1)), np.array([0] * 9 + [1] * n_heavy)
    settings = {"bootstrap": False, **folds(estimator, len(y))}
    light, heavy = (
        make(estimator, **settings).fit(X, y, sample_weight=[1] * 9 + [last] * n_heavy) for last in (1, 1000)
    )

    assert answers(light, X).ravel()[-1] < 0.5 < answers(heavy, X).ravel()[-1]


@pytest.mark.parametrize("size", [1e-300, 1e-46, 1e-20, 1e20, 1e38, 1e39, 1e300])
def test_weights_of_any_size_teach_or_are_refused_in_our_words(estimator: type[Any], size: float) -> None:
    X, y = distinct_table(estimator)
    model = make(estimator, n_estimators=3, min_child_weight=0.0)
    try:
        said = answers(model.fit(X, y, sample_weight=np.full(len(y), size)), X)
    except ValueError as error:
        refused: Exception | None = error
    else:
        refused = None
        assert np.isfinite(said).all()
        assert len(np.unique(said, axis=0)) > 1, "nothing was learned, and nothing was said"
    assert refused is None or isinstance(refused, CoterieError), refused
