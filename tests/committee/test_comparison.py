"""Comparisons: equal folds, intervals as Nadeau and Bengio have them, and a sentence that says no more than they do."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor

from coterie import CommitteeRegressor, DecisionTreeRegressor, compare
from coterie.committee.comparison import fold_mean
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.monitor import FitEvent, monitored

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=120)


def test_the_interval_is_that_of_the_corrected_t_test() -> None:
    scores = np.array([0.7, 0.9, 0.8, 0.85])

    mean = fold_mean(scores, 1 / 3, 0.1)

    error = np.sqrt((1 / 4 + 1 / 3) * scores.var(ddof=1))
    low, high = stats.t.interval(0.9, 3, scores.mean(), error)
    assert (mean.low, mean.high) == pytest.approx((low, high))
    assert mean.p_value == pytest.approx(2 * stats.t.sf(scores.mean() / error, 3))


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Folds share rows: without the correction, far fewer intervals would hold the true loss."""
    rng, held, hasty = np.random.default_rng(1), 0, 0
    truth, n_tables = 1.0 + 1.0 / 32, 300  # the loss of a mean of 32 rows
    for _ in range(n_tables):
        y = rng.normal(size=40)
        losses = [np.mean((y[test] - y[train].mean()) ** 2) for train, test in KFold(5).split(y)]
        mean, plain = fold_mean(np.array(losses), 0.25, 0.1), fold_mean(np.array(losses), 0.0, 0.1)
        held += mean.low <= truth <= mean.high
        hasty += plain.low <= truth <= plain.high

    assert held / n_tables > 0.88
    assert hasty < held


def test_one_fold_has_no_interval_and_equal_scores_no_width() -> None:
    assert np.isnan(fold_mean(np.array([0.5]), 0.25, 0.1).half_width)
    same = fold_mean(np.zeros(5), 0.25, 0.1)
    assert (same.half_width, same.p_value) == (0.0, 1.0)


def test_scores_are_those_of_cross_validation() -> None:
    folds = KFold(4)
    result = compare(X, Y, models=[("own", LinearRegression()), "dummy"], cv=folds, scoring="r2")

    np.testing.assert_allclose(result.scores["own"], cross_val_score(LinearRegression(), X, Y, cv=folds))
    assert result.column("name") == ["own", "dummy"]
    assert result[1]["behind"] == pytest.approx(np.mean(result.scores["own"] - result.scores["dummy"]))
    assert result.scoring == "r2"


def test_a_lead_that_is_sure_is_called_so() -> None:
    result = compare(X, Y, models=["dummy", "linear"], random_state=0)

    assert result.conclusion.startswith("linear is better than dummy by ")
    assert result.conclusion.endswith("(rmse): more than chance.")
    assert result.conclusion in repr(result)
    assert result[1]["behind_low"] > 0


def test_a_lead_that_may_be_chance_is_called_so() -> None:
    noise = np.random.default_rng(3).normal(size=120)

    result = compare(X, noise, models=["dummy", "linear", "tree"], random_state=0)

    assert "that may be chance" in result.conclusion
    assert "No model is clearly better than the baseline (dummy)" in result.conclusion


def test_the_others_are_compared_with_the_best_too() -> None:
    models = ["linear", ("ridge", LinearRegression()), ("stump", DecisionTreeRegressor(max_depth=1)), "dummy"]

    table = np.random.default_rng(0).normal(size=(600, 3))

    result = compare(table, table[:, 0] + 0.1 * table[:, 1] ** 2, models=models, random_state=0)

    assert {row["name"] for row in result[:2]} == {"linear", "ridge"}
    assert "that may be chance. It is better than stump by more than chance." in result.conclusion
    assert re.search(
        r"than the baseline \(dummy\) by [\d.]+ ± [\d.]+: more than chance\.$",
        result.conclusion,
    )


def test_all_families_take_part_on_any_table() -> None:
    table = pd.DataFrame({"size": X[:, 0], "town": np.where(X[:, 1] > 0, "Oslo", None)})
    labels = np.where(Y > 0, "yes", "no")

    result = compare(table, labels, cv=2, random_state=0)

    assert set(result.column("name")) == {
        "dummy", "linear", "tree", "forest", "extra_trees", "boosting", "adaboost",
    }  # fmt: skip
    assert all(row["fit_time"] > 0 for row in result)
    assert list(result.to_frame().columns) == result.columns


