"""A fit that was killed goes on from its checkpoint, and ends with the bits of one that was not."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor as SklearnTree

import coterie
from coterie import Checkpoint
from tests.helpers.checkpoints import SIGNAL, WEIGHT, X, Y, bits, killed_after, parts_in
from tests.helpers.oracles import needs_callbacks, trees_have_to_be_trusted

TREE = coterie.DecisionTreeClassifier(max_depth=2)
OTHERS = (X[:40], SIGNAL[:40])
OF_CLASSES = (X[:40], Y["classes"][:40])

# By name: the class, its parameters, the target, and what else `fit` is given.
FITS: dict[str, tuple[type[Any], dict[str, Any], str, dict[str, Any]]] = {
    "boosting, rows and columns drawn": (
        coterie.GradientBoostingRegressor,
        {"n_estimators": 8, "subsample": 0.5, "max_features": 0.5, "max_features_per_tree": 0.8},
        "numbers",
        {"sample_weight": WEIGHT},
    ),
    "boosting, rows drawn by gradients": (
        coterie.GradientBoostingClassifier,
        {"n_estimators": 6, "subsample": 0.4, "sampling_method": "gradient_based"},
        "two classes",
        {},
    ),
    "boosting, rows out of a hat of Bayes": (
        coterie.GradientBoostingRegressor,
        {"n_estimators": 6, "sampling_method": "bayesian"},
        "numbers",
        {"offset": SIGNAL / 3},
    ),
    "boosting with dropout": (
        coterie.GradientBoostingClassifier,
        {"n_estimators": 9, "dropout_rate": 0.4, "dropout_skip": 0.2},
        "classes",
        {},
    ),
    "boosting of classes that share trees": (
        coterie.GradientBoostingClassifier,
        {"n_estimators": 9, "multi_strategy": "shared_trees", "linear_leaves": True},
        "classes",
        {},
    ),
    "boosting, several boosters that stop early": (
        coterie.GradientBoostingClassifier,
        {
            "n_estimators": 30,
            "n_folds": 2,
            "early_stopping": True,
            "n_iter_no_change": 2,
            "max_leaf_nodes": 4,
        },
        "classes",
        {},
    ),
    "boosting by the recipe, grown again on all rows": (
        coterie.GradientBoostingRegressor,
        {"refit": True, "n_iter_no_change": 3, "n_folds": 2, "learning_rate": 0.5},
        "numbers",
        {},
    ),
    "boosting of classes, grown again on all rows": (
        coterie.GradientBoostingClassifier,
        {
            "n_estimators": 12,
            "early_stopping": True,
            "refit": True,
            "n_iter_no_change": 2,
            "max_leaf_nodes": 4,
        },
        "classes",
        {},
    ),
    "boosting by the recipe": (
        coterie.GradientBoostingClassifier,
        {"class_weight": "balanced", "n_iter_no_change": 2, "learning_rate": 0.6},
        "two classes",
        {},
    ),
    "boosting, medians, an eval set": (
        coterie.GradientBoostingRegressor,
        {"n_estimators": 8, "loss": "absolute_error"},
        "numbers",
        {"eval_set": OTHERS},
    ),
    "boosting lines, from a model": (
        coterie.GradientBoostingRegressor,
        {"n_estimators": 5, "linear_leaves": True, "init": coterie.DecisionTreeRegressor(max_depth=1)},
        "numbers",
        {},
    ),
    "forest": (coterie.RandomForestClassifier, {"n_estimators": 7}, "classes", {}),
    "forest, weights and half the rows": (
        coterie.RandomForestRegressor,
        {"n_estimators": 7, "max_samples": 0.5},
        "numbers",
        {"sample_weight": WEIGHT},
    ),
    "forest, pruned out of bag, balanced": (
        coterie.RandomForestClassifier,
        {"n_estimators": 7, "prune": "oob", "class_weight": "balanced_subsample"},
        "classes",
        {},
    ),
    "forest, as large as needed": (
        coterie.RandomForestRegressor,
        {"n_estimators": "auto", "max_depth": 2},
        "numbers",
        {},
    ),
    "extra trees": (coterie.ExtraTreesRegressor, {"n_estimators": 7}, "numbers", {}),
    "extra trees with bags": (
        coterie.ExtraTreesClassifier,
        {"n_estimators": 7, "bootstrap": "balanced", "keep_rows": False},
        "classes",
        {},
    ),
    "stumps": (coterie.AdaBoostClassifier, {"n_estimators": 7}, "classes", {"eval_set": OF_CLASSES}),
    "stumps, drawn rows": (
        coterie.AdaBoostClassifier,
        {"n_estimators": 6, "method": "resample", "algorithm": "real"},
        "classes",
        {"sample_weight": WEIGHT},
    ),
    "stumps, all votes anew": (
        coterie.AdaBoostClassifier,
        {"n_estimators": 6, "corrective": "exponential"},
        "two classes",
        {"eval_set": (X[:40], Y["two classes"][:40])},
    ),
    "AdaBoost of trees": (
        coterie.AdaBoostClassifier,
        {"estimator": TREE, "n_estimators": 5, "algorithm": "confidence", "class_weight": "balanced"},
        "classes",
        {},
    ),
    "AdaBoost of numbers": (
        coterie.AdaBoostRegressor,
        {"n_estimators": 5},
        "numbers",
        {"sample_weight": WEIGHT},
    ),
    "AdaBoost of numbers, drawn rows": (
        coterie.AdaBoostRegressor,
        {"n_estimators": 5, "method": "resample"},
        "numbers",
        {},
    ),
    "AnyBoost, rows drawn": (
        coterie.AnyBoostRegressor,
        {"n_estimators": 6, "subsample": 0.5},
        "numbers",
        {},
    ),
    "AnyBoost that stops early": (
        coterie.AnyBoostClassifier,
        {"n_estimators": 30, "early_stopping": True, "n_iter_no_change": 2, "learning_rate": 1.0},
        "classes",
        {},
    ),
    "bagging of trees": (
        coterie.BaggingClassifier,
        {"n_estimators": 6},
        "classes",
        {"sample_weight": WEIGHT},
    ),
    "bagging of trees with other columns": (
        coterie.BaggingRegressor,
        {"estimator": coterie.DecisionTreeRegressor(max_depth=3), "n_estimators": 6, "max_features": 0.5},
        "numbers",
        {},
    ),
}


@pytest.fixture(autouse=True)
def _disks_do_not_keep_us_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def made(fit: str, **more: Any) -> Any:
    cls, params, _, _ = FITS[fit]
    return cls(**{**params, "random_state": 3, "n_jobs": 1, **more})


def fitted(fit: str, resume: bool = False, **more: Any) -> Any:
    _, _, target, given = FITS[fit]
    extra = {"resume": True} if resume else {}
    return made(fit, **more).fit(X, Y[target], **given, **extra)


@pytest.mark.parametrize("fit", FITS)
def test_killed_twice_it_ends_with_the_same_bits(fit: str, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, every=20 if "as large" in fit else 1)
    with killed_after(1):
        fitted(fit, checkpoint=checkpoint)
    assert len(parts_in(tmp_path)) == 1
    with killed_after(2):
        fitted(fit, resume=True, checkpoint=checkpoint)
    assert len(parts_in(tmp_path)) in (2, 3)  # boosters that meet every ten rounds have few

    assert bits(fitted(fit, resume=True, checkpoint=tmp_path)) == bits(fitted(fit))


AGAIN = [fit for fit in FITS if "grown again" in fit]


@pytest.mark.parametrize("fit", [*AGAIN, "forest", "stumps"])
def test_a_fit_that_is_done_is_not_done_again(fit: str, tmp_path: Path) -> None:
    whole = bits(fitted(fit, checkpoint=tmp_path))
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    assert bits(fitted(fit, resume=True, checkpoint=tmp_path)) == whole
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files
    assert len(parts_in(tmp_path)) == (2 if "grown again" in fit else 1)


@needs_callbacks
def test_an_exception_leaves_everything_that_was_done(tmp_path: Path) -> None:
    class Fails:
        n_rounds = 0

        def setup(self, estimator: Any, context: Any) -> None: ...

        def teardown(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
            self.n_rounds += context.parent is not None
            if self.n_rounds == 4:
                raise RuntimeError("enough")
            return False

    for fit in ("boosting with dropout", "stumps", "AnyBoost, rows drawn"):
        folder = tmp_path / fit
        with pytest.raises(RuntimeError, match="enough"):
            made(fit, checkpoint=folder).set_callbacks(Fails()).fit(X, Y[FITS[fit][2]], **FITS[fit][3])
        assert len(parts_in(folder)) == 1  # half a minute was not over
        with killed_after(0):
            fitted(fit, resume=True, checkpoint=Checkpoint(folder, every=1))
        assert bits(fitted(fit, resume=True, checkpoint=folder)) == bits(fitted(fit))


@needs_callbacks
def test_a_callback_that_stops_a_fit_stops_it_again(tmp_path: Path) -> None:
    class Stops:
        n_rounds = 0

        def setup(self, estimator: Any, context: Any) -> None: ...

        def teardown(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
            self.n_rounds += context.parent is not None
            return self.n_rounds == 3

    for fit in ("boosting with dropout", "stumps", "AnyBoost, rows drawn"):
        _, _, target, given = FITS[fit]
        models = [
            made(fit, checkpoint=tmp_path / fit)
            .set_callbacks(Stops())
            .fit(X, Y[target], **given, resume=resume)
            for resume in (False, True)
        ]
        assert models[0].n_estimators_ == 3
        assert bits(models[0]) == bits(models[1])


def test_a_seed_that_was_drawn_is_remembered(tmp_path: Path) -> None:
    boosting = coterie.GradientBoostingRegressor(
        n_estimators=5, subsample=0.5, checkpoint=Checkpoint(tmp_path, every=1)
    )
    whole = bits(boosting.fit(X, SIGNAL))
    for part in parts_in(tmp_path)[2:]:
        part.unlink()

    assert boosting.random_state is None
    assert bits(boosting.fit(X, SIGNAL, resume=True)) == whole
    assert bits(boosting.fit(X, SIGNAL)) != whole


def test_members_of_other_libraries_are_stored_by_skops(tmp_path: Path) -> None:
    def fitted_with(learner: Any, resume: bool, **more: Any) -> Any:
        checkpoint = Checkpoint(tmp_path / type(learner).__name__, every=1, **more)
        model = coterie.AnyBoostRegressor(learner, n_estimators=4, random_state=0, checkpoint=checkpoint)
        return model.fit(np.nan_to_num(X), SIGNAL, resume=resume)

    for learner in (Ridge(),):
        with killed_after(2):
            fitted_with(learner, resume=False)
        whole = coterie.AnyBoostRegressor(learner, n_estimators=4, random_state=0)
        assert bits(fitted_with(learner, resume=True)) == bits(whole.fit(np.nan_to_num(X), SIGNAL))

    with killed_after(2):
        fitted_with(SklearnTree(max_depth=2), resume=False)
    if trees_have_to_be_trusted():
        with pytest.raises(coterie.errors.InvalidParameter, match=r"trusted=\['sklearn.tree._tree.Tree'\]"):
            fitted_with(SklearnTree(max_depth=2), resume=True)
    model = fitted_with(SklearnTree(max_depth=2), resume=True, trusted=["sklearn.tree._tree.Tree"])
    assert model.n_estimators_ == 4


def test_a_learner_that_cannot_be_stored_is_refused_at_once(tmp_path: Path) -> None:
    class OfMyOwn(coterie.DecisionTreeRegressor):
        """A class that files do not know."""

    with pytest.raises(coterie.errors.ModelFileError, match="a class of your own"):
        coterie.AdaBoostRegressor(OfMyOwn(), checkpoint=tmp_path).fit(X, SIGNAL)


def test_init_has_to_learn_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = coterie.GradientBoostingRegressor(
        n_estimators=3, init=ChangesItsMind(), checkpoint=tmp_path, random_state=0
    )
    model.fit(X, SIGNAL)
    model.fit(X, SIGNAL, resume=True)
    monkeypatch.setattr(ChangesItsMind, "mind", 2.0)
    with pytest.raises(coterie.errors.InvalidInput, match="give it a random_state"):
        model.fit(X, SIGNAL, resume=True)


class ChangesItsMind(LinearRegression):
    """Predicts a number that may be another one the next time."""

    mind = 1.0

    def __init__(self) -> None:
        pass

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ChangesItsMind":
        self.fitted_ = self.mind
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.fitted_)


def test_the_file_of_a_model_does_not_know_its_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "model"
    coterie.save(fitted("forest", checkpoint=tmp_path / "parts"), path)

    assert coterie.load(path).checkpoint is None
    assert b"parts" not in path.read_bytes()


def test_logistic_regression_as_a_member_of_bagging(tmp_path: Path) -> None:
    X_filled, y = np.nan_to_num(X), Y["classes"]

    def bagging(**more: Any) -> Any:
        return coterie.BaggingClassifier(LogisticRegression(), n_estimators=4, random_state=0, **more)

    with killed_after(2):
        bagging(checkpoint=Checkpoint(tmp_path, every=1)).fit(X_filled, y)
    resumed = bagging(checkpoint=tmp_path).fit(X_filled, y, resume=True)
    assert bits(resumed) == bits(bagging().fit(X_filled, y))


def test_a_member_that_ends_a_fit_ends_it_again(tmp_path: Path) -> None:
    def adaboost(**more: Any) -> Any:
        return coterie.AdaBoostClassifier(
            coterie.DecisionTreeClassifier(), n_estimators=5, random_state=0, **more
        )

    whole = adaboost().fit(X, Y["classes"])
    adaboost(checkpoint=tmp_path).fit(X, Y["classes"])
    resumed = adaboost(checkpoint=tmp_path).fit(X, Y["classes"], resume=True)

    assert whole.n_estimators_ == 1
    assert resumed.stopped_because_ == whole.stopped_because_
    assert bits(resumed) == bits(whole)
