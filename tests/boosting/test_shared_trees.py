"""Classes that share their trees: the same splits, a value of each class in every leaf."""

import pickle
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

import coterie
from coterie import GradientBoostingClassifier
from coterie._typing import AnyArray
from coterie.boosting._trainer import random_direction
from coterie.errors import InvalidParameter
from tests.helpers.estimators import fingerprint
from tests.helpers.exported import onnx_answers, treelite_answers

SETTINGS: dict[str, Any] = {"n_estimators": 20, "multi_strategy": "shared_trees", "random_state": 0}


@pytest.fixture(scope="module")
def table() -> tuple[AnyArray, AnyArray]:
    X, y = make_classification(
        900, 8, n_informative=6, n_classes=5, n_clusters_per_class=1, class_sep=1.5, random_state=0
    )
    X[::5, 0] = np.nan
    return X, np.array(["ant", "bee", "cow", "dog", "eel"])[y]


def splits_of(tree: Any) -> list[tuple[int, float]]:
    return list(zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True))


def test_a_round_is_one_tree_with_a_value_for_each_class(table: Any) -> None:
    X, y = table
    model = GradientBoostingClassifier(**SETTINGS).fit(X, y)

    assert len(model.forest_) == 20
    for place in range(20):
        tree = model.forest_.tree(place)
        assert model.forest_.first_output(place) == 0
        assert tree.value.shape == (tree.n_nodes, 5)
        assert not np.array_equal(tree.value[:, 0], tree.value[:, 1])


def test_trees_with_lines_share_their_splits(table: Any) -> None:
    X, y = table
    model = GradientBoostingClassifier(**SETTINGS, linear_leaves=True).fit(X, y)

    assert len(model.forest_) == 100
    for first in range(0, 100, 5):
        trees = [model.forest_.tree(first + k) for k in range(5)]
        assert [model.forest_.first_output(first + k) for k in range(5)] == [0, 1, 2, 3, 4]
        assert all(splits_of(tree) == splits_of(trees[0]) for tree in trees)
    assert any(len(tree.linear_slope) for tree in trees)


def test_shared_trees_learn_as_well_as_one_tree_per_class(table: Any) -> None:
    X, y = table
    losses = {}
    for strategy in ("shared_trees", "one_tree_per_class"):
        model = GradientBoostingClassifier(n_estimators=60, multi_strategy=strategy, random_state=0)
        losses[strategy] = log_loss(y[600:], model.fit(X[:600], y[:600]).predict_proba(X[600:]))

    assert losses["shared_trees"] < 1.1 * losses["one_tree_per_class"]
    assert losses["shared_trees"] < 0.5


def test_a_number_of_rounds_means_one_tree_per_class(table: Any) -> None:
    X, y = table
    left_to_us, explicit = (
        GradientBoostingClassifier(n_estimators=5, random_state=0, **choice).fit(X, y)
        for choice in ({}, {"multi_strategy": "one_tree_per_class"})
    )

    assert fingerprint(left_to_us) == fingerprint(explicit)
    assert splits_of(left_to_us.forest_.tree(0)) != splits_of(left_to_us.forest_.tree(1))


def test_two_classes_have_one_score_and_nothing_to_share(table: Any) -> None:
    X, y = table
    models = [
        GradientBoostingClassifier(n_estimators=5, random_state=0, multi_strategy=each).fit(X, y > "bee")
        for each in ("auto", "shared_trees")
    ]

    assert fingerprint(models[0]) == fingerprint(models[1])


def test_another_strategy_is_refused(table: Any) -> None:
    with pytest.raises(InvalidParameter, match="multi_strategy='multi_output_tree'"):
        GradientBoostingClassifier(multi_strategy="multi_output_tree").fit(*table)


def test_monotone_constraints_are_refused_as_ever(table: Any) -> None:
    X, y = table
    with pytest.raises(InvalidParameter, match="monotonic_cst is not supported with multiclass"):
        GradientBoostingClassifier(**SETTINGS, monotonic_cst=[1] + [0] * 7).fit(X, y)


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"subsample": 0.5, "sampling_method": "uniform"},
        {"subsample": 0.5, "sampling_method": "gradient_based"},
        {"sampling_method": "bayesian"},
        {"n_folds": 3, "growth": "mixed"},
        {"early_stopping": True, "refit": True},
        {"growth": "level", "leaf_penalty": 0.5},
        {"growth": "oblivious", "max_depth": 4},
        {"max_features": 0.5, "split_noise": 1.0},
        {"path_smoothing": 20.0, "max_step": 0.4, "l1_regularization": 1.0},
        {"interaction_cst": [[0, 1], [2, 3, 4], [5, 6, 7]]},
        {"linear_leaves": True},
        {"linear_leaves": True, "subsample": 0.7, "sampling_method": "uniform"},
        {"dropout_rate": 0.3},
        {"class_weight": "balanced"},
    ],
    ids=lambda choice: "-".join(choice) or "plain",
)
def test_threads_do_not_change_a_model(choice: dict[str, Any], table: Any) -> None:
    X, y = table
    models = [GradientBoostingClassifier(**SETTINGS, **choice, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3)]

    assert models[0].score(X, y) > 0.75
    assert fingerprint(models[0]) == fingerprint(models[1])


