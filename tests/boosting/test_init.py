"""`init`: boosting starts from another model's predictions, on the scale of the loss."""

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import GradientBoostingClassifier as TheirClassifier
from sklearn.ensemble import GradientBoostingRegressor as TheirRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, RidgeClassifier
from sklearn.neighbors import KNeighborsRegressor

from coterie import DecisionTreeRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from coterie._params import root_seed
from coterie.data.holdout import fold_numbers, holdout_rows
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import CustomLoss, Quantile

RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 3))
NUMBERS = 3 * X[:, 0] + np.abs(X[:, 1]) + RNG.normal(size=N) / 4
COUNTS = RNG.poisson(np.exp(X[:, 0] / 2)).astype(float)
LABELS = np.array(["no", "yes"])[(NUMBERS + RNG.normal(size=N) > 0.5).astype(int)]
MANY = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [-1.0, 2.0])]
WEIGHT = RNG.integers(0, 3, N).astype(float)
SMALL = {"n_estimators": 10, "random_state": 0}


class Spy(RegressorMixin, BaseEstimator):
    """Answers with what it is told to, and writes down what it was fitted to."""

    def __init__(self, answer: Any = 0.0) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Spy":
        self.seen_ = X, y, sample_weight
        return self

    def predict(self, X: Any) -> Any:
        n_rows = len(next(iter(X.values()))) if isinstance(X, dict) else X.shape[0]
        return np.full(n_rows, self.answer)


class Mute(ClassifierMixin, BaseEstimator):
    """A classifier that only names classes."""

    def fit(self, X: Any, y: Any) -> "Mute":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(
    ("loss", "init", "y", "scale"),
    [
        ("squared_error", LinearRegression(), NUMBERS, lambda p: p),
        ("absolute_error", LinearRegression(), NUMBERS, lambda p: p),
        (Quantile((0.2, 0.8)), LinearRegression(), NUMBERS, lambda p: p),
        ("poisson", PoissonRegressor(), COUNTS, np.log),
        ("cross_entropy", DummyRegressor(), (COUNTS > 1) / 2, logit),
    ],
)
def test_a_regressor_starts_from_predictions_on_the_scale_of_its_loss(
    loss: Any, init: Any, y: Any, scale: Any
) -> None:
    ours = GradientBoostingRegressor(loss=loss, init=init, **SMALL).fit(X, y)
    start = scale(clone(init).fit(X, y).predict(X))
    by_offset = GradientBoostingRegressor(loss=loss, init="zero", **SMALL).fit(X, y, offset=start)

    assert_array_equal(ours.baseline_, np.zeros_like(ours.baseline_))
    assert_array_equal(ours.predict(X), by_offset.predict(X, offset=start))
    assert_array_equal(ours.predict(X[:50]), ours.predict(X)[:50])


@pytest.mark.parametrize(("loss", "times"), [("log_loss", 1.0), ("exponential", 0.5)])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_a_classifier_of_two_starts_from_log_odds(loss: str, times: float, weight: Any) -> None:
    ours = GradientBoostingClassifier(loss=loss, init=LogisticRegression(), **SMALL).fit(X, LABELS, weight)
    start = times * LogisticRegression().fit(X, LABELS, weight).decision_function(X)
    by_offset = GradientBoostingClassifier(loss=loss, init="zero", **SMALL).fit(
        X, LABELS, weight, offset=start
    )
    assert_allclose(ours.decision_function(X), by_offset.decision_function(X, offset=start), atol=1e-4)


def test_a_classifier_of_many_starts_from_log_probabilities() -> None:
    init = LogisticRegression()
    ours = GradientBoostingClassifier(init=init, n_estimators=1, learning_rate=1e-9).fit(X, MANY)
    assert_allclose(ours.predict_proba(X), init.fit(X, MANY).predict_proba(X), atol=1e-6)
    better = GradientBoostingClassifier(init=init, **SMALL).fit(X, MANY)
    assert better.score(X, MANY) > init.score(X, MANY)


