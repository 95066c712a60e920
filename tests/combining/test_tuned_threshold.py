"""A threshold for any classifier: what is fitted, what is decided, and that scikit-learn's own finds much the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, recall_score
from sklearn.model_selection import KFold, TunedThresholdClassifierCV
from sklearn.svm import LinearSVC

import coterie
from coterie import RandomForestClassifier, TunedThresholdClassifier
from coterie.errors import InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 3))
CHANCE = 0.3 / (1 + np.exp(-2 * X[:, 0]))
Y = np.where(RNG.random(2000) < CHANCE, "yes", "no")


def test_decisions_are_those_of_the_threshold_and_probabilities_stay() -> None:
    model = TunedThresholdClassifier(LogisticRegression(), threshold="f1").fit(X, Y)
    plain = LogisticRegression().fit(X, Y)

    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(model.predict(X) == "yes", plain.predict_proba(X)[:, 1] >= model.threshold_)
    assert (
        f1_score(Y, model.predict(X), pos_label="yes") > f1_score(Y, plain.predict(X), pos_label="yes") + 0.2
    )
    assert model.best_threshold_ == model.threshold_
    assert model.best_score_ == model.decision_.score


def test_it_is_about_what_scikit_learn_finds() -> None:
    ours = TunedThresholdClassifier(LogisticRegression()).fit(X, Y)
    theirs = TunedThresholdClassifierCV(LogisticRegression()).fit(X, Y)

    assert ours.best_threshold_ == pytest.approx(theirs.best_threshold_, abs=0.03)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=0.02)


def test_new_rows_have_the_recall_that_was_wanted() -> None:
    model = TunedThresholdClassifier(LogisticRegression(), threshold=("precision_at_recall", 0.8))
    model.fit(X[:1000], Y[:1000])
    assert 0.75 < recall_score(Y[1000:], model.predict(X[1000:]), pos_label="yes") < 0.95


def test_folds_are_those_of_cv_and_out_of_fold_probabilities_are_kept() -> None:
    folds = KFold(4, shuffle=True, random_state=0)
    model = TunedThresholdClassifier(LogisticRegression(), threshold="f1", cv=folds).fit(X, Y)
    train, test = next(iter(folds.split(X)))

    assert_allclose(
        model.oof_proba_[test], LogisticRegression().fit(X[train], Y[train]).predict_proba(X[test])
    )


def test_a_fitted_classifier_is_tuned_on_new_rows() -> None:
    fitted = LogisticRegression().fit(X[:1000], Y[:1000])
    model = TunedThresholdClassifier(fitted, threshold="f1", cv="prefit").fit(X[1000:], Y[1000:])
    frozen = TunedThresholdClassifier(FrozenEstimator(fitted), threshold="f1", cv="prefit").fit(
        X[1000:], Y[1000:]
    )

    assert model.estimator_ is fitted
    assert model.threshold_ == frozen.threshold_
    assert_array_equal(model.oof_proba_, fitted.predict_proba(X[1000:]))


class CountsFits(LogisticRegression):
    n_fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CountsFits":
        CountsFits.n_fits += 1
        super().fit(X, y, sample_weight)
        return self


def test_a_given_threshold_needs_no_folds() -> None:
    CountsFits.n_fits = 0
    model = TunedThresholdClassifier(CountsFits(), threshold=0.2).fit(X, Y)

    assert CountsFits.n_fits == 1
    assert not hasattr(model, "oof_proba_")
    assert_array_equal(model.predict(X) == "yes", model.predict_proba(X)[:, 1] >= 0.2)
    assert TunedThresholdClassifier(CountsFits(), threshold=None).fit(X, Y).threshold_ is None


def test_weights_count_in_the_classifier_and_in_the_score() -> None:
    heavy = np.where(Y == "yes", 5.0, 1.0)
    plain = TunedThresholdClassifier(LogisticRegression(), threshold="f1").fit(X, Y)
    model = TunedThresholdClassifier(LogisticRegression(), threshold="f1").fit(X, Y, heavy)

    assert model.predict_proba(X)[:, 1].mean() > 2 * plain.predict_proba(X)[:, 1].mean()
    assert model.best_score_ > plain.best_score_


def test_three_classes_have_multipliers_or_costs() -> None:
    kinds = np.digitize(X[:, 0] + 0.5 * X[:, 1], [1.0, 2.0])
    balanced = TunedThresholdClassifier(LogisticRegression()).fit(X, kinds)
    assert balanced.threshold_ is None
    assert balanced.decision_.multipliers is not None
    plain = LogisticRegression().fit(X, kinds)
    assert recall_score(kinds, balanced.predict(X), average="macro") >= recall_score(
        kinds, plain.predict(X), average="macro"
    )

    costs = {0: 1, 1: 1, 2: 30}
    careful = TunedThresholdClassifier(LogisticRegression(), cost_matrix=costs).fit(X, kinds)
    assert (careful.predict(X) == 2).sum() > (plain.predict(X) == 2).sum()


def test_model_files_keep_the_rule(tmp_path: Path) -> None:
    forest = RandomForestClassifier(20, min_samples_leaf=10, random_state=0)
    model = TunedThresholdClassifier(forest, threshold="f1", random_state=0).fit(X, Y)
    coterie.save(model, tmp_path / "m.coterie")
    again = coterie.load(tmp_path / "m.coterie")

    assert again.decision_ == model.decision_
    assert_array_equal(again.predict(X), model.predict(X))


def test_a_classifier_without_probabilities_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="has no predict_proba") as raised:
        TunedThresholdClassifier(LinearSVC()).fit(X, Y)
    assert raised.value.parameter == "estimator"
    assert "CalibratedClassifierCV" in str(raised.value)