@pytest.mark.parametrize("choice", [{}, {"linear_leaves": True}, {"n_folds": 2, "growth": "mixed"}], ids=str)
def test_a_warm_start_is_one_longer_fit(choice: dict[str, Any], table: Any) -> None:
    X, y = table
    model = GradientBoostingClassifier(**SETTINGS | {"n_estimators": 7}, **choice, warm_start=True).fit(X, y)
    model.set_params(n_estimators=15).fit(X, y)
    longer = GradientBoostingClassifier(**SETTINGS | {"n_estimators": 15}, **choice, warm_start=True).fit(
        X, y
    )

    assert fingerprint(model) == fingerprint(longer)


def test_stages_end_at_the_prediction(table: Any) -> None:
    X, y = table
    model = GradientBoostingClassifier(**SETTINGS).fit(X, y, eval_set=(X[:50], y[:50]))
    stages = list(model.staged_predict_proba(X))

    np.testing.assert_allclose(stages[-1], model.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(stages[2], model.predict_proba(X, n_rounds=3), rtol=1e-12)
    assert len(stages) == len(model.validation_losses_) == 20


@pytest.mark.parametrize("linear_leaves", [False, True])
def test_contributions_add_up_to_the_raw_prediction(linear_leaves: bool, table: Any) -> None:
    X, y = table
    model = GradientBoostingClassifier(**SETTINGS, linear_leaves=linear_leaves).fit(X, y)
    found = model.explain(X[:40])

    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model.decision_function(X[:40]), atol=1e-6
    )


def test_files_and_pickles_bring_the_model_back(table: Any) -> None:
    X, y = table
    model = GradientBoostingClassifier(**SETTINGS, linear_leaves=True).fit(X, y)
    written = BytesIO()
    coterie.save(model, written)
    written.seek(0)

    for again in (coterie.load(written), pickle.loads(pickle.dumps(model))):
        assert again.multi_strategy == "shared_trees"
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("choice", [{}, {"n_folds": 2, "growth": "mixed"}], ids=str)
def test_exported_models_answer_the_same(choice: dict[str, Any], table: Any) -> None:
    X, y = table
    model = GradientBoostingClassifier(**SETTINGS, **choice, linear_leaves=False).fit(X, y)

    found = onnx_answers(model, X)["probabilities"]
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(treelite_answers(model, X)[:, 0], model.predict_proba(X), rtol=1e-5, atol=1e-6)


def test_a_scan_is_learned_as_the_table(table: Any) -> None:
    X, y = table
    features = pd.DataFrame({f"x{number}": X[:, number] for number in range(1, 8)})
    model = GradientBoostingClassifier(**SETTINGS).fit(coterie.scan(features.assign(y=y), target="y"))
    alone = GradientBoostingClassifier(**SETTINGS).fit(features, y)

    np.testing.assert_array_equal(model.predict_proba(features), alone.predict_proba(features))


def test_the_first_rounds_are_a_model(table: Any) -> None:
    X, y = table
    model = GradientBoostingClassifier(**SETTINGS, n_folds=2, early_stopping=True).fit(X, y)

    np.testing.assert_array_equal(model.with_rounds(3).predict_proba(X), model.predict_proba(X, n_rounds=3))
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.oof_proba_.shape == (900, 5)


def test_a_class_of_one_row_does_not_send_scores_away() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=2000), [-0.5, 0.5])
    y[::400] = 3
    for choice in ({}, {"linear_leaves": True}):
        model = GradientBoostingClassifier(**SETTINGS | {"n_estimators": 50}, **choice).fit(
            X[:1000], y[:1000]
        )
        raw = model.decision_function(X)
        others = y[1000:] != 3

        assert np.abs(raw).max() < 40
        shares = np.bincount(y[:1000]) / 1000
        constant = log_loss(y[1000:], np.tile(shares, (1000, 1)), labels=range(4))
        assert log_loss(y[1000:], model.predict_proba(X[1000:]), labels=range(4)) < 0.8 * constant
        assert (model.predict(X[1000:]) == y[1000:])[others].mean() > 0.6


def test_a_weight_of_two_is_nearly_a_row_twice(table: Any) -> None:
    X, y = table
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    settings = {**SETTINGS, "min_samples_leaf": 1, "max_leaf_nodes": 4, "n_estimators": 5, "max_bins": 20}
    weighed = GradientBoostingClassifier(**settings).fit(X, y, sample_weight=weight)
    repeated = GradientBoostingClassifier(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))

    np.testing.assert_allclose(weighed.predict_proba(X), repeated.predict_proba(X), atol=0.05)


def test_directions_are_centred_and_known_by_their_seed() -> None:
    direction = random_direction(5, 7, centred=True)

    assert direction.dtype == np.float32
    assert abs(float(direction.sum())) < 1e-5
    np.testing.assert_array_equal(direction, random_direction(5, 7, centred=True))
    assert not np.array_equal(direction, random_direction(6, 7, centred=True))
    assert abs(float(random_direction(5, 7, centred=False).sum())) > 0.1
