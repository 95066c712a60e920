"""Students of committees: what they are fitted to, and what share of the gain they keep on rows held out."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import KFold

from coterie import CommitteeClassifier, CommitteeRegressor
from coterie.errors import InvalidInput

RNG = np.random.default_rng(3)
X = RNG.normal(size=(150, 2))
Y = X[:, 0] + X[:, 1] + 0.1 * RNG.normal(size=150)
LABELS = np.where(Y > 0, "high", "low")
FOLDS = list(KFold(3).split(X))


class Column(RegressorMixin, BaseEstimator):
    """A line through one column."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Column":
        self.line_ = LinearRegression().fit(X[:, [self.column]], y, sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        return self.line_.predict(X[:, [self.column]])


class ColumnOfClasses(ClassifierMixin, BaseEstimator):
    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ColumnOfClasses":
        self.line_ = LogisticRegression().fit(X[:, [self.column]], y, sample_weight)
        self.classes_ = self.line_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.line_.predict(X[:, [self.column]])

    def predict_proba(self, X: Any) -> Any:
        return self.line_.predict_proba(X[:, [self.column]])


class Spy(LinearRegression):
    """Remembers what it was fitted to."""

    seen: list[tuple[Any, Any]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Spy":
        Spy.seen.append((X, y))
        return super().fit(X, y, sample_weight)


def regressor(portfolio: Any = None) -> CommitteeRegressor:
    two = [("one", Column(0)), ("other", Column(1))]
    return CommitteeRegressor(None, portfolio=portfolio or two, cv=FOLDS, random_state=0).fit(X, Y)


def test_a_student_that_can_do_what_the_committee_does_keeps_its_gain() -> None:
    model = regressor()
    student, kept = model.distil(X, student=LinearRegression(), return_gain=True)
    np.testing.assert_allclose(student.predict(X), model.predict(X))
    assert kept.share == pytest.approx(1.0, abs=0.1)
    assert kept.metric == "rmse"
    best = max(model.member_scores_, key=model.member_scores_.get)
    assert kept.best_name == best
    assert kept.best_member == pytest.approx(root_mean_squared_error(Y, model.oof_predictions_[best]))
    assert kept.committee == pytest.approx(root_mean_squared_error(Y, model.oof_prediction_))
    assert repr(kept).startswith("the student keeps ")


def test_a_student_that_is_a_member_keeps_nothing() -> None:
    _, kept = regressor().distil(X, student=Column(0), return_gain=True)
    assert kept.share < 0.1


def test_students_are_scored_by_rows_that_taught_them_nothing() -> None:
    model = regressor()
    Spy.seen = []
    model.distil(X, student=Spy(), return_gain=True)
    final, *of_folds = Spy.seen
    np.testing.assert_allclose(final[1], model.predict(X))
    assert len(of_folds) == len(FOLDS)
    for (learn, _), (rows, targets) in zip(FOLDS, of_folds, strict=True):
        np.testing.assert_array_equal(rows, X[learn])
        np.testing.assert_array_equal(targets, model.oof_prediction_[learn])


def test_rows_without_labels_teach_every_student() -> None:
    new = RNG.normal(size=(40, 2))
    model = regressor()
    Spy.seen = []
    model.distil(np.vstack([X, new]), student=Spy(), return_gain=True)
    assert [len(rows) for rows, _ in Spy.seen] == [190, 140, 140, 140]
    np.testing.assert_allclose(Spy.seen[1][1][-40:], model.predict(new))


def test_classifiers_are_taught_probabilities() -> None:
    two = [("one", ColumnOfClasses(0)), ("other", ColumnOfClasses(1))]
    model = CommitteeClassifier(None, portfolio=two, calibration=None, random_state=0).fit(X, LABELS)
    student, kept = model.distil(X, student=LogisticRegression(), return_gain=True)
    assert np.abs(student.predict_proba(X) - model.predict_proba(X)).mean() < 0.1
    assert kept.metric == "log_loss"
    assert kept.share > 0.5


def test_without_a_gain_there_is_none_to_keep() -> None:
    _, kept = regressor([("one", Column(0))]).distil(X, student=Column(0), return_gain=True)
    assert np.isnan(kept.share)
    assert repr(kept).startswith("there is no gain to keep: one alone")


def test_the_gain_needs_the_rows_of_fit() -> None:
    with pytest.raises(InvalidInput, match="fewer than the 150 of fit"):
        regressor().distil(X[:100], student=LinearRegression(), return_gain=True)
