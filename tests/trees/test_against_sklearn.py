"""The same trees as scikit-learn's, wherever theirs do not depend on the order in which features are drawn.

Features that split a node equally well are the one thing scikit-learn leaves to chance. Varied weights or
targets and leaves of five rows and more make such ties rare enough to compare whole trees; a single
feature rules them out.
"""

from typing import Any

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from packaging.version import Version
from sklearn import tree as reference

from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor
from tests.helpers.oracles import needs_scikit_learn

CRITERIA = ["gini", "entropy", "squared_error", "absolute_error", "poisson"]
# Before 1.9 scikit-learn sends missing values elsewhere, and has other medians of weighted rows.
IS_NEW = Version(sklearn.__version__) >= Version("1.9")
WEIGHTED = [
    pytest.param(name, marks=needs_scikit_learn("1.9", "other medians of weighted rows"))
    if name == "absolute_error"
    else name
    for name in CRITERIA
]


def is_for_classes(criterion: str) -> bool:
    return criterion in ("gini", "entropy", "log_loss")


def pair(criterion: str, **options: Any) -> tuple[Any, Any]:
    """Our tree and scikit-learn's, with the same parameters."""
    if is_for_classes(criterion):
        ours, theirs = DecisionTreeClassifier, reference.DecisionTreeClassifier
    else:
        ours, theirs = DecisionTreeRegressor, reference.DecisionTreeRegressor
    return ours(criterion=criterion, **options), theirs(criterion=criterion, random_state=0, **options)


def make_problem(rng: np.random.Generator, criterion: str, n_features: int = 5) -> tuple[np.ndarray, ...]:
    """Float32 values, because scikit-learn rounds to them."""
    n_rows = int(rng.integers(60, 300))
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    signal = X[:, 0] + np.sin(3 * X[:, -1])
    if rng.random() < 0.5 and criterion != "absolute_error":  # scikit-learn has no missing values there
        missing = rng.random(X.shape) < 0.1
        if IS_NEW:
            X[missing] = np.nan
    if is_for_classes(criterion):
        y = np.digitize(signal + rng.normal(size=n_rows), [-0.5, 0.7][: int(rng.integers(1, 3))])
    elif criterion == "poisson":
        y = np.exp(signal) * rng.exponential(size=n_rows)
    else:
        y = signal + rng.normal(size=n_rows)
    # Sums of such weights have no rounding errors; with them scikit-learn may split pure nodes.
    return X, y, rng.integers(32, 97, n_rows) / 64


def random_limits(rng: np.random.Generator) -> dict[str, Any]:
    limits: dict[str, Any] = {"min_samples_leaf": int(rng.integers(5, 12))}
    some = {
        "max_depth": int(rng.integers(1, 8)),
        "min_samples_split": float(rng.uniform(0.05, 0.3)),
        "min_weight_fraction_leaf": float(rng.uniform(0.0, 0.1)),
        "max_leaf_nodes": int(rng.integers(2, 20)),
        "min_impurity_decrease": float(rng.uniform(0.0, 0.02)),
        "ccp_alpha": float(rng.uniform(0.0, 0.02)),
    }
    for name in rng.choice(list(some), size=2, replace=False):
        limits[str(name)] = some[str(name)]
    return limits


def assert_same_tree(ours: Any, theirs: Any, X: np.ndarray, new: np.ndarray) -> None:
    assert ours.get_depth() == theirs.get_depth()
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    for rows in (X, new):
        assert_same_partition(ours.apply(rows), theirs.apply(rows))
        predict = "predict_proba" if hasattr(ours, "predict_proba") else "predict"
        assert_allclose(getattr(ours, predict)(rows), getattr(theirs, predict)(rows), rtol=1e-9, atol=1e-12)
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)


