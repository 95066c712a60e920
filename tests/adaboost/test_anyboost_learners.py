"""Any learner of numbers or classes will do in AnyBoost, and what it cannot use is refused in words."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import check_estimator

from coterie import (
    AnyBoostClassifier,
    AnyBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestRegressor,
)
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import Quantile
from tests.helpers.anyboost_cases import NUMBERS, THREE, Answers, N, X
from tests.helpers.oracles import wrong_checks


@pytest.mark.parametrize(
    "learner",
    [
        Ridge(),
        SVR(),
        KNeighborsRegressor(),
        make_pipeline(StandardScaler(), Ridge()),
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
        DecisionTreeRegressor(max_depth=2),
        RandomForestRegressor(5),
        DecisionTreeClassifier(max_depth=2),
        LogisticRegression(),
    ],
)
@pytest.mark.parametrize("weight", [None, np.arange(N) % 3])
def test_any_learner_of_numbers(learner: Any, weight: Any) -> None:
    model = AnyBoostRegressor(learner, n_estimators=8, learning_rate=0.5, random_state=0).fit(
        X, NUMBERS, weight
    )

    assert model.n_estimators_ > 0
    assert (np.diff(model.train_losses_) < 0).all()
    assert model.score(X, NUMBERS) > 0.4


@pytest.mark.parametrize(
    "learner",
    [
        DecisionTreeClassifier(max_depth=1),
        LogisticRegression(),
        KNeighborsClassifier(),
        SVC(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        Ridge(),
        RandomForestRegressor(5),
    ],
)
@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_any_learner_of_two_classes(learner: Any, loss: str) -> None:
    table, y = load_breast_cancer(return_X_y=True)
    table, y = StandardScaler().fit_transform(table)[::3], y[::3]
    model = AnyBoostClassifier(learner, loss=loss, n_estimators=5, learning_rate=0.5, random_state=0).fit(
        table, y
    )

    assert model.n_estimators_ > 0
    assert model.score(table, y) > 0.9


def test_a_learner_without_weights_is_given_rows_drawn_by_them() -> None:
    class Spy(KNeighborsRegressor):
        seen: list[Any] = []

        def fit(self, X: Any, y: Any) -> Any:
            Spy.seen.append(np.asarray(X))
            return super().fit(X, y)

    weight = np.where(np.arange(N) < 5, 1000.0, 1.0)
    AnyBoostRegressor(Spy(), n_estimators=1, random_state=0).fit(X, NUMBERS, weight)
    AnyBoostRegressor(Spy(), n_estimators=1, random_state=0).fit(X, NUMBERS)

    drawn, whole = Spy.seen
    assert len(drawn) == N
    assert np.isin(drawn, X[:5]).all(axis=1).mean() > 0.95
    assert_array_equal(whole, X)


def test_a_classifier_that_needs_two_classes_may_meet_one() -> None:
    """From zero every residual of a large target is positive."""
    model = AnyBoostRegressor(LogisticRegression(), init="zero", n_estimators=3, learning_rate=1.0).fit(
        X, NUMBERS + 100
    )

    assert model.n_estimators_ == 3
    assert model.score(X, NUMBERS + 100) > 0


def test_frames_stay_frames_and_keep_their_names() -> None:
    frame = pd.DataFrame({"size": X[:, 0], "town": np.where(X[:, 1] > 0, "Oslo", "Rome")})
    learner = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough"), LinearRegression()
    )
    by_pipeline = AnyBoostRegressor(learner, n_estimators=5, subsample=0.8).fit(frame, NUMBERS)
    by_trees = AnyBoostRegressor(n_estimators=20, subsample=0.8).fit(pl.from_pandas(frame), NUMBERS)

    assert by_pipeline.feature_names_in_.tolist() == ["size", "town"]
    assert by_pipeline.estimators_[0, 0].feature_names_in_.tolist() == ["size", "town"]
    assert by_trees.score(pl.from_pandas(frame), NUMBERS) > 0.7


def test_what_a_learner_cannot_take_is_said_in_our_words() -> None:
    with pytest.raises(
        InvalidInput, match=r"estimator=Ridge\(\) cannot be fitted.*could not convert.*pipeline"
    ):
        AnyBoostRegressor(Ridge()).fit(pd.DataFrame({"town": ["Oslo", "Rome"] * 40}), NUMBERS)


def test_a_classifier_cannot_move_three_scores() -> None:
    with pytest.raises(
        InvalidParameter, match=r"y has 3 classes.*LogisticRegression\(\).*moves one score.*regressor"
    ):
        AnyBoostClassifier(LogisticRegression()).fit(X, THREE)


def test_a_classifier_cannot_move_two_quantiles() -> None:
    with pytest.raises(InvalidParameter, match=r"LogisticRegression\(\) is a classifier.*2 scores"):
        AnyBoostRegressor(LogisticRegression(), loss=Quantile((0.1, 0.9))).fit(X, NUMBERS)


def test_the_exponential_loss_is_for_two_classes() -> None:
    with pytest.raises(InvalidParameter, match=r"y has 3 classes.*loss='exponential'"):
        AnyBoostClassifier(loss="exponential").fit(X, THREE)


def test_a_learner_that_answers_nonsense_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"predict of estimator=Answers\(factor=nan\) is nan in row 0"):
        AnyBoostRegressor(Answers(float("nan"))).fit(X, NUMBERS)


def test_importances_need_members_that_have_them() -> None:
    assert AnyBoostRegressor(n_estimators=5).fit(X, NUMBERS).feature_importances_.argmax() == 0
    with pytest.raises(AttributeError, match=r"Ridge\(\), have no"):
        _ = AnyBoostRegressor(Ridge(), n_estimators=2).fit(X, NUMBERS).feature_importances_


def test_draws_follow_from_the_seed() -> None:
    one, same, other = (
        AnyBoostRegressor(subsample=0.5, n_estimators=3, random_state=seed).fit(X, NUMBERS)
        for seed in (1, 1, 2)
    )

    assert_array_equal(one.predict(X), same.predict(X))
    assert not np.array_equal(one.predict(X), other.predict(X))


def test_a_part_of_the_rows_is_what_a_member_sees() -> None:
    class Count(DecisionTreeRegressor):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            self.n_rows_ = len(y)
            return super().fit(X, y, sample_weight)

    model = AnyBoostRegressor(Count(max_depth=2), subsample=0.25, n_estimators=4).fit(X, NUMBERS)

    assert [member.n_rows_ for member in model.estimators_[:, 0]] == [20] * 4


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        AnyBoostRegressor(Ridge(), n_estimators=3, learning_rate=1.0),
        AnyBoostClassifier(GaussianNB(), n_estimators=3, learning_rate=1.0),
        AnyBoostClassifier(Ridge(), loss="exponential", n_estimators=3, learning_rate=1.0),
    ],
)
def test_every_check_of_scikit_learn_passes_with_other_learners(model: Any) -> None:
    results = check_estimator(model, on_skip=None, on_fail=None)

    wrong = wrong_checks(model)
    failed = [r for r in results if r["status"] in ("failed", "xfail") and r["check_name"] not in wrong]
    assert [f"{r['check_name']}: {r['exception']}" for r in failed] == []
