"""Curves of scores, residuals, learning curves and leaderboards: against scikit-learn's numbers and by hand."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier as SkForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from coterie import AdaBoostClassifier
from coterie.diagnostics import Margins, ranking_curve, ranking_curves
from coterie.errors import InvalidInput, InvalidParameter
from coterie.plots import (
    Display,
    ErrorBoundDisplay,
    LeaderboardDisplay,
    LearningCurveDisplay,
    MarginDisplay,
    PrecisionRecallDisplay,
    ResidualDisplay,
    RocDisplay,
)

X, Y = make_classification(300, 6, flip_y=0.2, random_state=0)
WEIGHT = np.random.default_rng(0).integers(0, 3, 300).astype(float)
BAYES = GaussianNB().fit(X[:150], Y[:150])


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("digits", [1, 9], ids=["ties", "distinct"])
def test_curves_are_those_of_scikit_learn(weight: Any, digits: int) -> None:
    score = BAYES.predict_proba(X)[:, 1].round(digits)
    own = ranking_curve(Y == 1, score, sample_weight=weight)
    false, true, thresholds = roc_curve(Y, score, sample_weight=weight, drop_intermediate=False)
    precision, recall, _ = precision_recall_curve(Y, score, sample_weight=weight)
    kept = np.isin(own.thresholds, thresholds)

    assert kept.sum() >= len(kept) - 1
    np.testing.assert_allclose(own.false_positive_rate[kept], false[np.isin(thresholds, own.thresholds)])
    np.testing.assert_allclose(own.recall[kept], true[np.isin(thresholds, own.thresholds)])
    np.testing.assert_allclose(
        own.precision[1:][own.recall[1:] < 1], precision[::-1][1:][: (own.recall[1:] < 1).sum()]
    )
    np.testing.assert_allclose(own.recall[own.recall < 1], recall[::-1][recall[::-1] < 1])
    assert own.auc == pytest.approx(roc_auc_score(Y, score, sample_weight=weight))
    assert own.average_precision == pytest.approx(average_precision_score(Y, score, sample_weight=weight))


def test_each_class_is_measured_against_the_others() -> None:
    wine, kind = load_wine(return_X_y=True)
    model = GaussianNB().fit(wine[::2], kind[::2])
    display = RocDisplay.from_estimator(model, wine, kind)
    proba = model.predict_proba(wine)

    assert list(display.curves) == ["0", "1", "2"]
    for code in range(3):
        expected = roc_auc_score(kind == code, proba[:, code])
        assert display.curves[str(code)].auc == pytest.approx(expected)
        assert display.chart().lines[code].label == f"{code}, area {expected:.3f}"


def test_scores_without_probabilities_and_several_models() -> None:
    models = {"line": LinearSVC(random_state=0).fit(X[:150], Y[:150]), "bayes": BAYES}
    display = PrecisionRecallDisplay.from_estimators(models, X[150:], Y[150:])
    score = models["line"].decision_function(X[150:])

    assert display.curves["line"].average_precision == pytest.approx(average_precision_score(Y[150:], score))
    first, opposite = ranking_curves(models["line"], X, Y, labels=[1, 0])
    assert first.auc == pytest.approx(opposite.auc)
    line = display.chart().lines[0]
    area = float(np.diff(line.x) @ line.y[:-1])  # steps: constant from each point to the next
    assert area == pytest.approx(display.curves["line"].average_precision)


def test_rows_of_one_class_have_no_curve() -> None:
    with pytest.raises(InvalidInput, match="all rows are of class"):
        ranking_curve([True, True], [0.1, 0.2])
    with pytest.raises(InvalidParameter, match="labels="):
        ranking_curves(BAYES, X, Y, labels=["other"])
    wine, kind = load_wine(return_X_y=True)
    with pytest.raises(InvalidParameter, match="label=None, and 'a' has 3 classes"):
        RocDisplay.from_estimators({"a": GaussianNB().fit(wine, kind)}, wine, kind)


def test_residuals_and_their_quantiles() -> None:
    y = X[:, 0] + 0.1 * X[:, 1] ** 2
    model = LinearRegression().fit(X, y)
    display = ResidualDisplay.from_estimator(model, X, y)
    _, residuals = display.panels()
    middle = residuals.lines[1]
    order = np.argsort(model.predict(X), kind="stable")
    part = np.array_split(order, 12)[3]

    np.testing.assert_array_equal(display.data["residual"], y - model.predict(X))
    assert middle.y[3] == pytest.approx(np.median((y - model.predict(X))[part]))
    assert middle.low is not None
    assert middle.low[3] == pytest.approx(np.quantile((y - model.predict(X))[part], 0.1))
    with pytest.raises(InvalidInput, match="shapes"):
        ResidualDisplay([1.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("scoring", "theirs", "sign"),
    [(None, "accuracy", 1), ("log_loss", "neg_log_loss", -1), ("auc", "roc_auc", 1)],
)
def test_the_last_point_of_a_learning_curve_is_cross_validation(scoring: Any, theirs: str, sign: int) -> None:
    display = LearningCurveDisplay.from_estimator(
        GaussianNB(), X, Y, sizes=[0.5, 1.0], cv=KFold(3), scoring=scoring
    )
    expected = sign * cross_val_score(GaussianNB(), X, Y, cv=KFold(3), scoring=theirs)

    np.testing.assert_allclose(np.sort(display.test_score[-1]), np.sort(expected))
    assert display.data["rows"].tolist() == [100, 200]
    line = display.chart().lines[0]
    assert line.low is not None
    assert line.y[-1] - line.low[-1] == pytest.approx(expected.std())


def test_a_learning_curve_of_numbers_is_positive() -> None:
    display = LearningCurveDisplay.from_estimator(
        LinearRegression(), X, X[:, 0] ** 2, scoring="rmse", sizes=[1.0]
    )

    assert display.metric == "rmse"
    assert (display.test_score > 0).all()


ROWS = [
    {"name": "committee", "score": 0.95, "low": 0.93, "high": 0.97, "contribution": None},
    {"name": "forest", "score": 0.94, "low": 0.91, "high": 0.96, "contribution": 0.02},
    {"name": "line", "score": 0.80, "low": None, "high": None, "contribution": -0.01},
]


def test_a_leaderboard_has_intervals_and_contributions() -> None:
    display = LeaderboardDisplay(ROWS, metric="accuracy")
    scores, contributions = display.panels()

    assert scores.y.names == ("line", "forest", "committee")
    np.testing.assert_array_equal(scores.points[0].x, [0.80, 0.94, 0.95])
    np.testing.assert_array_equal(scores.points[0].left, [0.80, 0.91, 0.93])
    np.testing.assert_array_equal(contributions.bars[0].length, [-0.01, 0.02, 0.0])
    assert contributions.x.low < -0.01
    assert len(LeaderboardDisplay([{"name": "one", "score": 1.0}]).panels()) == 1
    assert 'x1="' in display.to_svg()
    with pytest.raises(InvalidParameter, match="rows="):
        LeaderboardDisplay([{"name": "one"}])


def test_margins_and_bounds_are_sequences() -> None:
    margins = MarginDisplay(Margins(np.array([[-0.5, 0.5], [0.2, 0.4], [0.3, 0.4]]), np.array([1, 10, 100])))
    frames = margins.frames()
    model = AdaBoostClassifier(n_estimators=4).fit(X, Y)
    bounds = ErrorBoundDisplay.from_estimator(model, X, Y)

    assert [frame.name for frame in frames] == ["after 1 round", "after 10 rounds", "after 100 rounds"]
    assert [line.faint for line in frames[1].charts[0].lines] == [True, False]
    assert [len(frame.charts[0].lines[0].x) for frame in bounds.frames()] == [
        number + 1 for number in range(len(bounds.bounds.rounds))
    ]
    assert bounds.frames()[-1].charts[0].lines[0].y[-1] == bounds.bounds.training_error[-1]


DISPLAYS: list[Display] = [
    RocDisplay.from_estimator(BAYES, X, Y),
    PrecisionRecallDisplay.from_estimator(BAYES, X, Y),
    ResidualDisplay(X[:, 0], X[:, 1]),
    LeaderboardDisplay(ROWS),
    LearningCurveDisplay([10, 20], [[1.0, 0.9], [0.9, 0.8]], [[0.5, 0.6], [0.7, 0.6]]),
]


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda own: type(own).__name__)
def test_every_display_has_numbers_and_no_animation(display: Display, tmp_path: Any) -> None:
    assert len({len(column) for column in display.data.values()}) == 1
    display.save(tmp_path / "a.html")
    display.save(tmp_path / "a.json")
    with pytest.raises(InvalidInput, match="nothing to animate"):
        display.animate(tmp_path / "a.html")


def test_forests_of_scikit_learn_have_curves() -> None:
    forest = SkForest(20, random_state=0).fit(X[:150], Y[:150])
    curve = RocDisplay.from_estimators(
        {"forest": forest, "line": LogisticRegression().fit(X[:150], Y[:150])}, X, Y
    )

    assert curve.curves["forest"].auc > 0.9