def assert_same_partition(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Leaves have other numbers, but the same rows."""
    pairs = np.unique(np.column_stack([ours, theirs]), axis=0)
    assert len(pairs) == len(np.unique(ours)) == len(np.unique(theirs))


@pytest.mark.parametrize("criterion", WEIGHTED)
@pytest.mark.parametrize("seed", range(25))
def test_trees_are_the_same(criterion, seed):
    rng = np.random.default_rng([seed, CRITERIA.index(criterion)])
    X, y, weight = make_problem(rng, criterion)
    new = rng.normal(size=(100, X.shape[1])).astype(np.float32)
    ours, theirs = pair(criterion, **random_limits(rng))
    assert_same_tree(ours.fit(X, y, weight), theirs.fit(X, y, weight), X, new)


@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "log_loss", "squared_error", "absolute_error", "poisson"]
)
@pytest.mark.parametrize("seed", range(8))
def test_with_one_feature_even_ties_between_thresholds_are_the_same(criterion, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (80, 1)).astype(np.float32)
    y = rng.integers(0, 3, 80)
    ours, theirs = pair(criterion)
    ours.fit(X, y)
    theirs.fit(X, y)
    assert_same_tree(ours, theirs, X, np.arange(-1, 13, 0.25, dtype=np.float32)[:, None])
    splits = theirs.tree_.feature >= 0
    assert_array_equal(
        np.sort(ours.tree_.threshold[ours.tree_.feature >= 0]), np.sort(theirs.tree_.threshold[splits])
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_missing_values_that_fit_never_saw_go_to_the_larger_child(criterion):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 1)).astype(np.float32)
    y = rng.exponential(size=200) if not is_for_classes(criterion) else rng.integers(0, 2, 200)
    ours, theirs = pair(criterion, max_depth=4)
    new = np.full((1, 1), np.nan, dtype=np.float32)
    ours.fit(X, y)
    theirs.fit(X, y)
    if criterion == "absolute_error":
        rows = theirs.tree_.n_node_samples[1:3] if theirs.tree_.node_count > 1 else [0, 0]
        first = ours.decision_path(new).indices[1]
        assert ours.tree_.n_node_samples[first] == max(rows[0], len(X) - rows[0])
    else:
        assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9)


@pytest.mark.parametrize("criterion", WEIGHTED)
def test_the_pruning_path_is_the_same(criterion):
    rng = np.random.default_rng(5)
    X, y, weight = make_problem(rng, criterion)
    ours, theirs = (
        model.cost_complexity_pruning_path(X, y, weight) for model in pair(criterion, min_samples_leaf=5)
    )
    assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, atol=1e-9)
    assert_allclose(ours.impurities, theirs.impurities, atol=1e-9)


@pytest.mark.parametrize("criterion", WEIGHTED)
def test_the_decision_path_names_the_same_nodes(criterion):
    rng = np.random.default_rng(13)
    X, y, weight = make_problem(rng, criterion)
    ours, theirs = pair(criterion, min_samples_leaf=8)
    ours.fit(X, y, weight)
    theirs.fit(X, y, weight)
    mine, other = ours.decision_path(X), theirs.decision_path(X)
    assert_array_equal(mine.sum(axis=1), other.sum(axis=1))
    # A node is the set of rows that pass it; numbers differ.
    assert {column.tobytes() for column in mine.toarray().T.astype(np.uint8)} == {
        column.tobytes() for column in other.toarray().T.astype(np.uint8)
    }
    assert mine.has_sorted_indices
    assert_array_equal(mine.toarray()[np.arange(len(X)), ours.apply(X)], np.ones(len(X)))


@pytest.mark.parametrize("criterion", WEIGHTED)
@pytest.mark.parametrize("seed", range(4))
def test_several_outputs_share_one_tree(criterion, seed):
    rng = np.random.default_rng([seed, 7])
    X, y, weight = make_problem(rng, criterion)
    second = rng.integers(0, 4, len(y)) if is_for_classes(criterion) else np.abs(y[::-1]) + rng.random(len(y))
    both = np.column_stack([y, second])
    ours, theirs = pair(criterion, min_samples_leaf=6, max_depth=6)
    ours.fit(X, both, weight)
    theirs.fit(X, both, weight)
    assert_same_partition(ours.apply(X), theirs.apply(X))
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert ours.tree_.value.shape == theirs.tree_.value.shape


@pytest.mark.parametrize("criterion", WEIGHTED)
@pytest.mark.parametrize("max_leaf_nodes", [None, 12])
@pytest.mark.parametrize("seed", range(3))
def test_monotone_constraints_have_the_same_meaning(criterion, max_leaf_nodes, seed):
    rng = np.random.default_rng([seed, 8])
    X, y, weight = make_problem(rng, criterion)
    y = np.minimum(y, 1) if is_for_classes(criterion) else y
    constraints = rng.choice([-1, 0, 1], size=X.shape[1])
    constraints[0] = 1
    ours, theirs = pair(
        criterion, min_samples_leaf=6, monotonic_cst=constraints, max_leaf_nodes=max_leaf_nodes
    )
    new = rng.normal(size=(100, X.shape[1])).astype(np.float32)
    assert_same_tree(ours.fit(X, y, weight), theirs.fit(X, y, weight), X, new)


def test_class_weights_mean_the_same():
    rng = np.random.default_rng(9)
    X, y, weight = make_problem(rng, "gini")
    y = np.minimum(y, 1)
    for class_weight in ({0: 1.0, 1: 2.75}, {0: 0.25, 1: 1.0}):
        ours, theirs = pair("gini", class_weight=class_weight, min_samples_leaf=5)
        assert_same_tree(ours.fit(X, y, weight), theirs.fit(X, y, weight), X, X)


def test_random_splits_are_as_good_as_theirs_on_average():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(400, 6)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    errors = np.zeros(2)
    for seed in range(20):
        for place, make in enumerate((DecisionTreeRegressor, reference.DecisionTreeRegressor)):
            model = make(splitter="random", max_depth=6, random_state=seed, max_features=3).fit(
                X[:200], y[:200]
            )
            errors[place] += ((model.predict(X[200:]) - y[200:]) ** 2).mean() / 20
    assert errors[0] == pytest.approx(errors[1], rel=0.1)
