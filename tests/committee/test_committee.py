"""Committees: members out of fold, weights, a nested score, events, and what follows from a fitted committee."""

import pickle
import re
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

from coterie import (
    CommitteeClassifier,
    CommitteeRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from coterie.committee.candidates.configurations import names_for
from coterie.committee.portfolio import Shape, portfolio_of
from coterie.errors import InvalidInput, InvalidParameter, SchemaMismatch
from coterie.fitting.monitor import FitEvent, monitored
from coterie.networks import neural_network
from tests.naive.committee import chosen_weights, nested_predictions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
Y = X[:, 0] + np.abs(X[:, 1]) + 0.4 * RNG.normal(size=240)
LABELS = np.where(Y > 1.2, "high", np.where(Y > 0.3, "middle", "low"))
NUMBERS = [
    ("line", LinearRegression()),
    ("stump", DecisionTreeRegressor(max_depth=1)),
    ("tree", DecisionTreeRegressor(max_depth=4)),
]
CLASSES = [
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("forest", RandomForestClassifier(10, min_samples_leaf=3, random_state=0)),
]


def regressor(**settings: Any) -> Any:
    return CommitteeRegressor(None, **{"portfolio": NUMBERS, "random_state": 0, **settings})


def classifier(**settings: Any) -> Any:
    return CommitteeClassifier(None, **{"portfolio": CLASSES, "random_state": 0, **settings})


def test_weights_and_nested_predictions_are_those_of_the_slow_twin() -> None:
    weight = np.random.default_rng(1).integers(1, 4, 240).astype(float)
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    predictions = [np.zeros(240) for _ in NUMBERS]
    for train, test in folds:
        for place, (_, learner) in enumerate(NUMBERS):
            fitted = clone(learner).fit(X[train], Y[train], sample_weight=weight[train])
            predictions[place][test] = fitted.predict(X[test])

    model = regressor(cv=folds).fit(X, Y, sample_weight=weight)

    expected = nested_predictions(predictions, Y, weight, folds, 25)
    np.testing.assert_allclose(model.weights_, chosen_weights(predictions, Y, weight, 25), atol=1e-12)
    np.testing.assert_allclose(model.oof_prediction_, expected, rtol=1e-9)
    assert model.oof_score_ == pytest.approx(-np.average((expected - Y) ** 2, weights=weight))
    for (name, _), own in zip(NUMBERS, predictions, strict=True):
        np.testing.assert_allclose(
            model.oof_predictions_[name][:, 0]
            if model.oof_predictions_[name].ndim > 1
            else model.oof_predictions_[name],
            own,
            rtol=1e-9,
        )
    assert np.count_nonzero(model.weights_) > 1


def test_a_new_row_is_told_the_weighted_mean_of_the_means_of_the_folds() -> None:
    folds = list(KFold(3).split(X))
    model = regressor(cv=folds).fit(X, Y)

    means = [
        np.mean([clone(own).fit(X[a], Y[a]).predict(X[:7]) for a, _ in folds], axis=0) for _, own in NUMBERS
    ]

    np.testing.assert_allclose(model.predict(X[:7]), model.weights_ @ means)
    assert [member.name for member in model.estimators_] == [
        name for name, weight in zip(model.members_, model.weights_, strict=True) if weight
    ]


def test_the_standard_error_is_that_of_a_mean() -> None:
    model = regressor(cv=4).fit(X, Y)

    losses = (model.oof_prediction_ - Y) ** 2
    assert model.oof_score_error_ == pytest.approx(losses.std(ddof=1) / np.sqrt(240))


def test_rows_of_a_group_stay_together_and_err_together() -> None:
    groups = np.repeat(np.arange(24), 10)
    copies = np.repeat(X[:24], 10, axis=0)
    y = np.repeat(np.random.default_rng(0).normal(size=24), 10)

    together = regressor().fit(copies, y, groups=groups)
    parted = regressor().fit(copies, y)

    assert -together.oof_score_ > 2 * -parted.oof_score_
    clusters = ((together.oof_prediction_ - y) ** 2).reshape(24, 10).mean(axis=1)
    assert together.oof_score_error_ == pytest.approx(clusters.std(ddof=1) / np.sqrt(24))
    given = regressor(cv=GroupKFold(4)).fit(copies, y, groups=groups)
    assert given.n_folds_ == 4


def test_rows_in_the_order_of_time() -> None:
    model = CommitteeRegressor(None, portfolio=["boosting", "linear"], cv=TimeSeriesSplit(3), random_state=0)
    model.fit(X, Y)

    known = ~np.isnan(model.oof_prediction_)
    assert not known[:120].any()  # the rows of the first test have nobody to choose weights by
    assert known[120:].all()
    boosters = [own for member in model.estimators_ if member.name == "boosting" for own in member.models]
    assert all(own.holdout == "last_rows" for own in boosters)
    entries = portfolio_of(["boosting"], "regression", Shape(10, 10, 1), by_time=True)
    assert entries[0].estimator.holdout == "last_rows"


def test_any_score_may_be_the_metric() -> None:
    y = np.where(Y > 0.8, "yes", "no")
    model = classifier(scoring="roc_auc", calibration=None).fit(X, y)

    assert model.scoring_ == "roc_auc"
    nested = roc_auc_score(y, model.oof_proba_[:, 1])
    assert model.oof_score_ == pytest.approx(nested)
    for name in model.members_:
        alone = roc_auc_score(y, model.oof_predictions_[name][:, 1])
        assert model.member_scores_[name] == pytest.approx(alone)
    assert 0 < model.oof_score_error_ < 0.1


def test_the_jackknife_agrees_with_the_error_of_a_mean() -> None:
    plain = classifier(calibration=None).fit(X, LABELS)
    by_scorer = classifier(calibration=None, scoring="neg_log_loss").fit(X, LABELS)

    assert by_scorer.weights_ == pytest.approx(plain.weights_)
    assert by_scorer.oof_score_ == pytest.approx(plain.oof_score_)
    assert by_scorer.oof_score_error_ == pytest.approx(plain.oof_score_error_, rel=0.5)


def test_a_score_that_cannot_be_taken_is_explained() -> None:
    def broken(*_: Any) -> float:
        raise RuntimeError("out of ideas")

    with pytest.raises(InvalidParameter, match=r"cannot score.*out of ideas") as caught:
        regressor(scoring=broken).fit(X, Y)
    assert (caught.value.parameter, caught.value.received) == ("scoring", broken)
    with pytest.raises(InvalidInput) as caught:
        regressor(scoring=lambda *_: float("nan")).fit(X, Y)
    assert (caught.value.parameter, caught.value.allowed) == ("scoring", "a finite number")


def test_the_leaderboard_shows_the_contribution_of_each_member() -> None:
    portfolio = [*NUMBERS, ("mean", DummyRegressor())]
    model = regressor(portfolio=portfolio).fit(X, Y)
    board = model.leaderboard()

    assert board[0]["name"] == "committee"
    assert board[0]["score"] == pytest.approx(np.sqrt(-model.oof_score_))
    assert board.column("score")[1:] == sorted(board.column("score")[1:])
    by_name = {row["name"]: row for row in board}
    useless = by_name["mean"]
    assert (useless["weight"], useless["contribution"]) == (0.0, 0.0)
    best = board[1]
    assert best["contribution"] > 0
    without = regressor(portfolio=[item for item in portfolio if item[0] != best["name"]]).fit(X, Y)
    assert best["score_without"] == pytest.approx(np.sqrt(-without.oof_score_))
    assert best["contribution"] == pytest.approx(best["score_without"] - board[0]["score"])
    assert all(row["low"] < row["score"] < row["high"] for row in board)
    assert "rmse ↓" in repr(board)
    assert "neg_" not in repr(board)
    assert board.to_frame()["name"].tolist() == board.column("name")


def test_a_single_member_has_all_the_weight_and_nobody_to_be_compared_with() -> None:
    model = regressor(portfolio=NUMBERS[:1]).fit(X, Y)

    assert model.weights_.tolist() == [1.0]
    assert np.isnan(model.leaderboard()[1]["contribution"])


def test_intervals_hold_the_target_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    new = rng.normal(size=(2000, 4))
    truth = new[:, 0] + np.abs(new[:, 1]) + 0.4 * rng.normal(size=2000)
    model = regressor().fit(X, Y)

    for fitted in (model, model.refit(X, Y)):
        low, high = fitted.predict_interval(new, alpha=0.2).T
        assert 0.74 < np.mean((low <= truth) & (truth <= high)) < 0.88
        assert (low < fitted.predict(new)).all()
    assert np.isinf(model.predict_interval(new[:1], alpha=1e-6)).all()
    with pytest.raises(InvalidParameter, match="alpha"):
        model.predict_interval(new, alpha=1.5)


def test_cv_plus_is_the_textbook_formula() -> None:
    folds = list(KFold(3).split(X[:30]))
    model = regressor(cv=folds, portfolio=NUMBERS[:1]).fit(X[:30], Y[:30])

    of_fold = [LinearRegression().fit(X[a], Y[a]) for a, _ in folds]
    number = np.concatenate([np.full(len(test), k) for k, (_, test) in enumerate(folds)])
    residual = np.array([abs(Y[i] - of_fold[number[i]].predict(X[i : i + 1])[0]) for i in range(30)])
    centre = np.array([of_fold[k].predict(X[100:101])[0] for k in number])
    place = int(0.2 * 31)
    expected = (np.sort(centre - residual)[place - 1], np.sort(centre + residual)[30 - place])

    np.testing.assert_allclose(model.predict_interval(X[100:101], alpha=0.2)[0], expected)


def test_sets_hold_the_class_as_often_as_they_say() -> None:
    rng = np.random.default_rng(6)
    new = rng.normal(size=(2000, 4))
    truth = new[:, 0] + np.abs(new[:, 1]) + 0.4 * rng.normal(size=2000)
    codes = np.where(truth > 1.2, 0, np.where(truth > 0.3, 2, 1))
    model = classifier().fit(X, LABELS)

    sets = model.predict_set(new, alpha=0.2)

    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert 0.74 < sets[np.arange(2000), codes].mean() < 0.9
    assert sets.any(axis=1).all()
    assert sets.sum() < 2.5 * 2000


def noisy(n_rows: int, noise: float, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_rows, 3))
    return table, (table[:, 0] + noise * rng.normal(size=n_rows) > 0).astype(int)


