"""AdaBoost of any learner: against the formulas, with weights, with drawn rows, through pipelines, on any table."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.utils import get_tags

from coterie import AdaBoostClassifier, DecisionTreeClassifier, DecisionTreeRegressor
from coterie.adaboost._learners import WeightedDraws
from coterie.adaboost._rounds import margin_votes
from coterie.data.encoding import Encoded
from coterie.members.weight_parameter import weight_parameter

X2, Y2 = load_breast_cancer(return_X_y=True)
X2, Y2 = X2[::3, :8], Y2[::3]
X3, Y3 = load_iris(return_X_y=True)
LEARNERS: list[tuple[Any, str, str]] = [
    (SVC(), "samme", "reweight"),
    (SVC(), "confidence", "reweight"),
    (LogisticRegression(), "samme", "reweight"),
    (GaussianNB(), "confidence", "reweight"),
    (KNeighborsClassifier(), "samme", "resample"),
    (DecisionTreeClassifier(max_depth=2), "real", "reweight"),
    (DecisionTreeRegressor(max_depth=2), "gentle", "reweight"),
    (DecisionTreeRegressor(max_depth=2), "confidence", "reweight"),
    (SGDClassifier(), "samme", "reweight"),
    (GaussianNB(), "real", "reweight"),
    (KNeighborsClassifier(3), "confidence", "resample"),
]


@pytest.mark.parametrize(("learner", "algorithm", "method"), LEARNERS, ids=str)
@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X3, Y3)], ids=["two", "three"])
def test_any_learner_can_be_boosted(learner: Any, algorithm: str, method: str, X: Any, y: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), learner)
    model = AdaBoostClassifier(pipeline, algorithm=algorithm, n_estimators=5, random_state=0)
    model.fit(X, np.array(["a", "b", "c"])[y])

    assert model.method_ == method
    assert model.score(X, np.array(["a", "b", "c"])[y]) > 0.8
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(np.cumprod(model.normalizers_), model.exponential_loss_, rtol=1e-9)


@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X3, Y3)], ids=["two", "three"])
def test_the_members_are_those_of_scikit_learn(X: Any, y: Any) -> None:
    """Its votes are twice ours, and it does not stop at a perfect member of ours, of which there is none here."""
    tree = TheirTree(max_depth=1)
    ours = AdaBoostClassifier(tree, n_estimators=12, random_state=0).fit(X, y)
    theirs = TheirAdaBoost(tree, n_estimators=12, random_state=0).fit(X, y)

    n = ours.n_estimators_
    assert n == 12
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n], rtol=1e-9)
    np.testing.assert_allclose(2 * ours.estimator_weights_, theirs.estimator_weights_[:n], rtol=1e-9)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_real_boosting_of_naive_bayes_is_that_of_the_formulas() -> None:
    weight, scores, sign = np.full(len(Y2), 1 / len(Y2)), np.zeros(len(Y2)), np.where(Y2 == 1, 1.0, -1.0)
    for _ in range(4):
        p = GaussianNB().fit(X2, Y2, sample_weight=weight * len(Y2)).predict_proba(X2)
        p = np.maximum(p, 0.01)
        step = 0.5 * np.log(p[:, 1] / p[:, 0])
        scores += step
        weight = weight * np.exp(-sign * step)
        weight /= weight.sum()

    model = AdaBoostClassifier(GaussianNB(), algorithm="real", n_estimators=4).fit(X2, Y2)

    np.testing.assert_allclose(model.decision_function(X2), scores, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.row_weights_, weight, rtol=1e-9)


def test_gentle_boosting_of_ridge_is_that_of_the_formulas() -> None:
    weight, scores, sign = np.full(len(Y2), 1 / len(Y2)), np.zeros(len(Y2)), np.where(Y2 == 1, 1.0, -1.0)
    for _ in range(4):
        step = 0.5 * Ridge().fit(X2, sign, sample_weight=weight * len(Y2)).predict(X2)
        scores += step
        weight = weight * np.exp(-sign * step)
        weight /= weight.sum()

    model = AdaBoostClassifier(Ridge(), algorithm="gentle", n_estimators=4, learning_rate=0.5).fit(X2, Y2)

    np.testing.assert_allclose(model.decision_function(X2), scores, rtol=1e-9)


def test_with_three_classes_gentle_steps_have_a_regressor_for_each() -> None:
    model = AdaBoostClassifier(Ridge(), algorithm="gentle", n_estimators=1).fit(X3, Y3)

    steps = np.column_stack([Ridge().fit(X3, 3.0 * (k == Y3) - 1).predict(X3) for k in range(3)])
    expected = steps / 2 - (steps / 2).mean(axis=1, keepdims=True)
    assert len(model.estimators_[0]) == 3
    np.testing.assert_allclose(model.decision_function(X3), expected, rtol=1e-9, atol=1e-12)


def test_the_confident_vote_has_the_least_loss() -> None:
    model = AdaBoostClassifier(GaussianNB(), algorithm="confidence", n_estimators=1).fit(X2, Y2)

    h = np.where(Y2 == 1, 1, -1) * (2 * model.estimators_[0].predict_proba(X2)[:, 1] - 1)
    losses = [np.exp(-vote * h).mean() for vote in model.estimator_weights_[0] + np.array([-0.01, 0.0, 0.01])]
    assert losses[1] == pytest.approx(model.exponential_loss_[0], rel=1e-12)
    assert losses[1] < min(losses[0], losses[2])


@pytest.mark.parametrize("algorithm", ["samme", "gentle"])
def test_least_loss_means_that_no_member_has_anything_to_say(algorithm: str) -> None:
    """After a corrective round every member with a vote agrees with the classes no more than chance does."""
    model = AdaBoostClassifier(algorithm=algorithm, corrective="exponential", n_estimators=6).fit(X2, Y2)
    plain = AdaBoostClassifier(algorithm=algorithm, n_estimators=6).fit(X2, Y2)

    sign = np.where(Y2 == 1, 1.0, -1.0)
    for member, vote in zip(model.estimators_, model.estimator_weights_, strict=True):
        p = member.predict_proba(X2)
        h = np.where(p[:, 1] > p[:, 0], 1.0, -1.0) if algorithm == "samme" else 2 * p[:, 1] - 1
        agreement = model.row_weights_ @ (sign * h)
        assert agreement == pytest.approx(0, abs=1e-9) if vote > 0 else agreement <= 1e-9
    assert (np.diff(model.exponential_loss_) < 0).all()
    assert model.exponential_loss_[-1] <= plain.exponential_loss_[-1] + 1e-12


@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X3, Y3)], ids=["two", "three"])
def test_the_widest_margin_is_wider_than_that_of_plain_boosting(X: Any, y: Any) -> None:
    """The worst tenth of the margins, on average, is what the linear programme makes large."""
    rows = np.arange(len(y))

    def worst_tenth(model: Any) -> float:
        shares = model.vote_shares(X)
        own = shares[rows, y]
        shares[rows, y] = -np.inf
        return float(np.sort(own - shares.max(axis=1))[: len(y) // 10].mean())

    model = AdaBoostClassifier(corrective="margin", nu=0.1, n_estimators=40).fit(X, y)
    plain = AdaBoostClassifier(n_estimators=40).fit(X, y)

    assert model.estimator_weights_.sum() == pytest.approx(1)
    assert model.estimator_weights_.min() >= 0
    assert worst_tenth(model) > worst_tenth(plain)


def test_pipelines_take_weights_through_their_last_step() -> None:
    assert weight_parameter(make_pipeline(StandardScaler(), SVC())) == "svc__sample_weight"
    inner = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), GaussianNB()))
    assert weight_parameter(inner) == "pipeline__gaussiannb__sample_weight"
    assert weight_parameter(make_pipeline(StandardScaler(), KNeighborsClassifier())) is None
    assert weight_parameter(make_pipeline(StandardScaler(), "passthrough")) is None


def test_members_see_weights_of_the_users_scale() -> None:
    """The first member of a regularised learner is the learner itself."""
    weight = np.random.default_rng(0).integers(0, 3, len(Y2)).astype(float)
    alone = LogisticRegression(C=0.01, solver="liblinear").fit(
        X2[weight > 0], Y2[weight > 0], weight[weight > 0]
    )
    boosted = AdaBoostClassifier(LogisticRegression(C=0.01, solver="liblinear"), n_estimators=1).fit(
        X2, Y2, weight
    )

    np.testing.assert_array_equal(boosted.estimators_[0].coef_, alone.coef_)


@pytest.mark.parametrize("learner", [None, KNeighborsClassifier()], ids=str)
def test_drawn_rows_depend_on_what_rows_hold_not_on_their_order_or_number(learner: Any) -> None:
    rng = np.random.default_rng(3)
    weight = rng.integers(0, 4, len(Y2))
    order = rng.permutation(len(Y2))
    settings = {"method": "resample", "n_estimators": 5, "random_state": 1}

    weighted = AdaBoostClassifier(learner, **settings).fit(X2, Y2, sample_weight=weight)
    shuffled = AdaBoostClassifier(learner, **settings).fit(X2[order], Y2[order], sample_weight=weight[order])
    repeated = AdaBoostClassifier(learner, **settings).fit(
        np.repeat(X2, weight, axis=0), np.repeat(Y2, weight)
    )

    for other in (shuffled, repeated):
        np.testing.assert_allclose(
            other.decision_function(X2), weighted.decision_function(X2), rtol=1e-9, atol=1e-9
        )


def test_rows_are_drawn_as_often_as_they_weigh() -> None:
    weight = np.array([0.5, 0.0, 0.2, 0.3, 0.0])
    values = np.arange(5.0)
    draws = WeightedDraws(Encoded([values], 5, 1, np.zeros(1, np.int32)), np.zeros(5, int), None)

    drawn = np.concatenate([draws.draw(weight, seed) for seed in range(4000)])

    np.testing.assert_allclose(np.bincount(drawn, minlength=5) / len(drawn), weight, atol=0.01)
    assert not np.isin(drawn, [1, 4]).any()


class Remembers(ClassifierMixin, BaseEstimator):
    """Keeps the type of the table that it was given, and its seed."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "Remembers":
        self.classes_, self.saw = np.unique(y), type(X)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def test_learners_are_given_the_table_as_it_came_and_seeds_of_their_own() -> None:
    frame = pd.DataFrame({"town": ["Oslo", "Rome"] * 10, "size": np.arange(20.0)})
    model = AdaBoostClassifier(Remembers(), n_estimators=3, random_state=0).fit(frame, [0] * 14 + [1] * 6)

    assert {member.saw for member in model.estimators_} == {pd.DataFrame}
    assert len({member.random_state for member in model.estimators_}) == len(model.estimators_)
    again = AdaBoostClassifier(Remembers(), n_estimators=3, random_state=0).fit(frame, [0] * 14 + [1] * 6)
    assert [each.random_state for each in again.estimators_] == [
        each.random_state for each in model.estimators_
    ]