@pytest.mark.parametrize(
    ("y", "scoring"),
    [
        (Y, "rmse"),
        (np.arange(120), "rmse"),
        (np.arange(120) % 4, "log_loss"),
        (np.arange(120) % 4 > 1, "log_loss"),
        ([f"c{i % 30}" for i in range(120)], "log_loss"),
    ],
)
def test_the_task_follows_from_the_target(y: Any, scoring: str) -> None:
    assert compare(X, y, models=["dummy"], cv=2).scoring == scoring
    if scoring == "log_loss" and np.asarray(y).dtype.kind == "i":
        assert compare(X, y, models=["dummy"], cv=2, task="regression").scoring == "rmse"


def test_a_committee_may_take_part() -> None:
    model = CommitteeRegressor(None, portfolio=["linear", "forest"])

    result = compare(X, Y, models=["dummy", ("committee", model)], cv=2, random_state=0)

    assert result.column("name") == ["committee", "dummy"]
    given = compare(X[:40], Y[:40], models=["dummy"], committee=0.01, cv=2, random_state=0)
    assert set(given.column("name")) == {"committee", "dummy"}


def test_groups_and_weights_are_respected() -> None:
    groups = np.arange(120) // 6
    folds = list(GroupKFold(3).split(X, Y, groups))
    weight = np.random.default_rng(0).random(120)
    models = [("tree", DecisionTreeRegressor(max_depth=2)), ("near", KNeighborsRegressor())]

    result = compare(X, Y, models=models, cv=GroupKFold(3), groups=groups, sample_weight=weight)

    expected = []
    for train, test in folds:
        predicted = DecisionTreeRegressor(max_depth=2).fit(X[train], Y[train], weight[train]).predict(X[test])
        expected.append(np.sqrt(np.average((predicted - Y[test]) ** 2, weights=weight[test])))
    np.testing.assert_allclose(result.scores["tree"], expected)
    assert result.column("name") == ["tree"]
    assert any("left out: near" in note and "sample weights" in note for note in result.notes)
    assert result.conclusion == "tree is the only model that was compared."


def test_the_same_seed_gives_the_same_scores() -> None:
    one, two, other = (compare(X, Y, models=["tree"], random_state=seed).scores["tree"] for seed in (1, 1, 2))

    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"models": ["forrest"]}, "one of 'dummy'"),
        ({"models": []}, "'auto' or a non-empty list"),
        ({"models": ["tree", "tree"]}, "a name of its own"),
        ({"task": "ranking"}, "'auto' or 'classification'"),
        ({"scoring": "nonsense"}, "the name of a metric"),
        ({"scoring": "auc"}, "the name of a metric (r2, rmse"),
        ({"cv": 1}, "a whole number >= 2"),
        ({"committee": -1}, "True or False or a finite number > 0"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(settings: Any, allowed: str) -> None:
    with pytest.raises(InvalidParameter, match=r"compare\(.*expected") as caught:
        compare(X, Y, **settings)

    [(name, given)] = settings.items()
    assert caught.value.parameter == name
    assert caught.value.received in ([given] if isinstance(given, str | int) else [given, *given])
    assert (caught.value.allowed or "").startswith(allowed)


def test_the_nearest_metric_is_named() -> None:
    with pytest.raises(InvalidParameter, match=r"Did you mean 'rmse'\?"):
        compare(X, Y, models=["dummy"], scoring="rsme")


def test_a_wrong_level_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="alpha"):
        compare(X, Y, alpha=2)


def test_if_no_model_can_be_fitted_that_is_said() -> None:
    with pytest.raises(InvalidInput, match=r"no model could be fitted.*near"):
        compare(X, Y, models=[("near", KNeighborsRegressor())], sample_weight=np.ones(120))


def test_progress_is_printed_if_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    compare(X, Y, models=["dummy"], cv=2, verbose=1)

    assert re.match(r"compare: \(1 of 1\) dummy, \d+\.\d s, rmse ", capsys.readouterr().out)


def test_each_model_is_an_event_and_a_monitor_can_end_the_comparison() -> None:
    events: list[FitEvent] = []

    def stop_at_the_tree(event: FitEvent) -> bool:
        events.append(event)
        return event.name == "tree"

    with monitored(stop_at_the_tree):
        result = compare(X, Y, models=["dummy", "tree", "linear"], cv=2, random_state=0)

    models = [(own.owner, own.step, own.done, own.total, own.name) for own in events]
    assert models == [("compare", "model", 1, 3, "dummy"), ("compare", "model", 2, 3, "tree")]
    assert events[1].measures == {"rmse": pytest.approx(result.scores["tree"].mean())}
    assert sorted(result.scores) == ["dummy", "tree"]
    assert "left out: linear: a monitor asked to stop" in result.notes
