"""Isolation forests: against the slow twin, against scikit-learn's, and what categories and missing values do."""

import io
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

import coterie
from coterie import IsolationForest
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from coterie.fitting.monitor import monitored
from tests.helpers.errors import raised
from tests.naive import isolation as naive


def clouds(n_rows: int = 300, n_outliers: int = 20, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    usual = rng.normal(size=(n_rows, 3)) * 0.3 + rng.choice([-2.0, 2.0], size=(n_rows, 1))
    return np.vstack([usual, rng.uniform(-5, 5, size=(n_outliers, 3))]), np.arange(
        n_rows + n_outliers
    ) >= n_rows


def native_trees(model: Any) -> list[Any]:
    return [model.forest_.tree(place) for place in range(len(model.forest_))]


@pytest.mark.parametrize("settings", [{}, {"bootstrap": True}, {"max_samples": 40}, {"max_features": 2}])
def test_scores_are_those_of_the_slow_twin(settings: dict[str, Any]) -> None:
    X, _ = clouds(90, 10)
    X[::7, 1] = np.nan
    model = IsolationForest(n_estimators=8, random_state=1, **settings).fit(X)

    slow = naive.scores(
        native_trees(model), model.estimators_samples_, X, X[:30], np.zeros(3), model.max_samples_
    )

    np.testing.assert_allclose(model.score_samples(X[:30]), slow, rtol=1e-12)
    np.testing.assert_array_equal(model.decision_function(X), model.score_samples(X) - model.offset_)
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) < 0, -1, 1))


def test_scores_of_categories_are_those_of_the_slow_twin() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(-1, 5, size=80)
    frame = pd.DataFrame(
        {"town": pd.Categorical.from_codes(codes, list("abcde")), "size": rng.normal(size=80)}
    )
    model = IsolationForest(n_estimators=10, random_state=3).fit(frame)
    seen = np.column_stack([codes, frame["size"]])

    slow = naive.scores(native_trees(model), model.estimators_samples_, seen, seen, np.array([5, 0]), 80)

    np.testing.assert_allclose(model.score_samples(frame), slow, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 60), st.integers(1, 4), st.booleans())
def test_every_tree_parts_its_rows_and_counts_them(
    seed: int, n_rows: int, n_columns: int, bootstrap: bool
) -> None:
    X = np.random.default_rng(seed).integers(0, 4, size=(n_rows, n_columns)).astype(float)
    model = IsolationForest(n_estimators=3, bootstrap=bootstrap, random_state=seed).fit(X)

    for tree, rows in zip(native_trees(model), model.estimators_samples_, strict=True):
        inside = naive.leaf_rows(tree, X, rows, np.zeros(n_columns))
        leaves = np.flatnonzero(tree.feature < 0)
        assert set(inside) == set(leaves.tolist())
        assert all(len(inside[leaf]) == tree.n_rows[leaf] for leaf in leaves)
        depth = {
            leaf: len(naive.path(tree, X[own[0]], np.zeros(n_columns))) - 1 for leaf, own in inside.items()
        }
        for leaf, own in inside.items():  # a leaf is a row, rows that are alike, or as deep as trees grow
            alike = len(np.unique(X[own], axis=0)) == 1
            assert alike or depth[leaf] == model.estimators_[0].max_depth
    assert ((model.score_samples(X) >= -1) & (model.score_samples(X) < 0)).all()


def table_of_classes(X: Any, y: Any, rare: int, share: float, seed: int) -> tuple[Any, Any]:
    """Rows of all classes but one, and a few of that one, which are to be found."""
    rng = np.random.default_rng(seed)
    usual, unusual = np.flatnonzero(y != rare), np.flatnonzero(y == rare)
    chosen = rng.choice(unusual, max(5, int(share * len(usual))), replace=False)
    rows = np.concatenate([usual, chosen])
    return X[rows], np.isin(rows, chosen)


@pytest.mark.parametrize(
    ("load", "rare"),
    [(load_breast_cancer, 0), (load_wine, 0), (load_digits, 0)],
    ids=["cancer", "wine", "digits"],
)
def test_anomalies_are_found_as_well_as_by_scikit_learn(load: Any, rare: int) -> None:
    X, y = load(return_X_y=True)
    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    for seed in range(10):
        table, is_rare = table_of_classes(X, y, rare, 0.05, seed)
        for name, kind in (("ours", IsolationForest), ("theirs", sklearn.ensemble.IsolationForest)):
            model = kind(random_state=seed).fit(table)
            found[name].append(roc_auc_score(is_rare, -model.score_samples(table)))

    assert np.mean(found["ours"]) > np.mean(found["theirs"]) - 0.04  # what ten seeds leave to chance