def test_a_frame_with_text_goes_through_a_pipeline() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["Oslo", "Rome", "Cork"], 120), "size": rng.normal(size=120)})
    y = (frame["town"] == "Rome") ^ (frame["size"] > 0)
    encode = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    model = AdaBoostClassifier(make_pipeline(encode, GaussianNB()), n_estimators=5, random_state=0).fit(
        frame, y
    )

    assert model.predict(frame).dtype == bool
    assert model.feature_names_in_.tolist() == ["town", "size"]
    with pytest.raises(ValueError, match="Did you mean 'town' instead of 'twon'"):
        model.predict(frame.rename(columns={"town": "twon"}))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix])
def test_a_sparse_table_stays_sparse(kind: Any) -> None:
    thin = X3 * (X3 > 1.5)
    model = AdaBoostClassifier(MultinomialNB(), n_estimators=3)
    dense = model.fit(thin, Y3).decision_function(thin)

    np.testing.assert_allclose(model.fit(kind(thin), Y3).decision_function(kind(thin)), dense, rtol=1e-9)
    with pytest.raises(ValueError, match="X has 2 features, but AdaBoostClassifier is expecting 4"):
        model.predict(kind(thin[:, :2]))
    by_draws = AdaBoostClassifier(KNeighborsClassifier(), n_estimators=3, random_state=0).fit(kind(thin), Y3)
    assert by_draws.score(kind(thin), Y3) > 0.9


