"""AnyBoost: AdaBoost and gradient boosting are cases of it, any learner and any loss will do, and it ends in words."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingRegressor as SklearnBoosting
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
from coterie.losses import CustomLoss, Quantile, loss_for_classes, loss_for_targets
from tests.helpers.oracles import wrong_checks
from tests.naive.functional_descent import anyboost
from tests.naive.stump_votes import adaboost, best_stump

RNG = np.random.default_rng(0)
N = 80
X = RNG.normal(size=(N, 3))
NUMBERS = 2 * X[:, 0] + np.abs(X[:, 1]) + 0.3 * RNG.normal(size=N)
TWO = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * RNG.normal(size=N) > 0.7, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [0.0, 1.5])]
ADABOOST: dict[str, Any] = {"loss": "exponential", "init": "zero", "learning_rate": 1.0}


class ExhaustiveStump(ClassifierMixin, BaseEstimator):
    """The stump of least weighted error among all."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ExhaustiveStump":
        self.classes_ = np.unique(y)
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.stump_ = best_stump(X, y, weight)
        return self

    def predict(self, X: Any) -> Any:
        return self.stump_.says(X).astype(int)


class Answers(RegressorMixin, BaseEstimator):
    """A tree whose answers are multiplied by a number, which may be zero or negative."""

    def __init__(self, factor: float = 1.0, after: int = 0) -> None:
        self.factor = factor
        self.after = after

    def fit(self, X: Any, y: Any) -> "Answers":
        self.tree_ = DecisionTreeRegressor(max_depth=2).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.factor * self.tree_.predict(X)


# AdaBoost


def test_with_exponential_loss_and_stumps_that_vote_it_is_adaboost() -> None:
    model = AnyBoostClassifier(ExhaustiveStump(), n_estimators=20, **ADABOOST).fit(X, TWO)

    stumps, votes, errors = adaboost(X, np.where(TWO == "yes", 1, -1), 20)

    assert [member.stump_ for member in model.estimators_[:, 0]] == stumps
    assert_allclose(model.estimator_weights_, votes, rtol=1e-8)
    normalisers = 2 * np.sqrt(errors * (1 - errors))
    assert_allclose(model.train_losses_, np.cumprod(normalisers), rtol=1e-8)
    assert_allclose(
        model.inner_products_, (2 * errors - 1) * np.append(1, model.train_losses_[:-1]), rtol=1e-8
    )


def test_the_last_member_is_at_chance_under_the_new_weights() -> None:
    model = AnyBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=7, **ADABOOST).fit(X, TWO)
    y = np.where(TWO == "yes", 1, -1)

    margins = y * model.decision_function(X)
    weight = np.exp(-margins) / np.exp(-margins).sum()

    assert weight @ (model.estimators_[-1, 0].predict(X) != y) == pytest.approx(0.5, abs=1e-10)


def test_members_between_minus_one_and_one_get_the_vote_that_minimises_the_loss() -> None:
    tree = DecisionTreeRegressor(max_depth=2)
    model = AnyBoostClassifier(tree, n_estimators=1, **ADABOOST).fit(X, TWO)
    said = model.estimators_[0, 0].predict(X)
    y = np.where(TWO == "yes", 1, -1)

    assert np.abs(said).max() <= 1
    around = [
        np.exp(-y * vote * said).mean() for vote in model.estimator_weights_[0] + np.linspace(-0.1, 0.1, 5)
    ]
    assert np.argmin(around) == 2
    assert model.train_losses_[0] == pytest.approx(min(around), rel=1e-12)


def test_a_member_without_errors_gets_a_vote_that_is_finite() -> None:
    model = AnyBoostClassifier(DecisionTreeClassifier(), n_estimators=3, **ADABOOST).fit(X, TWO)

    assert np.isfinite(model.estimator_weights_).all()
    assert model.score(X, TWO) == 1


# Gradient boosting


def test_with_squared_error_and_trees_it_is_gradient_boosting() -> None:
    table, y = load_diabetes(return_X_y=True)
    ours = AnyBoostRegressor(DecisionTreeRegressor(max_depth=3), step=0.1, n_estimators=60).fit(table, y)
    theirs = SklearnBoosting(n_estimators=60, random_state=0).fit(table, y)

    assert_allclose(ours.predict(table), theirs.predict(table), rtol=1e-10)
    assert_allclose(2 * ours.train_losses_, theirs.train_score_, rtol=1e-10)
    for mine, other in zip(ours.staged_predict(table), theirs.staged_predict(table), strict=True):
        assert_allclose(mine, other, rtol=1e-10)


