"""AdaBoost for numbers: equal to a page of numpy, as good as scikit-learn's, with any learner."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import AdaBoostRegressor as SklearnAdaBoost
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor as SklearnTree
from sklearn.utils.estimator_checks import check_estimator

from coterie import AdaBoostRegressor, DecisionTreeRegressor, RandomForestRegressor
from coterie._params import root_seed, spawn_seeds
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.base_learner import drawn_rows
from tests.naive.adaboost_r2 import adaboost_r2, weighted_median

RNG = np.random.default_rng(7)
N = 120
X = RNG.normal(size=(N, 3))
Y = 2 * X[:, 0] + np.abs(X[:, 1]) + 0.3 * RNG.normal(size=N)
WEIGHT = RNG.integers(1, 4, N).astype(float)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize(("learning_rate", "weight"), [(1.0, None), (0.4, WEIGHT)])
def test_every_round_is_that_of_the_slow_twin(loss: str, learning_rate: float, weight: Any) -> None:
    model = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=3), n_estimators=15, loss=loss, learning_rate=learning_rate
    ).fit(X, Y, weight)
    first = np.ones(N) if weight is None else weight
    twin = adaboost_r2(
        lambda weights, _: DecisionTreeRegressor(max_depth=3).fit(X, Y, weights),
        X, Y, first, 15, loss=loss, learning_rate=learning_rate,
    )  # fmt: skip

    assert model.n_estimators_ == len(twin.members) > 5
    assert_allclose(model.estimator_errors_, twin.losses, rtol=1e-9)
    assert_allclose(model.estimator_weights_, twin.votes, rtol=1e-9)
    said = np.column_stack([member.predict(X) for member in twin.members])
    assert_allclose(model.predict(X), [weighted_median(row, twin.votes) for row in said], rtol=1e-9)
    for number, staged in enumerate(model.staged_predict(X), start=1):
        expected = [weighted_median(row[:number], twin.votes[:number]) for row in said]
        assert_allclose(staged, expected, rtol=1e-9)


def test_drawn_rows_are_those_of_the_slow_twin() -> None:
    model = AdaBoostRegressor(SVR(), method="resample", n_estimators=8, random_state=3).fit(X, Y)
    seeds = spawn_seeds(root_seed(3), 8).tolist()

    def fitted(weights: Any, number: int) -> Any:
        _, of_bag = np.random.SeedSequence(seeds[number]).spawn(2)
        rows = drawn_rows(weights, of_bag)
        return SVR().fit(X[rows], Y[rows])

    twin = adaboost_r2(fitted, X, Y, np.ones(N), 8, loss="linear", learning_rate=1.0)

    assert_allclose(model.estimator_weights_, twin.votes, rtol=1e-9)
    assert_allclose(model.estimators_[-1].predict(X), twin.members[-1].predict(X), rtol=1e-9)


def test_rows_are_drawn_as_often_as_their_weights_say() -> None:
    weight = np.array([0.0, 1.0, 3.0, 0.0, 6.0, 0.0])
    counts = sum(
        np.bincount(drawn_rows(weight, np.random.SeedSequence(seed)), minlength=6) for seed in range(2000)
    )

    assert counts[[0, 3, 5]].tolist() == [0, 0, 0]
    assert_allclose(counts / counts.sum(), weight / weight.sum(), atol=0.01)


@pytest.mark.parametrize("method", ["reweight", "resample"])
@pytest.mark.parametrize("table", ["diabetes", "friedman"])
def test_it_is_about_as_good_as_that_of_scikit_learn(method: str, table: str) -> None:
    data, y = load_diabetes(return_X_y=True) if table == "diabetes" else make_friedman1(300, random_state=0)

    ours = cross_val_score(AdaBoostRegressor(method=method, random_state=0), data, y, cv=4).mean()
    theirs = cross_val_score(SklearnAdaBoost(random_state=0), data, y, cv=4).mean()

    assert ours > theirs - 0.03


def test_hard_rows_count_more_and_more() -> None:
    class Spy(SklearnTree):
        seen: list[Any] = []

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            Spy.seen.append(sample_weight)
            return super().fit(X, y, sample_weight)

    model = AdaBoostRegressor(Spy(max_depth=1, random_state=0), n_estimators=3).fit(X, Y)
    errors = np.abs(model.estimators_[0].predict(X) - Y)

    assert Spy.seen[0] is None
    assert Spy.seen[1].sum() == pytest.approx(N)
    assert_array_equal(np.argsort(Spy.seen[1], kind="stable"), np.argsort(errors, kind="stable"))
    assert model.largest_errors_[0] == pytest.approx(errors.max())


def test_a_perfect_member_is_the_last() -> None:
    model = AdaBoostRegressor(DecisionTreeRegressor()).fit(X, Y)

    assert model.n_estimators_ == 1
    assert model.stopped_because_ == "the last member makes no error"
    assert_array_equal(model.predict(X), Y)
    assert model.estimator_errors_.tolist() == [0.0]


def test_a_member_no_better_than_chance_ends_it() -> None:
    y = np.where(np.arange(N) % 2, 1.0, -1.0)
    noise = RNG.normal(size=(N, 1))
    model = AdaBoostRegressor(LinearRegression()).fit(noise, y)

    assert model.n_estimators_ == 1
    assert "by chance" in model.stopped_because_
    assert model.estimator_errors_[0] >= 0.5


def test_all_rounds_may_be_done() -> None:
    assert AdaBoostRegressor(n_estimators=3).fit(X, Y).stopped_because_ == "all rounds are done"


@pytest.mark.parametrize(
    "learner",
    [
        Ridge(),
        SVR(),
        KNeighborsRegressor(),
        make_pipeline(StandardScaler(), SVR()),
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
        RandomForestRegressor(5),
    ],
)
@pytest.mark.parametrize("method", ["reweight", "resample"])
def test_any_learner_will_do(learner: Any, method: str) -> None:
    model = AdaBoostRegressor(learner, method=method, n_estimators=5, random_state=0).fit(X, Y, WEIGHT)

    assert model.n_estimators_ > 1
    assert model.score(X, Y) > 0.6


def test_weights_reach_the_last_step_of_a_pipeline() -> None:
    piped = AdaBoostRegressor(
        make_pipeline(StandardScaler(), SklearnTree(max_depth=2, random_state=0)), n_estimators=4
    )
    plain = AdaBoostRegressor(SklearnTree(max_depth=2, random_state=0), n_estimators=4)

    assert_allclose(piped.fit(X, Y).predict(X), plain.fit(X, Y).predict(X), rtol=1e-9)


def test_frames_stay_frames() -> None:
    frame = pd.DataFrame({"size": X[:, 0], "town": np.where(X[:, 1] > 0, "Oslo", "Rome")})
    frame.loc[::9, "size"] = np.nan
    by_pandas = AdaBoostRegressor(n_estimators=5, random_state=0, method="resample").fit(frame, Y)
    by_polars = AdaBoostRegressor(n_estimators=5, random_state=0, method="resample").fit(
        pl.from_pandas(frame), Y
    )

    assert by_pandas.estimators_[0].feature_names_in_.tolist() == ["size", "town"]
    assert_array_equal(by_pandas.predict(frame), by_polars.predict(pl.from_pandas(frame)))


def test_a_warning_about_names_is_given_once() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = AdaBoostRegressor(n_estimators=4).fit(frame, Y)

    with pytest.warns(UserWarning, match="valid feature names, but AdaBoostRegressor") as caught:
        model.predict(X)
    assert len(caught) == 1


def test_a_classifier_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"estimator=LogisticRegression\(\).*expected a regressor"):
        AdaBoostRegressor(LogisticRegression()).fit(X, Y)


def test_what_a_learner_cannot_take_is_said_in_our_words() -> None:
    with pytest.raises(InvalidInput, match=r"estimator=Ridge\(\) cannot be fitted.*NaN"):
        AdaBoostRegressor(Ridge()).fit(np.where(X > 2, np.nan, X), Y)


def test_importances_are_the_mean_of_the_members_by_votes() -> None:
    model = AdaBoostRegressor(n_estimators=6).fit(X, Y)
    each = [member.feature_importances_ for member in model.estimators_]

    assert_allclose(model.feature_importances_, np.average(each, axis=0, weights=model.estimator_weights_))
    with pytest.raises(AttributeError, match=r"SVR\(\), have no"):
        _ = AdaBoostRegressor(SVR(), n_estimators=2).fit(X, Y).feature_importances_


def test_draws_follow_from_the_seed() -> None:
    one, same, other = (
        AdaBoostRegressor(method="resample", n_estimators=4, random_state=seed).fit(X, Y).predict(X)
        for seed in (1, 1, 2)
    )

    assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", [LinearRegression(), SklearnTree(max_depth=2, random_state=0)])
def test_every_check_of_scikit_learn_passes_with_other_learners(learner: Any) -> None:
    results = check_estimator(AdaBoostRegressor(learner, n_estimators=3), on_skip=None, on_fail=None)

    failed = [r for r in results if r["status"] in ("failed", "xfail")]
    assert [f"{r['check_name']}: {r['exception']}" for r in failed] == []