def test_mean_path_lengths_are_those_of_scikit_learn() -> None:
    X, _ = clouds(2000, 50)
    ours = IsolationForest(n_estimators=400, random_state=0).fit(X)
    theirs = sklearn.ensemble.IsolationForest(n_estimators=400, random_state=0).fit(X)

    difference = ours.score_samples(X) - theirs.score_samples(X)

    assert abs(difference.mean()) < 0.003
    assert np.abs(difference).max() < 0.04
    assert np.corrcoef(ours.score_samples(X), theirs.score_samples(X))[0, 1] > 0.99


def test_a_rare_or_unknown_category_is_unusual() -> None:
    town = np.array(["Oslo"] * 120 + ["Rome"] * 120 + ["Cork"] * 2)
    frame = pd.DataFrame({"town": town, "size": np.random.default_rng(0).normal(size=242)})
    model = IsolationForest(n_estimators=200, random_state=0).fit(frame)

    new = pd.DataFrame({"town": ["Oslo", "Rome", "Cork"], "size": [0.0, 0.0, 0.0]})
    oslo, rome, cork = model.score_samples(new)

    assert cork < min(oslo, rome) - 0.02
    with raised(InvalidInput, column="town"):
        IsolationForest(unknown_category="error", random_state=0).fit(frame).predict(
            pd.DataFrame({"town": ["Ulm"], "size": [0.0]})
        )


def test_rows_that_miss_what_others_have_are_unusual() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[:3] = np.nan
    model = IsolationForest(n_estimators=200, max_samples=400, random_state=0).fit(X)

    scores = model.score_samples(X)

    assert scores[:3].max() < np.median(scores[3:])


def test_contamination_is_the_share_of_outliers() -> None:
    X, is_outlier = clouds()
    model = IsolationForest(contamination=0.0625, random_state=0).fit(X)

    assert (model.predict(X) == -1).sum() == 20
    assert (model.predict(X)[is_outlier] == -1).mean() > 0.7
    assert model.offset_ == np.percentile(model.score_samples(X), 6.25)
    assert IsolationForest(random_state=0).fit(X).offset_ == -0.5
    np.testing.assert_array_equal(
        IsolationForest(random_state=0).fit_predict(X), IsolationForest(random_state=0).fit(X).predict(X)
    )


def test_bags_are_as_large_as_asked_for_and_drawn_by_weight() -> None:
    X, _ = clouds()
    weight = np.zeros(320)
    weight[:10], weight[10:20] = 1.0, 9.0
    one = IsolationForest(n_estimators=600, max_samples=1, random_state=0).fit(X, sample_weight=weight)
    drawn = np.bincount(np.concatenate(one.estimators_samples_), minlength=320)

    assert [len(own) for own in IsolationForest(max_samples=0.1).fit(X).estimators_samples_] == [32] * 100
    assert drawn[20:].sum() == 0
    assert drawn[10:20].sum() == pytest.approx(540, abs=40)
    assert one.score_samples(X).tolist() == [-0.5] * 320
    few = IsolationForest(n_estimators=5).fit(X, sample_weight=weight)
    assert [own.tolist() for own in few.estimators_samples_] == [list(range(20))] * 5
    assert few.max_samples_ == 20


def test_a_bootstrap_leaves_rows_out() -> None:
    X, _ = clouds()
    sizes = [
        len(own)
        for own in IsolationForest(max_samples=320, bootstrap=True, random_state=0).fit(X).estimators_samples_
    ]

    assert np.mean(sizes) / 320 == pytest.approx(1 - np.exp(-1), abs=0.01)


def test_features_are_those_that_were_drawn() -> None:
    X = np.random.default_rng(0).normal(size=(200, 10))
    model = IsolationForest(max_features=3, random_state=0).fit(X)

    assert {len(own) for own in model.estimators_features_} == {3}
    for member, features in zip(model.estimators_, model.estimators_features_, strict=True):
        used = member.tree_.feature
        assert set(used[used >= 0].tolist()) <= set(features.tolist())
    assert model.split_counts().sum() == sum(int((tree.feature >= 0).sum()) for tree in native_trees(model))
    assert [len(own) for own in IsolationForest(max_features=0.01).fit(X).estimators_features_] == [1] * 100


def test_a_warm_start_is_one_longer_fit() -> None:
    X, _ = clouds()
    model = IsolationForest(n_estimators=10, warm_start=True, random_state=0).fit(X)
    first = model.estimators_[0]
    model.set_params(n_estimators=25).fit(X)

    np.testing.assert_array_equal(
        model.score_samples(X), IsolationForest(n_estimators=25, random_state=0).fit(X).score_samples(X)
    )
    assert model.estimators_[0] is first
    assert len(model.estimators_) == len(model.estimators_samples_) == 25
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(X)
    with raised(InvalidParameter, parameter="n_estimators"):
        model.set_params(n_estimators=20).fit(X)