@pytest.mark.parametrize(
    ("choice", "start"),
    [("squared_error", 0.0), ("poisson", 0.5), ("expectile", 1.0), ("cross_entropy", 0.3)],
)
def test_it_is_its_pseudo_code(choice: str, start: float) -> None:
    y = np.abs(NUMBERS) / np.abs(NUMBERS).max()
    own = CustomLoss(  # the same loss from the same start, as a user would write it
        value=lambda y, score: loss.values(y, score[:, None]),
        gradient=lambda y, score: loss.gradients(y, score[:, None])[:, 0],
        baseline=start,
    )
    loss = loss_for_targets(choice).on_rows(y, None)
    settings: dict[str, Any] = {"n_estimators": 6, "learning_rate": 0.5}
    model = AnyBoostRegressor(DecisionTreeRegressor(max_depth=2), loss=own, **settings).fit(X, y)
    twin = anyboost(
        lambda wanted: DecisionTreeRegressor(max_depth=2).fit(X, wanted),
        X,
        lambda scores: loss.values(y, scores[:, None]),
        lambda scores: loss.gradients(y, scores[:, None])[:, 0],
        np.full(N, start),
        6,
        furthest=30.0,
        share=0.5,
    )

    assert_allclose(model.steps_, twin.steps, rtol=1e-5)
    assert_allclose(model.inner_products_, twin.inner_products, rtol=1e-5)
    assert_allclose(model.train_losses_, twin.losses, rtol=1e-7)
    assert_allclose(model.predict(X), twin.scores, rtol=1e-5, atol=1e-6)


def test_the_curvature_of_a_loss_changes_how_a_step_is_found_and_not_the_step() -> None:
    y = (TWO == "yes").astype(int)
    loss = loss_for_classes("log_loss", 2)
    blind = CustomLoss(
        value=lambda y, score: loss.values(y, score[:, None]),
        gradient=lambda y, score: loss.gradients(y, score[:, None])[:, 0],
    )

    ours, theirs = (AnyBoostClassifier(loss=each, n_estimators=8).fit(X, y) for each in ("log_loss", blind))

    assert_allclose(ours.steps_, theirs.steps_, rtol=1e-6)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)


def test_a_step_that_is_a_number_is_taken_as_it_is_or_in_part() -> None:
    whole = AnyBoostRegressor(step=0.2, n_estimators=3).fit(X, NUMBERS)
    half = AnyBoostRegressor(step=0.2, n_estimators=3, learning_rate=0.5).fit(X, NUMBERS)

    assert whole.steps_.tolist() == [0.2] * 3
    assert half.estimator_weights_.tolist() == [0.1] * 3


# Losses


LOSSES = ["absolute_error", "huber", "quantile", "expectile", "poisson", "gamma", "tweedie", "squared_error"]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_is_lowered(loss: str) -> None:
    table, y = load_diabetes(return_X_y=True)
    model = AnyBoostRegressor(loss=loss, n_estimators=30).fit(table, y)

    assert model.n_estimators_ == 30
    assert (np.diff(model.train_losses_) < 0).all()
    assert model.score(table, y) > 0.5


def test_several_quantiles_have_a_member_each_and_do_not_cross() -> None:
    model = AnyBoostRegressor(loss=Quantile((0.1, 0.5, 0.9)), n_estimators=60).fit(X, NUMBERS)
    low, middle, high = model.predict(X).T

    assert model.estimators_.shape == (60, 3)
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert np.mean(low > NUMBERS) < 0.15
    assert np.mean(high < NUMBERS) < 0.15
    assert 0.3 < np.mean(middle > NUMBERS) < 0.7
    assert (np.diff(model.train_losses_) < 0).all()


def test_classes_have_a_member_each_and_one_step() -> None:
    table, kind = load_iris(return_X_y=True)
    model = AnyBoostClassifier(n_estimators=5, learning_rate=0.5).fit(table, kind)
    probability = model.predict_proba(table)

    assert model.estimators_.shape == (5, 3)
    assert model.estimator_weights_.shape == (5,)
    assert model.decision_function(table).shape == (150, 3)
    assert_allclose(probability.sum(axis=1), 1)
    assert_array_equal(model.predict(table), probability.argmax(axis=1))
    assert model.score(table, kind) > 0.95


