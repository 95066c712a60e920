"""Forests of tables that are large enough for every way in which nodes of different sizes are grown."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from coterie import ExtraTreesClassifier, RandomForestClassifier
from tests.naive.forest_oob import naive_oob

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]


def large_table(n_rows: int = 24_000, *, n_classes: int = 2) -> tuple[Any, Any]:
    """Numbers, rounded and heavy-tailed ones, a category and missing values."""
    rng = np.random.default_rng(0)
    even = rng.normal(size=n_rows)
    X = pd.DataFrame(
        {
            "even": np.where(rng.random(n_rows) < 0.1, np.nan, even),
            "rounded": np.round(rng.normal(size=n_rows) * 8),
            "heavy": np.exp(4 * rng.normal(size=n_rows)),
            "kind": pd.Categorical(rng.choice(list("abcdef"), n_rows)),
        }
    )
    score = even + (X["kind"] == "c") + 0.1 * X["rounded"] * (X["heavy"] > 1) + 0.5 * rng.normal(size=n_rows)
    return X, np.digitize(score, [0.3, 1.2][: n_classes - 1])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_out_of_bag_is_what_the_trees_say_of_rows_they_did_not_draw(forest: Any, n_classes: int) -> None:
    X, y = large_table(n_classes=n_classes)
    model = forest(3, bootstrap=True, oob_score=True, random_state=0, n_jobs=2)
    with pytest.warns(UserWarning, match="out of"):
        model.fit(X, y)

    expected, coverage = naive_oob(model, X, np.ones(len(y)))

    np.testing.assert_array_equal(model.oob_coverage_, coverage)
    np.testing.assert_allclose(model.oob_decision_function_, expected, rtol=1e-12)


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_leaves_hold_the_rows_that_they_count(forest: Any, criterion: str, bootstrap: bool) -> None:
    X, y = large_table()
    model = forest(2, criterion=criterion, bootstrap=bootstrap, random_state=1).fit(X, y)

    for tree, drawn in enumerate(model.estimators_samples_):
        leaf = model.apply(X.iloc[drawn])[:, tree]
        rows = pd.DataFrame({"leaf": leaf, "class": y[drawn]})
        share = rows.groupby("leaf")["class"].mean()
        said = model.estimators_[tree].predict_proba(X.iloc[drawn])[:, 1]
        np.testing.assert_allclose(said, share[leaf].to_numpy(), atol=1e-9)
        assert ((share == 0) | (share == 1)).mean() > 0.9, "trees grow until leaves are pure"


@pytest.mark.parametrize(
    "leaf", [{"min_samples_leaf": 7}, {"min_weight_fraction_leaf": 0.002}, {"max_depth": 6}]
)
@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_limits_hold_for_every_leaf(forest: Any, leaf: dict[str, Any]) -> None:
    X, y = large_table()
    model = forest(2, bootstrap=False, random_state=2, **leaf).fit(X, y)

    for tree in range(2):
        counts = np.unique(model.apply(X)[:, tree], return_counts=True)[1]
        assert counts.min() >= leaf.get("min_samples_leaf", 1)
        assert counts.min() >= leaf.get("min_weight_fraction_leaf", 0.0) * len(y)
        assert model.estimators_[tree].get_depth() <= leaf.get("max_depth", 10**6)


@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_a_weight_is_so_many_equal_rows(forest: Any) -> None:
    X, y = large_table()
    weight = np.random.default_rng(3).integers(1, 4, len(y))
    settings = {"n_estimators": 2, "random_state": 3, "bootstrap": True, "max_samples": 0.7}

    weighted = forest(**settings).fit(X, y, sample_weight=weight)
    repeated = forest(**settings).fit(X.loc[np.repeat(X.index, weight)], np.repeat(y, weight))

    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_neither_threads_nor_a_second_half_change_a_forest(forest: Any) -> None:
    X, y = large_table()
    one = forest(4, random_state=4, n_jobs=1).fit(X, y)
    three = forest(4, random_state=4, n_jobs=3).fit(X, y)
    half = forest(2, random_state=4, warm_start=True).fit(X, y)
    half.set_params(n_estimators=4).fit(X, y)

    np.testing.assert_array_equal(one.predict_proba(X), three.predict_proba(X))
    np.testing.assert_array_equal(one.predict_proba(X), half.predict_proba(X))


def test_random_thresholds_lie_evenly_between_the_least_and_the_greatest_value() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 40_000)
    columns = {
        "even": rng.normal(size=len(y)),
        "rounded": np.round(20 * rng.normal(size=len(y))),
    }
    for name, values in columns.items():
        model = ExtraTreesClassifier(400, max_depth=1, random_state=0, n_jobs=2).fit(values[:, None], y)
        thresholds = np.array([tree.tree_.threshold[0] for tree in model.estimators_])
        ascending = np.sort(values)
        expected = (ascending - ascending[0]) / (ascending[-1] - ascending[0])
        apart = np.abs(np.searchsorted(np.sort(thresholds), ascending) / 400 - expected).max()
        assert apart < 0.08, name  # Kolmogorov and Smirnov: one in a hundred is above
