"""Committees that decide: thresholds tuned out of fold, costs, weights of classes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

import coterie
from coterie import CommitteeClassifier, DecisionTreeClassifier, RandomForestClassifier
from coterie.committee.metrics import LogLossMetric, RowTargets, ThresholdMetric
from coterie.errors import InvalidParameter
from coterie.members.decision_rule import Objective

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 3))
Y = np.where(RNG.random(1500) < 0.25 / (1 + np.exp(-2 * X[:, 0])), "yes", "no")
NEW = RNG.normal(size=(4000, 3))
NEW_Y = np.where(RNG.random(4000) < 0.25 / (1 + np.exp(-2 * NEW[:, 0])), "yes", "no")
MEMBERS = [
    ("linear", LogisticRegression()),
    ("forest", RandomForestClassifier(20, min_samples_leaf=10, random_state=0)),
]


def fitted(**settings: Any) -> CommitteeClassifier:
    return CommitteeClassifier(None, portfolio=MEMBERS, random_state=0, n_jobs=1, **settings).fit(X, Y)


@pytest.fixture(scope="module")
def tuned() -> CommitteeClassifier:
    return fitted(scoring="f1")


def f1(model: Any) -> float:
    return float(f1_score(NEW_Y, model.predict(NEW), pos_label="yes"))


def test_scoring_by_f1_tunes_the_threshold(tuned: CommitteeClassifier) -> None:
    plain = fitted()

    assert f1(plain) < 0.05
    assert f1(tuned) > 0.25
    assert plain.threshold_ is None
    assert plain.decision_ is None
    assert tuned.oof_score_ == pytest.approx(f1(tuned), abs=0.06)
    assert tuned.oof_score_ == pytest.approx(tuned.decision_.score, abs=0.03)
    assert_array_equal(tuned.predict(X) == "yes", tuned.predict_proba(X)[:, 1] >= tuned.threshold_)


def test_a_threshold_changes_neither_weights_nor_probabilities(tuned: CommitteeClassifier) -> None:
    for other in (fitted(), fitted(threshold="balanced_accuracy"), fitted(threshold=0.1)):
        assert_array_equal(other.weights_, tuned.weights_)
        assert_array_equal(other.predict_proba(NEW), tuned.predict_proba(NEW))


def test_the_leaderboard_has_a_line_about_it(tuned: CommitteeClassifier) -> None:
    board = tuned.leaderboard()

    assert board[0]["score"] == tuned.oof_score_
    assert {row["name"] for row in board} == {"committee", "linear", "forest"}
    assert all(row["score"] > 0.2 for row in board)
    assert any(note.startswith("threshold: 'yes' from a probability of") for note in board.notes)


def test_none_and_other_scores_leave_decisions_alone() -> None:
    assert fitted(scoring="neg_log_loss").threshold_ is None
    assert fitted(scoring="accuracy", threshold=None).threshold_ is None
    assert fitted(threshold=0.125).threshold_ == 0.125


def test_costs_take_the_place_of_a_threshold() -> None:
    careful, careless = fitted(cost_matrix={"yes": 20}), fitted(cost_matrix=[[0, 5], [1, 0]])

    assert careful.threshold_ < 0.1 < careless.threshold_
    assert (careful.predict(NEW) == "yes").sum() > 1000
    with pytest.raises(InvalidParameter, match="each alone decides") as raised:
        fitted(cost_matrix={"yes": 20}, threshold="f1")
    assert raised.value.parameter == "threshold"


def test_the_positive_class_may_be_the_first() -> None:
    other = fitted(scoring="f1", pos_label="no")
    assert other.decision_.positive == 0
    assert other.oof_score_ > 0.8


def test_three_classes() -> None:
    kinds = np.digitize(X[:, 0], [1.0, 1.8])
    model = CommitteeClassifier(None, portfolio=MEMBERS, scoring="balanced_accuracy", random_state=0).fit(
        X, kinds
    )
    assert model.decision_.multipliers.argmax() == 2
    with pytest.raises(InvalidParameter, match="is for two classes, and y has 3"):
        CommitteeClassifier(None, portfolio=MEMBERS, threshold="f1", random_state=0).fit(X, kinds)


def test_a_refitted_committee_decides_at_its_own_temperature(tuned: CommitteeClassifier) -> None:
    alone = tuned.refit(X, Y)
    assert f1(alone) == pytest.approx(f1(tuned), abs=0.08)


def test_files_keep_decisions_and_records(tmp_path: Path) -> None:
    trees = [("tree", DecisionTreeClassifier(max_depth=4, random_state=0))]
    model = CommitteeClassifier(None, portfolio=trees, scoring="f1", random_state=0).fit(X, Y)
    coterie.save(model, tmp_path / "m.coterie")
    again = coterie.load(tmp_path / "m.coterie")

    assert again.decision_ == model.decision_
    assert_array_equal(again.predict(NEW), model.predict(NEW))
    assert repr(again.leaderboard()) == repr(model.leaderboard())


def test_files_of_before_decide_as_before(tuned: CommitteeClassifier) -> None:
    import copy

    old = copy.copy(tuned)
    for name in ("decision_", "threshold_", "record_", "_seed", "_class_weights"):
        del old.__dict__[name]
    old.set_params(threshold=None)
    assert_array_equal(old.predict(NEW) == "yes", old.predict_proba(NEW)[:, 1] > 0.5)


def test_class_weights_count_as_weights_of_rows() -> None:
    by_class = fitted(class_weight={"yes": 4.0})
    by_rows = CommitteeClassifier(None, portfolio=MEMBERS, random_state=0, n_jobs=1).fit(
        X, Y, np.where(Y == "yes", 4.0, 1.0)
    )

    assert_array_equal(by_class.predict_proba(NEW), by_rows.predict_proba(NEW))
    assert by_class.predict_proba(NEW)[:, 1].mean() > 1.5 * fitted().predict_proba(NEW)[:, 1].mean()


def test_balanced_classes_are_predicted_about_as_often_as_they_matter() -> None:
    model = fitted(class_weight="balanced")
    assert_allclose(model._class_weights, 1500 / 2 / np.array([(Y == "no").sum(), (Y == "yes").sum()]))
    assert f1(model) > 0.3


def test_thresholds_count_rows_without_the_weights_of_classes() -> None:
    model = fitted(class_weight="balanced", scoring="f1")
    labels = model.predict(NEW)
    assert model.oof_score_ == pytest.approx(f1_score(NEW_Y, labels, pos_label="yes"), abs=0.06)
    assert model.threshold_ > 0.3  # probabilities are those of balanced classes


@pytest.mark.parametrize("weights", [{"maybe": 2}, {"yes": -1}, "heavy"])
def test_wrong_class_weights_are_refused(weights: Any) -> None:
    with pytest.raises(InvalidParameter) as raised:
        fitted(class_weight=weights)
    assert raised.value.parameter == "class_weight"


def test_a_score_by_threshold_is_honest_about_noise() -> None:
    """Probabilities that know nothing: the best threshold of the same rows would look better than it is."""
    rng = np.random.default_rng(0)
    proba = rng.random(400)
    rows = RowTargets((rng.random(400) < 0.1).astype(np.int64), np.ones(400))
    metric = ThresholdMetric(Objective("f1"), 1)
    both = np.column_stack([1 - proba, proba])

    score = metric.score(both, rows)

    assert score.value == metric.value(both, rows)
    assert 0 < score.error < 0.1
    assert metric.chosen_by.name == LogLossMetric.name
    best = max(f1_score(rows.truth, proba >= own) for own in np.unique(proba))
    assert score.value < best
