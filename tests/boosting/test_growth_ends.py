"""A round in which no tree finds a split is the last: scores stay as they are, and no later round would find more."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import Checkpoint, GradientBoostingClassifier, GradientBoostingRegressor
from tests.helpers.checkpoints import bits, killed_after
from tests.helpers.oracles import needs_callbacks

RNG = np.random.default_rng(3)
X = RNG.integers(0, 30, size=(600, 3)).astype(np.float64)  # every value has a bin of its own
STEPS = 4.0 * (X[:, 0] > 12) + 2.0 * (X[:, 1] > 20)  # what a tree of four leaves says
COMMON: dict[str, Any] = {"learning_rate": 1.0, "early_stopping": False, "random_state": 0}


def steps_model(n_estimators: int = 40, **more: Any) -> GradientBoostingRegressor:
    return GradientBoostingRegressor(n_estimators=n_estimators, **{**COMMON, **more})


class Counter:
    """A callback that counts rounds."""

    n_rounds = 0

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.n_rounds += context.parent is not None
        return False


def test_nothing_is_left_after_a_perfect_tree() -> None:
    model = steps_model().fit(X, STEPS)
    assert model.n_estimators_ == 2
    assert model.rounds_.tolist() == [2]
    assert [model.forest_.tree(number).n_nodes for number in range(2)] == [7, 1]
    assert np.allclose(model.predict(X), STEPS, atol=1e-6)
    staged = list(model.staged_predict(X))
    assert len(staged) == 2
    assert np.array_equal(staged[-1], model.predict(X))
    assert np.array_equal(model.predict(X), steps_model(2).fit(X, STEPS).predict(X))


def test_a_step_takes_two_or_three_leaves() -> None:
    model = GradientBoostingClassifier(n_estimators=30, early_stopping=False, random_state=0).fit(
        X, X[:, 0] > 12
    )
    leaves = [(model.forest_.tree(number).n_nodes + 1) // 2 for number in range(model.n_estimators_)]
    assert max(leaves) <= 3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_table_too_small_to_split_has_one_round(n_classes: int) -> None:
    y = np.arange(30) % n_classes
    model = GradientBoostingClassifier(n_estimators=50, early_stopping=False, min_samples_leaf=20).fit(
        X[:30], y
    )
    assert model.n_estimators_ == 1
    assert np.allclose(model.predict_proba(X[:30]), 1 / n_classes)


def test_several_targets_that_share_their_trees_end_together() -> None:
    model = steps_model().fit(X, np.column_stack([STEPS, X[:, 0] > 12]))
    assert model.n_estimators_ < 40
    assert model.forest_.tree(len(model.forest_) - 1).n_nodes == 1


@pytest.mark.parametrize(
    "draws",
    [
        {"subsample": 0.5},
        {"sampling_method": "bayesian"},
        {"max_features": 0.7},
        {"max_features_per_tree": 0.7},
        {"max_features_per_level": 0.7},
        {"split_noise": 1.0},
        {"dropout_rate": 0.2},
    ],
    ids=str,
)
def test_rounds_that_draw_go_on(draws: dict[str, Any]) -> None:
    settings: dict[str, Any] = {"learning_rate": 0.1, "min_samples_leaf": 400}
    assert steps_model(12, **settings, **draws).fit(X, STEPS).n_estimators_ == 12
    assert steps_model(12, **settings).fit(X, STEPS).n_estimators_ == 1


@pytest.mark.parametrize("n_folds", [1, 3])
@pytest.mark.parametrize("first", [1, 2, 5])
def test_a_warm_start_is_one_longer_fit(first: int, n_folds: int) -> None:
    settings: dict[str, Any] = {"n_folds": n_folds, "warm_start": True}
    begun = steps_model(first, **settings).fit(X, STEPS)
    longer = begun.set_params(n_estimators=40).fit(X, STEPS)
    whole = steps_model(40, **settings).fit(X, STEPS)
    assert longer.n_estimators_ == whole.n_estimators_ < 40
    assert longer.rounds_.tolist() == whole.rounds_.tolist()
    assert bits(longer) == bits(whole)


def test_a_warm_start_repeats_rounds_with_splits_behind_one_without() -> None:
    """Models may hold such rounds: they were grown by other rules, or with draws."""
    begun = steps_model(3, warm_start=True, learning_rate=0.5).fit(X, STEPS)
    empty = steps_model(min_samples_leaf=400).fit(X, STEPS).forest_.tree(0)
    trees = [begun.forest_.tree(number) for number in range(3)]
    begun.forest_.truncate(1)
    for tree in (empty, trees[1]):
        begun.forest_.add(tree, 0)
    longer = begun.set_params(n_estimators=5).fit(X, STEPS)
    assert [longer.forest_.tree(number).n_nodes > 1 for number in range(4)] == [True, False, True, True]


def test_a_warm_start_with_other_settings_grows_on() -> None:
    begun = steps_model(warm_start=True, min_samples_leaf=400).fit(X, STEPS)
    assert begun.n_estimators_ == 1
    begun.set_params(min_samples_leaf=20).fit(X, STEPS)
    assert begun.n_estimators_ == 2
    assert np.allclose(begun.predict(X), STEPS, atol=1e-6)


@needs_callbacks
def test_boosters_of_a_group_have_as_many_rounds() -> None:
    y = STEPS.copy()
    y[:7] += RNG.normal(size=7)  # folds with these rows in training need more rounds
    plain = steps_model(n_folds=4, min_samples_leaf=1).fit(X, y)
    counter = Counter()
    watched = steps_model(n_folds=4, min_samples_leaf=1).set_callbacks(counter).fit(X, y)
    assert len(set(plain.rounds_.tolist())) == 1
    assert plain.n_estimators_ < 40
    assert watched.rounds_.tolist() == plain.rounds_.tolist()
    assert np.array_equal(watched.predict(X), plain.predict(X))
    assert counter.n_rounds >= plain.n_estimators_  # boosters grow ten rounds between two looks


def test_evaluation_ends_with_the_rounds() -> None:
    held_out = RNG.integers(0, 30, size=(80, 3)).astype(np.float64)
    truth = 4.0 * (held_out[:, 0] > 12) + 2.0 * (held_out[:, 1] > 20)
    model = steps_model().fit(X, STEPS, eval_set=(held_out, truth))
    assert len(model.validation_losses_) == model.n_estimators_ == 2
    stopped = steps_model(early_stopping=True, n_iter_no_change=10).fit(X, STEPS)
    assert stopped.n_estimators_ <= 2
    refitted = steps_model(early_stopping=True, refit=True).fit(X, STEPS)
    assert refitted.n_estimators_ <= 2
    assert np.allclose(refitted.predict(X), STEPS, atol=1e-6)


@pytest.mark.parametrize("n_folds", [1, 3])
def test_a_resumed_fit_ends_where_it_would_have(n_folds: int, tmp_path: Path) -> None:
    def model() -> GradientBoostingRegressor:
        return steps_model(n_folds=n_folds, learning_rate=0.9, checkpoint=Checkpoint(tmp_path, every=1))

    whole = steps_model(n_folds=n_folds, learning_rate=0.9).fit(X, STEPS)
    with killed_after(1):
        model().fit(X, STEPS)
    resumed = model().fit(X, STEPS, resume=True)
    assert resumed.rounds_.tolist() == whole.rounds_.tolist()
    assert np.array_equal(resumed.predict(X), whole.predict(X))