def test_members_that_are_not_certain_enough_are_made_more_certain() -> None:
    (table, y), (new, truth) = noisy(600, 0.1, 0), noisy(2000, 0.1, 1)
    portfolio = [("forest", RandomForestClassifier(20, min_samples_leaf=150, random_state=0))]

    sharp = classifier(portfolio=portfolio).fit(table, y)
    plain = classifier(portfolio=portfolio, calibration=None).fit(table, y)

    assert sharp.temperature_ < 0.8
    assert plain.temperature_ == 1.0
    assert sharp.oof_score_ > plain.oof_score_
    assert log_loss(truth, sharp.predict_proba(new)) < log_loss(truth, plain.predict_proba(new))
    assert np.array_equal(sharp.predict(new), plain.predict(new))


def test_members_that_are_too_certain_get_a_temperature_where_no_mean_corrects_them() -> None:
    """The mean of the models of the folds is less certain than each of them; a model of its own after refit is not."""
    (table, y), (new, truth) = noisy(600, 1.0, 0), noisy(2000, 1.0, 1)
    portfolio = [("forest", RandomForestClassifier(8, random_state=0))]

    model, plain = (
        classifier(portfolio=portfolio, calibration=calibration).fit(table, y)
        for calibration in ("temperature", None)
    )
    alone, plain_alone = model.refit(table, y), plain.refit(table, y)

    assert model.temperature_ == 1.0
    assert model.oof_score_ == plain.oof_score_
    assert alone.temperature_ > 1.2
    assert plain_alone.temperature_ == 1.0
    assert log_loss(truth, alone.predict_proba(new)) < log_loss(truth, plain_alone.predict_proba(new))


