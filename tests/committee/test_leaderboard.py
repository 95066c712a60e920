"""The leaderboard: scores as they are read, all from the same rows, and words about what may surprise."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score, root_mean_squared_error
from sklearn.model_selection import TimeSeriesSplit

from coterie import CommitteeClassifier, CommitteeRegressor, DecisionTreeRegressor
from coterie.committee.leaderboard import LeftOutMembers, _about_negative

RNG = np.random.default_rng(7)
X = RNG.normal(size=(200, 3))
Y = 100 * X[:, 0] + 50 * np.abs(X[:, 1]) + 20 * RNG.normal(size=200)
LABELS = np.where(Y > 20, "high", "low")
NUMBERS: list[Any] = [
    ("line", LinearRegression()),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("mean", DummyRegressor()),
]
CLASSES: list[Any] = [("line", LogisticRegression()), ("guess", DummyClassifier())]


def regressor(**settings: Any) -> CommitteeRegressor:
    return CommitteeRegressor(None, **{"portfolio": NUMBERS, "random_state": 0} | settings).fit(X, Y)


def test_scores_are_those_of_scikit_learn_on_the_rows_held_out() -> None:
    model = regressor()
    board = {row["name"]: row for row in model.leaderboard()}

    assert board["committee"]["score"] == pytest.approx(root_mean_squared_error(Y, model.oof_prediction_))
    for name in model.members_:
        predicted = model.oof_predictions_[name].ravel()
        assert board[name]["score"] == pytest.approx(root_mean_squared_error(Y, predicted))


@pytest.mark.parametrize(
    ("scoring", "heading", "metric"),
    [
        (None, "log_loss ↓", lambda truth, proba: log_loss(truth, proba)),
        ("log_loss", "log_loss ↓", lambda truth, proba: log_loss(truth, proba)),
        ("neg_log_loss", "log_loss ↓", lambda truth, proba: log_loss(truth, proba)),
        ("roc_auc", "auc ↑", lambda truth, proba: roc_auc_score(truth, proba[:, 1])),
    ],
)
def test_names_of_scikit_learn_and_ours_are_shown_alike(scoring: Any, heading: str, metric: Any) -> None:
    model = CommitteeClassifier(None, portfolio=CLASSES, scoring=scoring, random_state=0).fit(X, LABELS)
    board = model.leaderboard()

    assert heading in repr(board).splitlines()[0]
    assert board[0]["score"] == pytest.approx(metric(LABELS, model.oof_proba_))
    assert (board.metric, board.greater_is_better) == (heading.split()[0], heading.endswith("↑"))


def test_members_are_sorted_from_the_best_and_the_committee_is_set_apart() -> None:
    lines = repr(regressor().leaderboard()).splitlines()

    assert lines[1].startswith("committee ")
    assert set(lines[2]) == {"-"}
    assert [line.split()[0] for line in lines[3:6]] == ["line", "tree", "mean"]
    page = regressor().leaderboard()._repr_html_()
    assert page.count("<tbody>") == 2


def test_rows_that_the_committee_is_not_scored_by_count_for_nobody() -> None:
    """The first fold of a series has no earlier fold to choose weights by."""
    model = regressor(cv=TimeSeriesSplit(4))
    scored = ~np.isnan(model.oof_prediction_)
    board = {row["name"]: row for row in model.leaderboard()}

    assert scored.sum() == 120
    for name in model.members_:
        predicted = model.oof_predictions_[name].ravel()[scored]
        assert board[name]["score"] == pytest.approx(root_mean_squared_error(Y[scored], predicted))


def test_a_contribution_is_what_a_fit_without_the_member_loses() -> None:
    model = regressor()
    for row in model.leaderboard()[1:]:
        if row["weight"] == 0:
            assert (row["contribution"], row["score_without"]) == (0.0, model.leaderboard()[0]["score"])
            continue
        others = regressor(portfolio=[own for own in NUMBERS if own[0] != row["name"]])
        assert row["score_without"] == pytest.approx(others.leaderboard()[0]["score"])


def test_the_contribution_of_a_score_falls_with_it() -> None:
    model = CommitteeClassifier(None, portfolio=CLASSES, scoring="auc", random_state=0).fit(X, LABELS)
    board = model.leaderboard()

    assert board[1]["name"] == "line"
    assert board[1]["contribution"] == pytest.approx(board[0]["score"] - board[1]["score_without"])
    assert board[1]["contribution"] > 0.2


def test_a_member_that_is_better_than_the_committee_is_named() -> None:
    clear = 3 * X[:, 0]
    model = CommitteeRegressor(None, portfolio=[("line", LinearRegression()), "boosting"], random_state=0)
    model.fit(X, clear + 0.1 * RNG.normal(size=200))
    notes = model.leaderboard().notes

    [remark] = [note for note in notes if "alone is better than the committee by" in note]
    assert remark.startswith("line alone")


def test_weight_by_the_prior_alone_is_explained() -> None:
    """Weights lean towards boosting as if a hundred rows more had been in favour of it."""
    model = CommitteeRegressor(None, portfolio=[("line", LinearRegression()), "boosting"], random_state=0)
    model.fit(X, 3 * X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=200))
    board = model.leaderboard()
    row = next(row for row in board if row["name"] == "boosting")

    assert row["weight"] >= 1 / 3 - 1e-9
    assert row["contribution"] < 0
    assert any(note.startswith("boosting gets a weight of at least 0.33 here") for note in board.notes)
    assert not any(note.startswith("contribution below 0") for note in board.notes)


def test_the_prior_is_not_named_where_another_member_is_meant() -> None:
    rows = [{"name": "tree", "weight": 0.4, "contribution": -0.1}]
    scores: Any = SimpleNamespace(
        prior="boosting",
        oof=SimpleNamespace(rows=SimpleNamespace(weight=np.ones(50)), known=np.ones(50, dtype=bool)),
    )

    [note] = _about_negative({"low": 0.0, "high": 1.0}, rows, scores)

    assert note.startswith("contribution below 0: tree. These weights helped")


def test_ends_stay_within_the_bounds_of_the_metric() -> None:
    model = CommitteeClassifier(None, portfolio=CLASSES, random_state=0).fit(X[:8], LABELS[:8])
    assert all(row["low"] >= 0 for row in model.leaderboard())
    best = CommitteeClassifier(None, portfolio=CLASSES, scoring="auc", random_state=0).fit(X, LABELS)
    assert all(row["high"] <= 1 for row in best.leaderboard())


def test_the_notes_say_what_columns_mean() -> None:
    text = repr(regressor().leaderboard())

    assert "rmse ↓: less is better, in the units of the target; measured out of fold." in text
    assert "contribution: by how much rmse is worse if the committee is chosen without the member" in text
    assert "Its score is nested" in text


def test_members_that_were_not_fitted_are_one_line() -> None:
    board = regressor(max_members=1).leaderboard()

    assert board.notes[-1] == "2 members not fitted: max_members=1 were fitted."
    assert board.left_out.details() == [
        "tree not fitted: max_members=1 were fitted",
        "mean not fitted: max_members=1 were fitted",
    ]
    late = {name: f"it would take about {name} s, and 1 s were left" for name in "456"}
    assert LeftOutMembers(late).notes() == ["3 members not fitted: time limit."]
    mixed = LeftOutMembers(late | {"a": "about 9 MB would be needed; memory_limit=1 expected at least that"})
    assert mixed.notes() == ["4 members not fitted: time limit (3), memory limit (1)."]
    assert LeftOutMembers({}, {"net": "ValueError: no"}).notes() == ["net failed: ValueError: no"]


def test_a_target_of_large_numbers_has_no_powers_of_ten() -> None:
    model = CommitteeRegressor(None, portfolio=NUMBERS, random_state=0).fit(X, 1e4 * Y)

    lines = repr(model.leaderboard()).splitlines()
    assert "e+" not in "".join(lines[:6])
    assert "," in lines[1]
