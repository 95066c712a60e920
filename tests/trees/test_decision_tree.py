"""The estimators: any table in, labels and numbers out, and what they say about themselves."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from coterie.errors import InvalidInput
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor
from tests.helpers.errors import raised

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)


def messy_frame(n_rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "town": rng.choice(["Cork", "Oslo", "Rome"], n_rows),
            "size": pd.Categorical(
                rng.choice(["S", "M", "L"], n_rows), categories=["S", "M", "L"], ordered=True
            ),
            "member": rng.random(n_rows) < 0.5,
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "town"] = None
    y = (frame["town"] == "Oslo") | (frame["size"] == "L")
    return frame, y.to_numpy()


def test_a_split_on_a_category_and_one_on_an_ordered_one():
    frame, y = messy_frame()
    model = DecisionTreeClassifier().fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert set(model.tree_.feature[model.tree_.feature >= 0]) == {1, 2}


def test_every_kind_of_table_gives_the_same_tree():
    frame, y = messy_frame()
    frame = frame.drop(columns="size")
    own = frame.astype({"town": object}).where(frame.notna(), None)
    tables = [frame, pl.from_pandas(frame), {name: own[name].to_numpy() for name in own}]
    trees = [DecisionTreeClassifier().fit(table, y).tree_ for table in tables]
    assert trees[0] == trees[1] == trees[2]


def test_a_sparse_matrix_is_its_dense_twin():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (60, 5)).astype(float)
    y = rng.integers(0, 2, 60)
    assert (
        DecisionTreeClassifier().fit(sparse.csr_matrix(X), y).tree_
        == DecisionTreeClassifier().fit(X, y).tree_
    )


def test_an_unknown_category_is_missing_or_an_error():
    X, y = {"town": ["Cork", "Oslo", None, None]}, [0, 1, 1, 1]
    model = DecisionTreeClassifier().fit(X, y)
    assert_array_equal(model.predict({"town": ["Rome", "Cork"]}), [1, 0])
    strict = DecisionTreeClassifier(unknown_category="error").fit(X, y)
    with raised(InvalidInput, column="town", received=["Rome"], hint="unknown_category='missing'"):
        strict.predict({"town": ["Rome"]})


def test_numbers_can_be_declared_categories():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    assert DecisionTreeClassifier(max_depth=1).fit(X, y).score(X, y) < 1
    assert DecisionTreeClassifier(max_depth=1, categorical_features=[0]).fit(X, y).score(X, y) == 1


def test_a_thousand_categories_do_not_explode():
    rng = np.random.default_rng(2)
    town = rng.integers(0, 1000, 5000)
    X = {"town": np.array([f"town {t}" for t in town])}
    y = (town % 2 == 0).astype(float) + rng.normal(scale=0.1, size=5000)
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    assert model.score(X, y) > 0.3


def test_missing_values_find_their_own_side():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    model = DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 0.0, 9.0, 9.0])
    assert model.tree_.threshold[0] == np.inf
    assert_array_equal(model.predict([[5.0], [np.nan], [np.inf]]), [0, 9, 0])


def test_thresholds_lie_between_the_values():
    neighbours = [(1.0, np.nextafter(1.0, 2.0)), (0.0, 5e-324), (5e-324, 1e-323)]
    for low, high in [*neighbours, (-np.inf, np.inf), (-1e308, 1e308), (3.0, np.inf)]:
        model = DecisionTreeClassifier().fit([[low], [high]], [0, 1])
        assert low <= model.tree_.threshold[0] < high
        assert_array_equal(model.predict([[low], [high]]), [0, 1])


def test_both_zeros_are_the_same_number():
    model = DecisionTreeClassifier().fit([[0.0], [-0.0], [-0.0], [0.0]], [0, 1, 0, 1])
    assert model.get_n_leaves() == 1


def test_more_distinct_values_than_codes_share_them():
    rng = np.random.default_rng(3)
    X = rng.permutation(200_000)[:, None].astype(np.float64)
    y = (X[:, 0] >= 123_456).astype(int)
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    assert model.score(X, y) > 0.9999
    assert_array_equal(np.bincount(model.apply(X))[np.unique(model.apply(X))], leaf_rows(model))


def leaf_rows(model):
    return model.tree_.n_node_samples[model.tree_.children_left < 0]


def test_random_thresholds_cope_with_infinities_and_lone_values():
    X = np.array([[-np.inf, 1.0], [0.0, np.nan], [1.0, 1.0], [np.inf, np.nan]])
    for seed in range(20):
        model = DecisionTreeRegressor(splitter="random", random_state=seed).fit(X, [0.0, 1.0, 2.0, 3.0])
        assert_array_equal(model.predict(X), [0, 1, 2, 3])


def test_a_zero_gain_split_still_opens_the_way():
    y = [0, 1, 1, 0]
    assert_array_equal(DecisionTreeClassifier().fit(XOR, y).predict(XOR), y)


def test_targets_far_from_zero_are_split_as_well_as_targets_around_it():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    near = DecisionTreeRegressor(min_samples_leaf=20).fit(X, y)
    far = DecisionTreeRegressor(min_samples_leaf=20).fit(X, y + 1e7)
    assert_array_equal(near.tree_.feature, far.tree_.feature)
    assert_array_equal(near.tree_.threshold, far.tree_.threshold)
    assert_allclose(far.predict(X) - 1e7, near.predict(X), atol=1e-7)


def test_equal_targets_make_a_pure_node_whatever_their_rounding():
    rng = np.random.default_rng(5)
    for y in (np.full(50, 0.1), np.full(50, 1e9 + 0.1), np.tile([1e9 + 0.1, 0.3], (50, 1))):
        model = DecisionTreeRegressor().fit(rng.normal(size=(50, 2)), y)
        assert model.get_n_leaves() == 1
        assert model.tree_.impurity[0] == 0


def test_labels_of_any_type_come_back():
    for labels in (["no", "yes"], [True, False], [-3, 7], np.array(["b", "a"], dtype=object)):
        y = np.array(labels)[[0, 1, 1, 0]]
        model = DecisionTreeClassifier().fit(XOR, y)
        assert_array_equal(model.predict(XOR), y)
        assert model.n_classes_ == 2
        assert isinstance(model.n_classes_, int)


def test_several_outputs_of_labels():
    y = np.array([["a", "x"], ["a", "y"], ["b", "z"], ["b", "x"]])
    model = DecisionTreeClassifier().fit(XOR, y)
    assert_array_equal(model.predict(XOR), y)
    assert [part.shape for part in model.predict_proba(XOR)] == [(4, 2), (4, 3)]
    assert_array_equal(model.n_classes_, [2, 3])
    assert np.isneginf(model.predict_log_proba(XOR)[0]).any()


def test_several_outputs_of_numbers():
    y = np.array([[0.0, 5.0], [0.0, 6.0], [1.0, 5.0], [1.0, 6.0]])
    model = DecisionTreeRegressor().fit(XOR, y)
    assert_array_equal(model.predict(XOR), y)
    assert model.tree_.value.shape == (7, 2, 1)


def test_one_class_needs_no_question():
    model = DecisionTreeClassifier().fit(XOR, ["only"] * 4)
    assert model.get_n_leaves() == 1
    assert model.get_depth() == 0
    assert_array_equal(model.predict_proba(XOR), np.ones((4, 1)))
    assert_array_equal(model.feature_importances_, [0, 0])


def test_rows_without_weight_are_left_out():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 9])
    model = DecisionTreeRegressor().fit(X, y, sample_weight=[1, 1, 1, 1, 1, 0])
    assert model.tree_.n_node_samples[0] == 5
    assert_array_equal(model.predict([[5.0]]), [1.0])


def test_a_column_without_values_and_a_constant_one_are_never_asked():
    X = np.column_stack([np.full(4, np.nan), np.ones(4), XOR[:, 0]])
    model = DecisionTreeClassifier().fit(X, XOR[:, 0])
    assert_array_equal(model.feature_importances_, [0, 0, 1])


def test_drawing_one_feature_goes_on_until_one_varies():
    X = np.column_stack([np.ones((4, 8)), XOR[:, 0]])
    for seed in range(10):
        assert DecisionTreeClassifier(max_features=1, random_state=seed).fit(X, XOR[:, 0]).get_n_leaves() == 2


def test_constraints_by_column_name():
    rng = np.random.default_rng(6)
    X = pd.DataFrame({"price": rng.normal(size=200), "rest": rng.normal(size=200)})
    y = -X["price"] + rng.normal(size=200)
    named = DecisionTreeRegressor(monotonic_cst={"price": -1}, max_depth=5).fit(X, y)
    assert named.tree_ == DecisionTreeRegressor(monotonic_cst=[-1, 0], max_depth=5).fit(X, y).tree_
    line = pd.DataFrame({"price": np.linspace(-2, 2, 50), "rest": 0.0})
    assert (np.diff(named.predict(line)) <= 0).all()


def test_pruning_keeps_what_is_worth_its_leaves():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0) ^ (rng.random(200) < 0.1)
    path = DecisionTreeClassifier().cost_complexity_pruning_path(X, y)
    assert (np.diff(path.ccp_alphas) >= -1e-15).all()
    sizes = [
        DecisionTreeClassifier(ccp_alpha=alpha).fit(X, y).get_n_leaves() for alpha in path.ccp_alphas[::5]
    ]
    assert sizes == sorted(sizes, reverse=True)
    stump = DecisionTreeClassifier(ccp_alpha=0.05).fit(X, y)
    assert stump.get_n_leaves() == 2
    assert stump.tree_.feature[0] == 0


def test_pickles_and_clones():
    frame, y = messy_frame()
    model = DecisionTreeClassifier(max_depth=3).fit(frame, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_ == model.tree_
    assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "tree_")


def test_a_failed_refit_leaves_no_half_model():
    model = DecisionTreeRegressor().fit(XOR, [0, 1, 2, 3])
    with raised(InvalidInput, parameter="y", received=-3.0, row=3, about="negative"):
        model.set_params(criterion="poisson").fit(XOR, [0, 1, 2, -3])
    with pytest.raises(NotFittedError):
        model.predict(XOR)


def test_one_row_is_a_leaf():
    assert DecisionTreeRegressor().fit([[1.0]], [2.0]).predict([[9.0]]) == [2.0]
