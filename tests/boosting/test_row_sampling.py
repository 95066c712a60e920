"""Rows that each tree of a booster sees."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

import coterie._engine as _engine
from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.boosting.plan import automatic_share, sampling_of
from coterie.errors import InvalidParameter

METHODS = ["uniform", "gradient_based", "bayesian"]


def share_for(method: str) -> dict[str, Any]:
    return {} if method == "bayesian" else {"subsample": 0.4}


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any]:
    X, y = make_classification(4000, 12, n_informative=6, flip_y=0.2, random_state=0)
    X[::7, 2] = np.nan
    return X, y


def test_all_rows_are_the_default_of_tables_that_are_not_large() -> None:
    assert sampling_of("gradient_based", "auto", 200_000) == (_engine.SamplingMethod.none, 1.0)
    method, share = sampling_of("gradient_based", "auto", 800_000)
    assert method == _engine.SamplingMethod.minimal_variance
    assert share == pytest.approx(0.5)


def test_more_rows_are_never_fewer_rows_for_a_tree() -> None:
    n_rows = np.geomspace(1, 1e9, 200)
    seen = [n * automatic_share(int(n)) for n in n_rows]
    assert np.all(np.diff(seen) > 0)


@pytest.mark.parametrize("method", METHODS)
def test_threads_do_not_change_a_sampled_model(method: str, table: tuple[Any, Any]) -> None:
    X, y = table
    models = [
        GradientBoostingClassifier(
            n_estimators=10, sampling_method=method, random_state=3, n_jobs=n_jobs, **share_for(method)
        ).fit(X, y)
        for n_jobs in (1, 2, 3)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.decision_function(X), models[0].decision_function(X))


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides_who_is_drawn(method: str, table: tuple[Any, Any]) -> None:
    X, y = table
    first, again, other = (
        GradientBoostingClassifier(
            n_estimators=5, sampling_method=method, random_state=seed, **share_for(method)
        )
        .fit(X, y)
        .decision_function(X)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


@pytest.mark.parametrize("method", METHODS)
def test_leaves_answer_with_the_mean_of_all_their_rows(method: str) -> None:
    """Splits come from a sample; the first tree's answers are means of residuals over every row of the table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=3000)
    model = GradientBoostingRegressor(
        n_estimators=1, learning_rate=1.0, sampling_method=method, random_state=0, **share_for(method)
    ).fit(X, y)

    answers = model.predict(X)

    assert len(np.unique(answers)) > 5
    for answer in np.unique(answers):
        assert y[answers == answer].mean() == pytest.approx(answer, abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_samples_learn_about_as_well_as_all_rows(method: str, table: tuple[Any, Any]) -> None:
    X, y = table
    learn, judge = slice(0, 3000), slice(3000, None)
    accuracy = {
        name: GradientBoostingClassifier(random_state=0, **settings)
        .fit(X[learn], y[learn])
        .score(X[judge], y[judge])
        for name, settings in {
            "all": {"subsample": 1.0},
            "sample": {"sampling_method": method, **share_for(method)},
        }.items()
    }
    assert accuracy["sample"] > accuracy["all"] - 0.02


def test_rows_of_no_weight_take_no_part_in_a_sample(table: tuple[Any, Any]) -> None:
    X, y = table
    weight = np.ones(len(y))
    weight[::2] = 0
    spoiled = np.where(weight == 0, 1 - y, y)
    models = [
        GradientBoostingClassifier(n_estimators=10, subsample=0.5, random_state=0).fit(X, labels, weight)
        for labels in (y, spoiled)
    ]
    np.testing.assert_array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


def test_several_classes_and_categories_can_be_sampled() -> None:
    rng = np.random.default_rng(1)
    X = {"shape": rng.choice(["round", "flat", "long"], 3000), "size": rng.normal(size=3000)}
    y = np.where(X["shape"] == "flat", "a", np.where(X["size"] > 0, "b", "c"))
    model = GradientBoostingClassifier(n_estimators=30, subsample=0.3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.99


def test_a_share_has_no_meaning_where_every_row_is_weighted(table: tuple[Any, Any]) -> None:
    X, y = table
    model = GradientBoostingClassifier(sampling_method="bayesian", subsample=0.5)
    with pytest.raises(InvalidParameter, match=r"subsample=0\.5 has no meaning.*'bayesian'"):
        model.fit(X, y)


@pytest.mark.parametrize("method", ["uniform", "minimal_variance", "bayesian"])
def test_a_tree_without_a_split_says_nothing_to_any_row(method: str) -> None:
    X = np.random.default_rng(0).random((500, 3))
    empty = np.empty(0)
    mapper = _engine.BinMapper.fit(X, np.zeros(3, np.int32), empty, 32, 0, 1)
    options = _engine.GrowOptions()
    grower = _engine.TreeGrower(
        _engine.BinnedMatrix(X, np.zeros(3, np.int32), mapper, 1), options, n_threads=1
    )
    sampling = getattr(_engine.SamplingMethod, method)
    no_rows = np.empty(0, np.uint32)
    steep = np.where(X[:, 0] > 0.5, 1, -1).astype(np.float32)
    assert len(grower.grow(steep, no_rows.astype(np.float32), no_rows, 1, sampling, 0.5).feature) > 1
    flat = np.zeros(500, np.float32)
    assert len(grower.grow(flat, no_rows.astype(np.float32), no_rows, 2, sampling, 0.5).feature) == 1
    scores = np.full(500, 0.25, np.float32)
    grower.add_predictions(scores)
    np.testing.assert_array_equal(scores, np.full(500, 0.25, np.float32))