def test_a_model_without_probabilities_starts_from_its_decisions() -> None:
    ours = GradientBoostingClassifier(init=RidgeClassifier(), n_estimators=1, learning_rate=1e-9)
    for y in (LABELS, MANY):
        theirs = RidgeClassifier().fit(X, y).decision_function(X)
        assert_allclose(ours.fit(X, y).decision_function(X), theirs, atol=1e-6)


def test_steps_are_those_of_scikit_learn() -> None:
    """One feature with few values, so that each has a leaf of its own."""
    ladder = np.random.default_rng(1).integers(0, 6, (N, 1)).astype(float)
    y = ladder[:, 0] ** 2 + RNG.normal(size=N)
    tree = {"n_estimators": 20, "max_leaf_nodes": 6, "min_samples_leaf": 1}
    for init in (LinearRegression(), "zero"):
        ours = GradientBoostingRegressor(init=init, **tree).fit(ladder, y)
        theirs = TheirRegressor(init=init, max_depth=None, **tree).fit(ladder, y)
        assert_allclose(ours.predict(ladder), theirs.predict(ladder), atol=1e-4)
    code = (y > 9).astype(int)
    for classes in (LogisticRegression(), "zero"):
        mine = GradientBoostingClassifier(init=classes, min_child_weight=0.0, **tree).fit(ladder, code)
        their = TheirClassifier(init=classes, max_depth=None, **tree).fit(ladder, code)
        assert_allclose(mine.predict_proba(ladder), their.predict_proba(ladder), atol=1e-3)


def test_an_init_and_an_offset_add_up() -> None:
    offset = RNG.normal(size=N)
    model = GradientBoostingRegressor(init=Spy(2.0), **SMALL).fit(X, NUMBERS, offset=offset)
    plain = GradientBoostingRegressor(init="zero", **SMALL).fit(X, NUMBERS, offset=offset + 2)
    assert_array_equal(model.predict(X, offset=offset), plain.predict(X, offset=offset + 2))


TABLES: dict[str, Any] = {
    "numpy": X,
    "pandas": pd.DataFrame(X, columns=list("abc"), index=np.arange(N) + 7),
    "polars": pl.DataFrame(X, schema=list("abc"), orient="row"),
    "arrow": pa.table({name: X[:, i] for i, name in enumerate("abc")}),
    "dict": {name: X[:, i] for i, name in enumerate("abc")},
    "sparse": sparse.csr_array(np.where(X > 0, X, 0.0)),
}


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("table", TABLES)
def test_it_is_fitted_to_the_training_rows_of_the_table_as_it_came(table: str, weight: Any) -> None:
    given = TABLES[table]
    model = GradientBoostingRegressor(init=Spy(), early_stopping=True, **SMALL).fit(given, NUMBERS, weight)
    kept = np.arange(N) if weight is None else np.flatnonzero(weight)
    learn, _ = holdout_rows(len(kept), 0.1, root_seed(0))
    seen, y, seen_weight = model.init_[0].seen_

    assert type(seen) is type(given)
    assert_array_equal(y, NUMBERS[kept[learn]])
    if weight is None:
        assert seen_weight is None
    else:
        assert_array_equal(seen_weight, weight[kept[learn]])
    if table == "dict":
        assert_array_equal(seen["b"], X[kept[learn], 1])
    elif table != "sparse":
        assert_array_equal(np.asarray(seen), X[kept[learn]])


def test_a_list_of_lists_is_cut_too() -> None:
    model = GradientBoostingRegressor(init=LinearRegression(), early_stopping=True, **SMALL)
    assert_array_equal(model.fit(X.tolist(), NUMBERS).predict(X), model.fit(X, NUMBERS).predict(X))