def test_a_warm_start_takes_other_rows_of_the_same_columns() -> None:
    frame = pd.DataFrame({"town": ["Oslo", "Rome"] * 30, "size": np.arange(60.0)})
    model = IsolationForest(n_estimators=5, warm_start=True, random_state=0).fit(frame)
    model.set_params(n_estimators=10).fit(frame[30:].reset_index(drop=True))

    assert [own.max() < 30 for own in model.estimators_samples_] == [False] * 5 + [True] * 5
    assert model._draws[1].max_samples == 30
    assert np.isfinite(model.score_samples(frame)).all()


def test_members_predict_lengths_of_paths() -> None:
    X, _ = clouds()
    model = IsolationForest(n_estimators=5, random_state=0).fit(X)

    mean = np.mean([member.predict(X) for member in model.estimators_], axis=0)

    np.testing.assert_allclose(
        model.score_samples(X), -(2 ** (-mean / naive.average_path_length(256))), rtol=1e-12
    )
    assert model.estimators_[-1] is model.estimators_[4]
    assert len(model.estimators_[1:3]) == 2
    with pytest.raises(IndexError, match="tree 5"):
        model.estimators_[5]


def test_contributions_add_up_to_the_mean_path() -> None:
    X, _ = clouds()
    model = IsolationForest(n_estimators=20, random_state=0).fit(X)
    explained = model.explain(X[-5:])

    paths = -np.log2(-model.score_samples(X[-5:])) * naive.average_path_length(256)

    np.testing.assert_allclose(explained.values.sum(axis=1) + explained.base_values, paths, rtol=1e-9)


def test_a_file_and_a_pickle_hold_the_same_forest() -> None:
    X, _ = clouds()
    weight = np.random.default_rng(0).random(len(X))
    model = IsolationForest(n_estimators=5, contamination=0.1, random_state=0).fit(X, sample_weight=weight)
    file = io.BytesIO()
    coterie.save(model, file)
    file.seek(0)

    for twin in (coterie.load(file), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.score_samples(X), model.score_samples(X))
        assert all(map(np.array_equal, twin.estimators_samples_, model.estimators_samples_))


def test_sparse_rows_are_scored_as_dense_ones() -> None:
    X = sparse.random(300, 20, density=0.1, random_state=0, format="csc")
    dense, thin = (IsolationForest(random_state=0, contamination=0.1).fit(own) for own in (X.toarray(), X))

    np.testing.assert_array_equal(dense.score_samples(X.toarray()), thin.score_samples(X.tocsr()))
    assert dense.offset_ == thin.offset_


def test_monitors_count_trees_and_may_stop() -> None:
    X, _ = clouds()
    seen: list[int] = []

    def stop_at_sixteen(event: Any) -> bool:
        seen.append(event.done)
        return bool(event.done >= 16)

    with monitored(stop_at_sixteen):
        model = IsolationForest(n_estimators=100, random_state=0).fit(X)

    assert seen == [8, 16]
    assert len(model.estimators_) == 16
    np.testing.assert_array_equal(
        model.score_samples(X), IsolationForest(n_estimators=16, random_state=0).fit(X).score_samples(X)
    )


def test_verbose_prints_lines(capsys: pytest.CaptureFixture[str]) -> None:
    IsolationForest(n_estimators=20, verbose=1).fit(clouds()[0])

    assert "20 of 20 trees" in capsys.readouterr().out


def test_errors_say_what_is_wrong() -> None:
    X, _ = clouds()
    with raised(InvalidParameter, parameter="max_features", received=4):
        IsolationForest(max_features=4).fit(X)
    with raised(InvalidParameter, parameter="contamination", received=0.6):
        IsolationForest(contamination=0.6).fit(X)
    with pytest.warns(UserWarning, match="max_samples will be set to n_samples"):
        assert IsolationForest(max_samples=1000).fit(X).max_samples_ == 320
    with pytest.raises(NotFittedError):
        IsolationForest().score_samples(X)


def test_what_needs_a_target_or_a_link_is_refused() -> None:
    X, is_outlier = clouds()
    model = IsolationForest(n_estimators=3, random_state=0).fit(X)
    with raised(InvalidType, parameter="model"):
        model.report(X, is_outlier)
    with raised(InvalidType, parameter="model", about="no sum of trees"):
        coterie.export.to_onnx(model)