def test_class_weights_are_row_weights() -> None:
    weight = np.where(TWO == "yes", 3.0, 1.0)
    by_class = AnyBoostClassifier(n_estimators=5, class_weight={"yes": 3.0, "no": 1.0}).fit(X, TWO)
    by_row = AnyBoostClassifier(n_estimators=5).fit(X, TWO, sample_weight=weight)

    assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), rtol=1e-12)
    assert not np.allclose(
        by_class.predict_proba(X), AnyBoostClassifier(n_estimators=5).fit(X, TWO).predict_proba(X)
    )


def test_it_starts_at_zero_or_at_the_best_constant() -> None:
    zero, constant = (
        AnyBoostRegressor(init=init, n_estimators=1).fit(X, NUMBERS) for init in ("zero", "constant")
    )

    assert zero.baseline_ == 0
    assert constant.baseline_ == pytest.approx(NUMBERS.mean())


@pytest.mark.parametrize("unit", [1e-250, 1.0, 1e250])
@pytest.mark.parametrize("init", ["zero", "constant"])
def test_the_unit_of_the_target_does_not_matter(unit: float, init: str) -> None:
    model = AnyBoostRegressor(n_estimators=5, init=init).fit(X, NUMBERS * unit)
    usual = AnyBoostRegressor(n_estimators=5, init=init).fit(X, NUMBERS)

    assert_allclose(model.predict(X) / unit, usual.predict(X), rtol=1e-9)


# Why it ends


def test_a_learner_that_says_nothing_ends_it() -> None:
    model = AnyBoostRegressor(Answers(0.0)).fit(X, NUMBERS)

    assert model.n_estimators_ == 0
    assert "inner product" in model.stopped_because_
    assert model.inner_products_.tolist() == [0.0]
    assert_allclose(model.predict(X), NUMBERS.mean())


def test_a_learner_that_points_the_wrong_way_ends_it() -> None:
    model = AnyBoostRegressor(Answers(-1.0), step=0.1).fit(X, NUMBERS)

    assert model.n_estimators_ == 0
    assert "no longer negative" in model.stopped_because_
    assert model.inner_products_[0] > 0


def test_a_learner_with_nothing_more_to_say_ends_it() -> None:
    model = AnyBoostRegressor(LinearRegression(), learning_rate=1.0).fit(X, NUMBERS)

    assert model.n_estimators_ == 1
    assert "inner product" in model.stopped_because_
    assert len(model.inner_products_) == 2


def test_rounding_is_no_descent() -> None:
    """A parabola of height 10 does not change a loss of 1e18."""
    flat = CustomLoss(
        value=lambda y, score: 1e18 + (score - y) ** 2,
        gradient=lambda y, score: 2 * (score - y),
    )
    model = AnyBoostRegressor(loss=flat).fit(X, NUMBERS)

    assert model.n_estimators_ == 0
    assert "step found is zero" in model.stopped_because_


def test_a_loss_without_a_bottom_gets_no_infinite_step() -> None:
    falling = CustomLoss(value=lambda y, score: -score * y**2, gradient=lambda y, _: -(y**2), baseline=0.0)
    model = AnyBoostRegressor(loss=falling, n_estimators=2, learning_rate=1.0).fit(X, NUMBERS)

    assert np.isfinite(model.predict(X)).all()


def test_all_rounds_may_be_done() -> None:
    assert AnyBoostRegressor(n_estimators=3).fit(X, NUMBERS).stopped_because_ == "all rounds are done"


def test_a_single_class_is_nothing_to_learn() -> None:
    model = AnyBoostClassifier().fit(X, np.repeat("yes", N))

    assert model.stopped_because_ == "there is one class, and nothing to learn"
    assert set(model.predict(X)) == {"yes"}
    assert_array_equal(model.predict_proba(X), 1)
    assert list(model.staged_predict(X)) == []
    assert model.estimators_.shape == (0, 1)


def test_a_step_that_is_too_far_is_refused_by_name() -> None:
    with pytest.raises(InvalidParameter, match=r"training loss is inf after round \d+.*smaller step"):
        AnyBoostRegressor(step=1e200).fit(X, NUMBERS)


# Early stopping


def test_rows_left_out_decide_how_many_rounds_are_kept() -> None:
    model = AnyBoostRegressor(
        learning_rate=1.0, early_stopping=True, validation_fraction=0.3, n_iter_no_change=4, random_state=0
    ).fit(X, NUMBERS)

    assert model.n_estimators_ == model.validation_losses_.argmin() + 1
    assert len(model.validation_losses_) == model.n_estimators_ + 4 == len(model.steps_)
    assert model.stopped_because_ == "the validation loss has not fallen for 4 rounds"
    assert model.estimators_.shape == (model.n_estimators_, 1)