def test_the_loss_of_rows_set_aside_starts_from_its_predictions() -> None:
    model = GradientBoostingRegressor(init=LinearRegression(), early_stopping=True, **SMALL).fit(X, NUMBERS)
    _, aside = holdout_rows(N, 0.1, root_seed(0))
    error = ((model.predict(X[aside]) - NUMBERS[aside]) ** 2).mean() / 2
    assert model.validation_losses_.min() == pytest.approx(error)


def test_each_booster_has_a_copy_fitted_to_its_own_rows() -> None:
    model = GradientBoostingRegressor(init=LinearRegression(), n_folds=3, **SMALL).fit(X, NUMBERS)
    fold = fold_numbers(N, 3, root_seed(0))
    linear = [LinearRegression().fit(X[fold != k], NUMBERS[fold != k]) for k in range(3)]
    for own, expected in zip(model.init_, linear, strict=True):
        assert_allclose(own.coef_, expected.coef_)

    still = GradientBoostingRegressor(init=LinearRegression(), n_folds=3, **SMALL)
    still.set_params(learning_rate=1e-9).fit(X, NUMBERS)
    assert_allclose(still.predict(X), np.mean([each.predict(X) for each in linear], axis=0), atol=1e-6)
    expected = np.array([linear[k].predict(X[[row]])[0] for row, k in enumerate(fold)])
    assert_allclose(still.oof_prediction_, expected, atol=1e-6)


def test_the_model_that_was_given_stays_as_it_was() -> None:
    init = LinearRegression()
    model = GradientBoostingRegressor(init=init, **SMALL).fit(X, NUMBERS)
    assert not hasattr(init, "coef_")
    assert_allclose(model.init_[0].coef_, clone(init).fit(X, NUMBERS).coef_)
    assert GradientBoostingRegressor(**SMALL).fit(X, NUMBERS).init_ == []


def test_a_frozen_model_is_not_fitted_again() -> None:
    other = LinearRegression().fit(X[:50], NUMBERS[:50])
    model = GradientBoostingRegressor(init=FrozenEstimator(other), **SMALL).fit(X, NUMBERS)
    start = other.predict(X)
    by_offset = GradientBoostingRegressor(init="zero", **SMALL).fit(X, NUMBERS, offset=start)
    assert_array_equal(model.predict(X), by_offset.predict(X, offset=start))


def test_its_settings_are_settings_of_the_booster() -> None:
    model = GradientBoostingRegressor(init=DecisionTreeRegressor(max_depth=2), **SMALL)
    assert model.get_params()["init__max_depth"] == 2
    model.set_params(init__max_depth=3).fit({"town": ["Oslo", "Rome"] * 20}, [1.0, 3.0] * 20)
    assert_allclose(model.predict({"town": ["Rome", "Oslo"]}), [3.0, 1.0])


def test_a_model_with_an_init_is_pickled() -> None:
    model = GradientBoostingClassifier(init=LogisticRegression(), **SMALL).fit(X, LABELS)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


def test_threads_do_not_change_an_answer() -> None:
    first, *others = (
        GradientBoostingClassifier(init=LogisticRegression(), n_jobs=n_jobs, **SMALL)
        .fit(X, MANY)
        .predict_proba(X)
        for n_jobs in (1, 2, 3)
    )
    for other in others:
        assert_array_equal(other, first)


def test_a_class_without_weight_may_be_unknown_to_it() -> None:
    weight = np.where(MANY == "b", 0.0, 1.0)
    model = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=1, learning_rate=1e-9)
    model.fit(X, MANY, weight)
    assert list(model.init_[0].classes_) == ["a", "c"]
    assert_allclose(model.predict_proba(X)[:, [0, 2]], model.init_[0].predict_proba(X), atol=1e-5)


def test_one_class_needs_no_init() -> None:
    model = GradientBoostingClassifier(init=LogisticRegression()).fit([[0.0], [1.0]], ["only", "only"])
    assert model.init_ == []
    assert_array_equal(model.predict([[0.0]], offset=[1.0]), ["only"])


