"""What holds for every tree, whatever the table."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor

CRITERIA = ["gini", "entropy", "squared_error", "absolute_error", "poisson"]
criteria = st.sampled_from(CRITERIA)
seeds = st.integers(0, 2**32 - 1)


def make(criterion: str, **options: Any) -> Any:
    kind = DecisionTreeClassifier if criterion in ("gini", "entropy") else DecisionTreeRegressor
    return kind(criterion=criterion, **options)


def table(seed: int, criterion: str, n_rows: int = 60) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Numbers, ties, categories and missing values; targets whose sums have no rounding errors."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows)
    number[rng.random(n_rows) < 0.1] = np.nan
    town = rng.choice(np.array(["Cork", "Oslo", "Rome", None], dtype=object), size=n_rows)
    X = {"number": number, "count": rng.integers(0, 5, n_rows), "town": town, "spread": rng.random(n_rows)}
    if criterion in ("gini", "entropy"):
        return X, rng.integers(0, 3, n_rows)
    return X, rng.integers(1, 40, n_rows) / 8


def parameters() -> Any:
    return st.fixed_dictionaries(
        {},
        optional={
            "max_depth": st.integers(1, 6),
            "min_samples_leaf": st.integers(1, 9),
            "max_leaf_nodes": st.integers(2, 12),
            "max_features": st.integers(1, 4),
            "splitter": st.sampled_from(["best", "random"]),
            "random_state": st.integers(0, 9),
        },
    )


@settings(max_examples=60, deadline=None)
@given(seeds, criteria, parameters())
def test_limits_are_kept(seed, criterion, options):
    X, y = table(seed, criterion)
    model = make(criterion, **options).fit(X, y)
    leaves = model.apply(X)
    counts = np.bincount(leaves)
    assert counts[counts > 0].min() >= options.get("min_samples_leaf", 1)
    assert model.get_depth() <= options.get("max_depth", np.inf)
    assert model.get_n_leaves() <= options.get("max_leaf_nodes", np.inf)
    assert_array_equal(counts[np.unique(leaves)], model.tree_.n_node_samples[np.unique(leaves)])


@settings(max_examples=40, deadline=None)
@given(seeds, criteria, st.floats(0.01, 0.3))
def test_a_leaf_keeps_its_share_of_the_weight(seed, criterion, share):
    X, y = table(seed, criterion)
    weight = np.random.default_rng(seed).integers(1, 9, len(y)) / 4
    model = make(criterion, min_weight_fraction_leaf=share).fit(X, y, weight)
    per_leaf = np.bincount(model.apply(X), weights=weight)
    assert per_leaf[per_leaf > 0].min() >= share * weight.sum()


@settings(max_examples=60, deadline=None)
@given(seeds, criteria, parameters())
def test_the_order_of_rows_does_not_matter(seed, criterion, options):
    X, y = table(seed, criterion)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, len(y))
    order = np.random.default_rng(seed + 1).permutation(len(y))
    model = make(criterion, **{"random_state": 0, **options})
    first = model.fit(X, y, weight).tree_
    second = model.fit({name: column[order] for name, column in X.items()}, y[order], weight[order]).tree_
    assert first == second


@settings(max_examples=40, deadline=None)
@given(seeds, criteria)
def test_a_weight_of_three_is_the_same_as_the_row_three_times(seed, criterion):
    X, y = table(seed, criterion)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[0] = 1
    model = make(criterion, max_depth=4)
    weighted = model.fit(X, y, sample_weight=times).tree_
    repeated = model.fit(
        {name: np.repeat(column, times) for name, column in X.items()}, np.repeat(y, times)
    ).tree_
    for part in ("feature", "threshold", "level_bits", "value", "cover"):
        assert_array_equal(getattr(weighted.native, part), getattr(repeated.native, part))


@settings(max_examples=30, deadline=None)
@given(seeds, criteria, st.sampled_from([-1, 1]))
def test_a_constrained_answer_never_turns_back(seed, criterion, sign):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=120) > 0).astype(float) + (criterion == "poisson")
    model = make(criterion, monotonic_cst=[sign, 0, 0], max_depth=7).fit(X, y)
    for other in rng.normal(size=(20, 2)):
        line = np.column_stack([np.linspace(-3, 3, 101), np.tile(other, (101, 1))])
        answers = model.predict_proba(line)[:, 1] if hasattr(model, "predict_proba") else model.predict(line)
        assert (sign * np.diff(answers) >= 0).all()


@settings(max_examples=25, deadline=None)
@given(seeds, criteria, parameters())
def test_a_deeper_tree_fits_no_worse(seed, criterion, options):
    """The impurity of the leaves falls with every split, and the gains add up to what was gained."""
    X, y = table(seed, criterion)
    tree = make(criterion, **options).fit(X, y).tree_
    leaves = tree.children_left < 0
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    assert tree.native.gain.min() >= -1e-12
    gained = tree.impurity[0] - (share * tree.impurity)[leaves].sum()
    assert tree.native.gain.sum() == pytest.approx(gained, abs=1e-10)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("options", [{}, {"max_leaf_nodes": 50}, {"max_features": 2, "splitter": "random"}])
def test_threads_do_not_change_the_tree(criterion, options, monkeypatch):
    X, y = table(4, criterion, n_rows=40_000 if criterion != "absolute_error" else 16_000)
    trees = []
    for n_jobs, available in ((1, "4"), (2, "4"), (3, "4"), (None, "2"), (None, "4")):
        monkeypatch.setenv("COTERIE_NUM_THREADS", available)
        model = make(criterion, n_jobs=n_jobs, random_state=0, max_depth=12, **options)
        trees.append(model.fit(X, y).tree_)
    assert trees[0].n_leaves > 10
    assert all(tree == trees[0] for tree in trees[1:])


def test_columns_of_a_dict_are_matched_by_name():
    X, y = table(5, "gini")
    model = DecisionTreeClassifier().fit(X, y)
    assert_array_equal(model.predict(dict(reversed(X.items()))), model.predict(X))


def test_the_seed_decides_what_is_drawn():
    X, y = table(6, "squared_error", n_rows=300)
    first, again, other = (
        DecisionTreeRegressor(max_features=1, splitter="random", random_state=seed).fit(X, y).tree_
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_without_draws_the_seed_does_not_matter():
    X, y = table(7, "squared_error", n_rows=300)
    first, second = (DecisionTreeRegressor(random_state=seed).fit(X, y).tree_ for seed in (1, 2))
    assert first == second