def test_a_dict_of_numbers_is_a_table_for_every_learner() -> None:
    table = {f"c{i}": X3[:, i] for i in range(4)}
    model = AdaBoostClassifier(GaussianNB(), n_estimators=3).fit(table, Y3)

    backwards = dict(reversed(table.items()))
    assert np.array_equal(
        model.predict(backwards), AdaBoostClassifier(GaussianNB(), n_estimators=3).fit(X3, Y3).predict(X3)
    )


def test_what_may_be_given_is_what_the_learner_takes() -> None:
    assert get_tags(AdaBoostClassifier()).input_tags.allow_nan
    assert not get_tags(AdaBoostClassifier(GaussianNB())).input_tags.allow_nan
    assert get_tags(AdaBoostClassifier(DecisionTreeClassifier())).input_tags.string
    with pytest.raises(ValueError, match="NaN"):
        AdaBoostClassifier(GaussianNB()).fit([[np.nan], [1.0]], [0, 1])


def test_importances_are_those_of_the_members() -> None:
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4).fit(X2, Y2)
    votes = model.estimator_weights_
    mean = (
        sum(v * m.feature_importances_ for v, m in zip(votes, model.estimators_, strict=True)) / votes.sum()
    )

    np.testing.assert_allclose(model.feature_importances_, mean)
    assert not hasattr(AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X2, Y2), "feature_importances_")


def test_threads_of_learners_change_nothing() -> None:
    one, two = (
        AdaBoostClassifier(GaussianNB(), n_estimators=6, n_jobs=n_jobs).fit(X3, Y3) for n_jobs in (1, 2)
    )

    assert np.array_equal(one.decision_function(X3), two.decision_function(X3))


class Blank(RegressorMixin, BaseEstimator):
    """Says infinity."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Blank":
        self.n_features_in_ = 1
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), np.inf)


def test_a_member_that_says_no_number_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"A member, Blank\(\), predicts inf for row 0; expected finite numbers"
    ):
        AdaBoostClassifier(Blank(), algorithm="gentle").fit(X2, Y2)


def test_rows_without_weight_get_no_weight_from_the_widest_margin() -> None:
    leads = np.array([[[1.0, -1.0]], [[-1.0, 1.0]], [[-1.0, -1.0]]])

    found = margin_votes(leads, np.array([0.5, 0.5, 0.0]), nu=1.0)

    assert found.pair_weight.ravel().tolist() == [0.5, 0.5, 0.0]
    assert found.votes.sum() == pytest.approx(1)