def log_loss_with(link: Any) -> CustomLoss:
    return CustomLoss(
        lambda y, s: np.logaddexp(0, s) - y * s, lambda y, s: 1 / (1 + np.exp(-s)) - y, inverse_link=link
    )


def test_a_custom_loss_takes_log_odds_or_with_a_link_of_its_own_decisions() -> None:
    still = {"n_estimators": 1, "learning_rate": 1e-9}
    expected = LogisticRegression().fit(X, LABELS).decision_function(X)
    for link in (None, lambda s: 1 / (1 + np.exp(-s))):
        model = GradientBoostingClassifier(loss=log_loss_with(link), init=LogisticRegression(), **still)
        assert_allclose(model.fit(X, LABELS).decision_function(X), expected, atol=1e-6)


REFUSED: dict[str, tuple[Any, str]] = {
    "weights it does not take": (
        lambda: GradientBoostingRegressor(init=KNeighborsRegressor()).fit(X, NUMBERS, WEIGHT),
        r"KNeighborsRegressor does not support sample weights, and this fit has them: init=KNeighborsRegressor\(\)",
    ),
    "text": (
        lambda: GradientBoostingRegressor(init=LinearRegression()).fit({"a": ["x", "y"] * 5}, np.arange(10)),
        r"init=LinearRegression\(\) cannot be fitted to the training rows: .*pipeline",
    ),
    "missing values": (
        lambda: GradientBoostingRegressor(init=LinearRegression()).fit([[0.0], [np.nan]], [0.0, 1.0]),
        r"init=LinearRegression\(\) cannot be fitted.*NaN.*pipeline",
    ),
    "missing values later": (
        lambda: (
            GradientBoostingRegressor(init=LinearRegression(), **SMALL).fit(X, NUMBERS).predict(X * np.nan)
        ),
        r"init=LinearRegression\(\) cannot predict: .*NaN",
    ),
    "a mean that is not above zero": (
        lambda: GradientBoostingRegressor(loss="poisson", init=Spy(-0.5)).fit(X, COUNTS),
        r"loss='poisson' starts from the logarithm.*init predicts -0\.5 in row 0",
    ),
    "a share beyond 1": (
        lambda: GradientBoostingRegressor(loss="cross_entropy", init=Spy(1.5)).fit(X, COUNTS > 1),
        r"loss='cross_entropy' starts from the log odds.*init predicts 1\.5 in row 0",
    ),
    "NaN": (
        lambda: GradientBoostingRegressor(init=Spy(np.nan)).fit(X, NUMBERS),
        r"predict of init=Spy\(answer=nan\) is nan in row 0",
    ),
    "text as answers": (
        lambda: GradientBoostingRegressor(init=Spy("much")).fit(X, NUMBERS),
        r"predict of init=Spy\(answer='much'\) gives no numbers",
    ),
    "only class names": (
        lambda: GradientBoostingClassifier(init=Mute()).fit(X, LABELS),
        r"init=Mute\(\) must implement predict_proba or decision_function",
    ),
    "probabilities for a link of one's own": (
        lambda: GradientBoostingClassifier(loss=log_loss_with(np.tanh), init=DummyClassifier()).fit(
            X, LABELS
        ),
        r"decision_function if the loss has an inverse_link of its own",
    ),
    "a class": (
        lambda: GradientBoostingRegressor(init=LinearRegression).fit(X, NUMBERS),
        r"init=.*expected an estimator with fit and predict or 'zero' or None",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_it_cannot_do_is_said(case: str) -> None:
    attempt, message = REFUSED[case]
    with pytest.raises((InvalidInput, InvalidParameter), match=re.compile(message, re.DOTALL)):
        attempt()


def test_answers_of_the_wrong_shape_are_refused() -> None:
    two = np.column_stack([NUMBERS, NUMBERS])
    with pytest.raises(InvalidInput, match=r"has the shape \(400, 2\); expected \(400,\)"):
        GradientBoostingRegressor(init=FrozenEstimator(LinearRegression().fit(X, two))).fit(X, NUMBERS)