def test_a_temperature_that_may_be_chance_is_not_kept() -> None:
    table, y = noisy(600, 1.0, 0)

    model = classifier(portfolio=[("tree", DecisionTreeClassifier(max_depth=1))]).fit(table, y)

    assert (model.temperature_, model.refit(table, y).temperature_) == (1.0, 1.0)


def test_refitted_members_are_fitted_to_all_rows() -> None:
    model = regressor().fit(X, Y)
    single = model.refit(X, Y)

    parts = [clone(dict(NUMBERS)[member.name]).fit(X, Y).predict(X) for member in single.estimators_]
    np.testing.assert_allclose(single.predict(X), model.weights_[model.weights_ > 0] @ parts)
    assert [len(member.models) for member in single.estimators_] == [1] * len(parts)
    assert [len(member.models) for member in model.estimators_] == [5] * len(parts)
    assert single.oof_score_ == model.oof_score_
    weighted = model.refit(X, Y, sample_weight=np.arange(240.0))
    assert not np.allclose(weighted.predict(X), single.predict(X))


def test_a_student_learns_what_the_committee_says() -> None:
    numbers, classes = regressor().fit(X, Y), classifier().fit(X, LABELS)

    student = numbers.distil(X)
    of_classes = classes.distil(pd.DataFrame(X).to_numpy())

    assert np.corrcoef(student.predict(X), numbers.predict(X))[0, 1] > 0.95
    assert np.abs(of_classes.predict_proba(X) - classes.predict_proba(X)).mean() < 0.1
    assert of_classes.classes_.tolist() == classes.classes_.tolist()
    ridge = numbers.distil(X, student=Ridge(), sample_weight=np.ones(240))
    np.testing.assert_allclose(ridge.predict(X), Ridge().fit(X, numbers.predict(X)).predict(X))
    tree = classes.distil(X, student=DecisionTreeClassifier(max_depth=6))
    assert tree.score(X, classes.predict(X)) > 0.8


