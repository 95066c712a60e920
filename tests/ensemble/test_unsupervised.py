"""What isolation forests and embeddings of the mirror do otherwise than scikit-learn's, row by row of the guide."""

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.base import clone, is_outlier_detector

from coterie import ensemble, patch_sklearn
from tests.helpers.oracles import needs_scikit_learn

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))


def test_attributes_are_those_of_scikit_learn() -> None:
    ours, theirs = (
        module.IsolationForest(n_estimators=3, random_state=0).fit(X)
        for module in (ensemble, sklearn.ensemble)
    )
    public = {name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")}
    assert {name for name in public if not hasattr(ours, name)} == set()
    assert ours.get_params() == theirs.get_params()
    assert len(ours) == len(theirs) == 3
    assert ours.max_samples_ == theirs.max_samples_ == 120
    assert ours.offset_ == theirs.offset_ == -0.5
    assert is_outlier_detector(ours)
    assert ours.estimator_.splitter == "random"
    ours, theirs = (
        module.RandomTreesEmbedding(n_estimators=3, random_state=0).fit(X)
        for module in (ensemble, sklearn.ensemble)
    )
    public = {name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")}
    assert {name for name in public if not hasattr(ours, name)} == set()
    assert clone(ours).get_params() == clone(theirs).get_params()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_samples": -1}, "max_samples"),
        ({"max_samples": 0.0}, "max_samples"),
        ({"max_samples": 2.0}, "max_samples"),
        ({"contamination": 0.7}, "contamination"),
        ({"max_features": 99}, "max_features must be <= n_features"),
        ({"n_estimators": 0}, "n_estimators"),
    ],
)
def test_errors_are_those_of_scikit_learn(settings: dict[str, Any], message: str) -> None:
    for module in (ensemble, sklearn.ensemble):
        with pytest.raises(ValueError, match=message):
            module.IsolationForest(**settings).fit(X)


def test_a_patch_replaces_both() -> None:
    with patch_sklearn(["IsolationForest", "RandomTreesEmbedding"], verbose=False) as patch:
        assert sklearn.ensemble.IsolationForest is ensemble.IsolationForest
        assert isinstance(ensemble.RandomTreesEmbedding(), sklearn.ensemble.RandomTreesEmbedding)
    assert patch.replaced == ("IsolationForest", "RandomTreesEmbedding")
    with patch_sklearn(verbose=False) as patch:
        assert patch.kept == ()
    assert not isinstance(ensemble.IsolationForest(), sklearn.ensemble.IsolationForest)
    assert not isinstance(ensemble.IsolationForest(), sklearn.ensemble.BaseEnsemble)


def test_children_stand_side_by_side() -> None:
    model = ensemble.RandomTreesEmbedding(n_estimators=1, max_depth=2, random_state=0).fit(X)
    tree = model.estimators_[0].tree_
    inner = tree.children_left >= 0
    np.testing.assert_array_equal(tree.children_right[inner], tree.children_left[inner] + 1)
    assert model.get_feature_names_out()[-1] == f"randomtreesembedding_0_{tree.node_count - 1}"


def test_trees_of_an_isolation_forest_take_all_columns_and_predict_lengths() -> None:
    model = ensemble.IsolationForest(n_estimators=5, max_features=2, random_state=0).fit(X)
    for tree in model:
        assert tree.n_features_in_ == 4
        assert tree.predict(X).min() >= 1.0


def test_rows_without_weight_are_not_missed() -> None:
    weight = np.r_[np.ones(10), np.zeros(110)]
    with pytest.warns(UserWarning, match="max_samples will be set"):
        model = ensemble.IsolationForest(max_samples=50, random_state=0).fit(X, sample_weight=weight)
    assert model.max_samples_ == 10


@needs_scikit_learn("1.8", "weights do not draw rows")
def test_scikit_learn_refuses_rows_without_weight() -> None:
    weight = np.r_[np.ones(10), np.zeros(110)]
    with pytest.raises(ValueError, match="non-zero"):
        sklearn.ensemble.IsolationForest(max_samples=50).fit(X, sample_weight=weight)


def test_numbers_keep_all_their_digits() -> None:
    fine = (1.0 + 1e-10 * np.arange(50)).reshape(-1, 1)
    y = np.arange(50) % 2
    assert len(np.unique(ensemble.IsolationForest(random_state=0).fit(fine).score_samples(fine))) > 5
    assert len(np.unique(sklearn.ensemble.IsolationForest().fit(fine).score_samples(fine))) == 1
    forests = [
        module.RandomForestClassifier(20, random_state=0).fit(fine, y).score(fine, y)
        for module in (ensemble, sklearn.ensemble)
    ]
    assert forests[0] > 0.9 > forests[1]