def test_an_eval_set_is_measured_and_says_when_to_stop() -> None:
    new, answers = X[50:], NUMBERS[50:]
    model = AnyBoostRegressor(learning_rate=1.0).fit(X[:50], NUMBERS[:50], eval_set=(new, answers))

    losses = [((said - answers) ** 2).mean() / 2 for said in model.staged_predict(new)]
    assert_allclose(model.validation_losses_[: len(losses)], losses, rtol=1e-10)
    assert np.argmin(losses) == len(losses) - 1
    assert "not fallen" in model.stopped_because_


def test_an_eval_set_may_only_be_watched() -> None:
    model = AnyBoostClassifier(n_estimators=12, early_stopping=False).fit(
        X[:50], TWO[:50], eval_set=(X[50:], TWO[50:], np.arange(30) % 2)
    )

    assert model.n_estimators_ == len(model.validation_losses_) == 12
    odd = slice(51, None, 2)
    loss = -np.log(model.predict_proba(X[odd])[np.arange(15), (TWO[odd] == "yes").astype(int)]).mean()
    assert model.validation_losses_[-1] == pytest.approx(loss, rel=1e-10)


@pytest.mark.parametrize(
    ("eval_set", "message"),
    [
        ((X,), "expected a tuple"),
        ((X[:, :2], NUMBERS), "eval_set: X has 2 features"),
        ((X, NUMBERS, None, NUMBERS), "eval_set.*offset"),
        ((X, NUMBERS, np.zeros(N)), "eval_set.*zero"),
    ],
)
def test_a_wrong_eval_set_is_refused(eval_set: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AnyBoostRegressor(n_estimators=2).fit(X, NUMBERS, eval_set=eval_set)


# Warm start


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"subsample": 0.5},
        {"loss": "absolute_error", "step": 0.1},
        {"early_stopping": True, "n_iter_no_change": 50},
        {"estimator": RandomForestRegressor(3)},
    ],
)
def test_two_fits_are_one_longer_fit(settings: dict[str, Any]) -> None:
    weight = RNG.integers(0, 3, N).astype(float)
    short = AnyBoostRegressor(n_estimators=4, warm_start=True, random_state=0, **settings)
    short = pickle.loads(pickle.dumps(short.fit(X, NUMBERS, weight)))
    longer = short.set_params(n_estimators=9).fit(X, NUMBERS, weight)
    full = AnyBoostRegressor(n_estimators=9, random_state=0, **settings).fit(X, NUMBERS, weight)

    assert_array_equal(longer.predict(X), full.predict(X))
    assert_array_equal(longer.train_losses_, full.train_losses_)
    assert_array_equal(longer.inner_products_, full.inner_products_)
    assert longer.n_estimators_ == full.n_estimators_


def test_a_warm_start_may_go_on_with_another_learner() -> None:
    model = AnyBoostRegressor(n_estimators=3, warm_start=True).fit(X, NUMBERS)
    model.set_params(n_estimators=5, estimator=Ridge(), learning_rate=1.0).fit(X, NUMBERS)

    kinds = [type(member).__name__ for member in model.estimators_[:, 0]]
    assert kinds == ["DecisionTreeRegressor"] * 3 + ["Ridge"] * 2


@pytest.mark.parametrize(
    ("change", "data", "message"),
    [
        ({"n_estimators": 2}, (X, NUMBERS), "n_estimators=2 is less than the 3 rounds"),
        ({"loss": "huber"}, (X, NUMBERS), "loss='huber' cannot continue"),
        ({"init": "zero"}, (X, NUMBERS), "init='zero' cannot continue"),
        ({}, (X, NUMBERS + 1), "differs in y"),
    ],
)
def test_a_warm_start_on_something_else_is_refused(change: Any, data: Any, message: str) -> None:
    model = AnyBoostRegressor(n_estimators=3, warm_start=True).fit(X, NUMBERS)
    before = model.predict(X)

    with pytest.raises(ValueError, match=message):
        model.set_params(**change).fit(*data)

    assert_array_equal(model.set_params(loss="squared_error").predict(X), before)


# Learners


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


def test_staged_answers_end_with_the_last() -> None:
    model = AnyBoostClassifier(n_estimators=4).fit(X, TWO)

    for staged, last in [
        (model.staged_predict, model.predict),
        (model.staged_predict_proba, model.predict_proba),
        (model.staged_decision_function, model.decision_function),
    ]:
        stages = list(staged(X))
        assert len(stages) == 4
        assert_array_equal(stages[-1], last(X))