def test_the_whole_portfolio_fits_a_table_with_everything_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neural_network, "_MOST_EPOCHS", 16)
    table = pd.DataFrame(
        {
            "a": X[:120, 0],
            "b": np.where(X[:120, 2] > 1, np.nan, X[:120, 1]),
            "town": np.where(X[:120, 3] > 0, "Oslo", None),
        }
    )

    of_classes, of_numbers = names_for("classification"), names_for("regression")
    model = CommitteeClassifier(None, portfolio=of_classes, cv=2, random_state=0).fit(table, LABELS[:120])
    numbers = CommitteeRegressor(None, portfolio=of_numbers, cv=2, random_state=0).fit(table, Y[:120])

    assert model.members_ == of_classes
    assert numbers.members_ == of_numbers
    assert model.skipped_ == model.dropped_ == numbers.dropped_ == {}
    assert model.oof_score_ > -1.05
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(twin.predict_proba(table), model.predict_proba(table))
    again = CommitteeClassifier(None, portfolio=of_classes, cv=2, random_state=0).fit(table, LABELS[:120])
    assert np.array_equal(again.predict_proba(table), model.predict_proba(table))
    assert again.oof_score_ == model.oof_score_
    with pytest.raises(SchemaMismatch, match="missing"):
        model.predict(table[["a", "b"]])


def test_members_that_take_no_weights_are_skipped() -> None:
    model = regressor(portfolio=[("near", KNeighborsRegressor()), "neighbors", "linear"])
    model.fit(X, Y, sample_weight=np.linspace(1, 2, 240))

    assert model.members_ == ["neighbors", "linear"]
    assert model.skipped_ == {"near": "it takes no sample_weight"}


def test_a_class_that_a_fold_does_not_know_has_no_chance() -> None:
    y = np.where(np.arange(240) == 7, "rare", LABELS)

    model = classifier(cv=3).fit(X, y)

    assert model.classes_.tolist() == ["high", "low", "middle", "rare"]
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(240))
    assert np.isfinite(model.oof_score_)


def test_rows_are_mixed_before_they_are_parted() -> None:
    order = np.argsort(Y)

    model = regressor().fit(X[order], Y[order])

    assert model.oof_score_ > 2 * -np.var(Y) / 2
    assert np.corrcoef(model.oof_prediction_, Y[order])[0, 1] > 0.7
    said = cross_val_predict(LinearRegression(), X[order], Y[order], cv=KFold(5))
    assert model.member_scores_["line"] > -np.mean((said - Y[order]) ** 2)


def test_progress_is_printed_if_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    regressor(verbose=1).fit(X, Y)

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("CommitteeRegressor: (1 of 3) line, ")
    assert re.search(r"rmse \d", lines[0])


def test_each_member_is_an_event() -> None:
    events: list[FitEvent] = []
    with monitored(events.append):
        model = regressor().fit(X, Y)

    assert [(own.owner, own.step, own.done, own.total, own.name) for own in events] == [
        ("CommitteeRegressor", "member", place, 3, name) for place, name in enumerate(model.members_, start=1)
    ]
    assert [-(own.measures["rmse"] ** 2) for own in events] == pytest.approx(
        list(model.member_scores_.values())
    )
    assert [own.seconds for own in events] == list(model.fit_times_.values())


def test_a_monitor_can_end_the_search() -> None:
    with monitored(lambda event: event.name == "stump"):
        model = regressor().fit(X, Y)

    assert model.members_ == ["line", "stump"]
    assert model.skipped_ == {"tree": "a monitor asked to stop"}
    assert not model.interrupted_


def test_the_leaderboard_scores_members_before_the_temperature() -> None:
    table, y = noisy(600, 1.0, 0)
    model = classifier(portfolio=CLASSES, scoring="neg_log_loss").fit(table, y)
    model.temperature_ = 0.5

    shown = {row["name"]: row["score"] for row in model.leaderboard()[1:]}

    assert shown == pytest.approx({name: -score for name, score in model.member_scores_.items()})


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"portfolio": ["forrest"]}, "one of 'boosting'"),
        ({"portfolio": ["adaboost"]}, "one of "),
        ({"portfolio": [("a", Ridge()), ("a", Ridge())]}, "a name of its own"),
        ({"portfolio": [("a", Ridge)]}, "'auto' or a non-empty list"),
    ],
)
def test_a_wrong_portfolio_is_refused(settings: Any, allowed: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        regressor(**settings).fit(X, Y)

    given = settings["portfolio"]
    assert caught.value.parameter == "portfolio"
    assert caught.value.received in (given, given[0])
    assert (caught.value.allowed or "").startswith(allowed)


def test_too_few_rows_or_groups_are_refused() -> None:
    with pytest.raises(InvalidInput, match="n_samples=1"):
        regressor().fit(X[:1], Y[:1])
    with pytest.raises(InvalidInput, match="1 groups"):
        regressor().fit(X, Y, groups=np.zeros(240))


def test_boosting_does_not_part_groups_either() -> None:
    groups = np.repeat(np.arange(40), 6)
    portfolio = [("boosting", GradientBoostingRegressor(n_estimators=5, early_stopping=True))]
    seen = []
    plain = GradientBoostingRegressor.fit

    @wraps(plain)
    def watching(self: Any, X: Any, y: Any, *args: Any, **given: Any) -> Any:
        seen.append(given["groups"])
        return plain(self, X, y, *args, **given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GradientBoostingRegressor, "fit", watching)
        regressor(portfolio=portfolio, cv=4).fit(X, Y, groups=groups)

    assert [len(own) for own in seen] == [180] * 4
    assert all(len(np.unique(own)) == 30 for own in seen)
