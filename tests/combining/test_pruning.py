"""Pruning: orders of a slow search, and a smaller ensemble whose members are the old ones."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import coterie
from coterie import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SelectionRegressor,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    prune,
)
from coterie.combining.pruning import (
    losses_along,
    margin_distance_order,
    reduced_error_order,
    residual_products,
)
from coterie.errors import CoterieError, InvalidParameter, InvalidType
from tests.helpers.errors import raised
from tests.naive.pruning import naive_margin_distance, naive_reduced_error, squared_error

RNG = np.random.default_rng(2)
X = RNG.normal(size=(240, 4))
NUMBERS = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * RNG.normal(size=240)
LABELS = np.array(["high", "low", "mid"])[np.digitize(NUMBERS, [-0.5, 0.5])]
OLD, NEW = slice(0, 140), slice(140, 240)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), n_members=st.integers(1, 7))
def test_orders_and_losses_are_those_of_a_slow_search(seed: int, n_members: int) -> None:
    rng = np.random.default_rng(seed)
    answers, truth = rng.normal(size=(n_members, 10, 2)), rng.normal(size=(10, 2))
    weight, votes = rng.uniform(0.5, 2.0, 10), rng.uniform(0.5, 2.0, n_members)
    right = rng.random((n_members, 10)) < 0.6

    products = residual_products(answers, truth, weight)
    order = reduced_error_order(products, votes)

    assert order.tolist() == naive_reduced_error(answers, truth, weight, votes)
    for k, loss in enumerate(losses_along(products, votes, order), start=1):
        assert loss == pytest.approx(squared_error(answers, truth, weight, votes, order[:k].tolist()))
    assert margin_distance_order(right, weight, votes).tolist() == naive_margin_distance(right, weight, votes)


ENSEMBLES = [
    RandomForestClassifier(20, random_state=0),
    ExtraTreesClassifier(20, random_state=0),
    BaggingClassifier(GaussianNB(), 20, max_features=2, random_state=0),
    BaggingClassifier(DecisionTreeClassifier(max_depth=3), 20, random_state=0),
    RandomForestRegressor(20, random_state=0),
    BaggingRegressor(n_estimators=20, random_state=0),
]


def target(model: Any) -> Any:
    return NUMBERS if "Regressor" in type(model).__name__ else LABELS


def said_by(model: Any, rows: Any) -> Any:
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)[:, None]


@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda model: type(model).__name__)
def test_the_mean_of_the_members_that_are_kept_is_the_answer(model: Any) -> None:
    y = target(model)
    model.fit(X[OLD], y[OLD])
    before = said_by(model, X)

    small = prune(model, X[NEW], y[NEW], to=6)

    assert type(small) is type(model)
    assert small.n_estimators_ == len(small.estimators_) == 6
    kept = np.sort(small.pruning_path_.members[:6])
    if hasattr(model, "forest_"):
        answers = np.concatenate([own for _, own in model._tree_predictions(X)]).transpose(1, 0, 2)
    else:
        answers = np.stack(list(model._member_predictions(X)))
        for one, k in zip(small.estimators_, kept, strict=True):
            assert one is model.estimators_[k] or one.tree_ == model.estimators_[k].tree_
    np.testing.assert_allclose(said_by(small, X), answers[kept].mean(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(said_by(model, X), before)
    assert not hasattr(small, "oob_score_")
    if hasattr(model, "feature_importances_"):
        assert small.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda model: type(model).__name__)
def test_as_few_members_are_kept_as_the_tolerance_allows(model: Any) -> None:
    y = target(model)
    model.fit(X[OLD], y[OLD])

    small = prune(model, X[NEW], y[NEW], tolerance=0.05)

    path = small.pruning_path_
    assert path.kept == len(small.estimators_) < 20
    assert (
        path.losses[path.kept - 1]
        <= 1.05 * path.losses[-1]
        < path.losses[: path.kept - 1].min(initial=np.inf)
    )
    truth = NUMBERS[NEW, None] if y is NUMBERS else np.eye(3)[np.searchsorted(model.classes_, y[NEW])]
    for own, loss in ((small, path.losses[path.kept - 1]), (model, path.losses[-1])):
        said = said_by(own, X[NEW])
        assert ((said - truth) ** 2).sum(axis=1).mean() == pytest.approx(loss)


def test_margins_order_members_of_classes_only() -> None:
    forest = RandomForestClassifier(15, random_state=0).fit(X[OLD], LABELS[OLD])
    small = prune(forest, X[NEW], LABELS[NEW], to=0.4, order="margin_distance")

    answers = np.concatenate([own for _, own in forest._tree_predictions(X[NEW])]).transpose(1, 0, 2)
    codes = np.searchsorted(forest.classes_, LABELS[NEW])
    expected = naive_margin_distance(answers.argmax(axis=2) == codes, np.ones(100), np.ones(15))
    assert small.pruning_path_.members.tolist() == expected
    assert len(small.forest_) == 6
    with raised(InvalidParameter, parameter="order", received="margin_distance", allowed="'reduced_error'"):
        prune(RandomForestRegressor(3).fit(X, NUMBERS), X, NUMBERS, to=2, order="margin_distance")


def test_a_warm_start_and_a_pickle_of_a_pruned_forest_work() -> None:
    import pickle

    forest = RandomForestRegressor(12, random_state=0).fit(X[OLD], NUMBERS[OLD])
    more = RandomForestRegressor(6, random_state=0, warm_start=True).fit(X[OLD], NUMBERS[OLD])
    more.set_params(n_estimators=12).fit(X[OLD], NUMBERS[OLD])  # two groves of trees

    one, other = (prune(each, X[NEW], NUMBERS[NEW], to=5) for each in (forest, more))

    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(X), one.predict(X))
    assert len(other.fit(X[OLD], NUMBERS[OLD]).forest_) == 12, "begins anew"
    with pytest.raises(CoterieError, match="training rows"):
        one.proximities()


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_voting_keeps_the_best_voters_and_their_weights(voting: str) -> None:
    members = [
        ("bayes", GaussianNB()),
        ("near", KNeighborsClassifier(9)),
        ("stump", DecisionTreeClassifier(max_depth=1)),
        ("tree", DecisionTreeClassifier(max_depth=4)),
    ]
    model = VotingClassifier(members, voting=voting, weights=[1, 2, 1, 3], cv=3).fit(X[OLD], LABELS[OLD])

    small = prune(model, X[NEW], LABELS[NEW], to=2)

    kept = np.sort(small.pruning_path_.members[:2])
    votes = np.array([1, 2, 1, 3.0])[kept]
    np.testing.assert_allclose(small.weights_, votes / votes.sum())
    predictions = model.member_predictions(X).values[kept]
    expected = np.average(predictions, axis=0, weights=votes).argmax(axis=1)
    np.testing.assert_array_equal(small.predict(X), model.classes_[expected])
    names = [members[k][0] for k in kept]
    assert [name for name, own in small.named_estimators_.items() if own != "drop"] == names
    assert not hasattr(small, "oof_score_")
    assert len(model.estimators_) == 4


def test_voting_of_medians_and_stacks_are_refused() -> None:
    members = [("a", LinearRegression()), ("b", KNeighborsRegressor())]
    for model in (VotingRegressor(members, voting="median"), StackingRegressor(members)):
        model.fit(X, NUMBERS)
        with pytest.raises(InvalidType) as caught:
            prune(model, X, NUMBERS, to=1)
        assert (caught.value.parameter, caught.value.received) == ("model", model)


def test_a_selection_is_pruned_too() -> None:
    members = [
        ("linear", LinearRegression()),
        ("near", KNeighborsRegressor()),
        ("tree", DecisionTreeRegressor(max_depth=4)),
    ]
    model = SelectionRegressor(members, random_state=0).fit(X[OLD], NUMBERS[OLD])
    assert (model.weights_ > 0).sum() > 1

    small = prune(model, X[NEW], NUMBERS[NEW], to=1)

    assert small.weights_.max() == 1
    best = small.candidates_[int(small.weights_.argmax())]
    np.testing.assert_allclose(small.predict(X), model.named_estimators_[best].predict(X))


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GradientBoostingRegressor(n_estimators=30, learning_rate=0.3, random_state=0), NUMBERS),
        (GradientBoostingRegressor(n_estimators=12, n_folds=3, random_state=0), NUMBERS),
        (GradientBoostingClassifier(n_estimators=12, random_state=0), LABELS),
    ],
)
def test_boosting_is_cut_off_after_some_rounds(model: Any, y: Any) -> None:
    model.fit(X[OLD], y[OLD])
    stages = list(model.staged_predict(X))

    short = prune(model, X[NEW], y[NEW], to=7)
    enough = prune(model, X[NEW], y[NEW], tolerance=0.1)

    assert short.n_estimators_ == 7
    np.testing.assert_array_equal(short.predict(X), stages[6])
    np.testing.assert_array_equal(np.stack(list(short.staged_predict(X))), np.stack(stages[:7]))
    np.testing.assert_array_equal(model.predict(X), stages[-1])
    losses, kept = enough.pruning_path_.losses, enough.pruning_path_.kept
    assert losses[kept - 1] <= 1.1 * losses[-1] < losses[: kept - 1].min(initial=np.inf)
    np.testing.assert_array_equal(enough.predict(X), stages[kept - 1])


def test_weights_of_rows_are_repetitions() -> None:
    weight = RNG.integers(0, 3, 100)
    rows = np.repeat(np.arange(140, 240), weight)
    model = BaggingRegressor(n_estimators=12, random_state=0).fit(X[OLD], NUMBERS[OLD])

    one = prune(model, X[NEW], NUMBERS[NEW], to=5, sample_weight=weight)
    two = prune(model, X[rows], NUMBERS[rows], to=5)

    assert one.pruning_path_.members.tolist() == two.pruning_path_.members.tolist()


@pytest.mark.parametrize(
    ("choices", "parameter", "allowed"),
    [
        ({}, "to", "one of to and tolerance"),
        ({"to": 3, "tolerance": 0.1}, "to", "one of to and tolerance"),
        ({"to": 0}, "to", "a whole number >= 1 or a float in (0, 1]"),
        ({"to": 1.5}, "to", "a whole number >= 1 or a float in (0, 1]"),
        ({"to": 99}, "to", "at most 5"),
        ({"tolerance": -1.0}, "tolerance", "a finite number >= 0"),
        ({"to": 2, "order": "alphabet"}, "order", "'reduced_error' or 'margin_distance'"),
    ],
)
def test_choices_that_make_no_sense_are_refused(
    choices: dict[str, Any], parameter: str, allowed: str
) -> None:
    model = RandomForestRegressor(5, random_state=0).fit(X[OLD], NUMBERS[OLD])
    with pytest.raises(InvalidParameter) as caught:
        prune(model, X[NEW], NUMBERS[NEW], **choices)
    assert (caught.value.parameter, caught.value.allowed) == (parameter, allowed)
    assert caught.value.received == choices.get(parameter)


def test_labels_that_the_model_does_not_know_are_named() -> None:
    model = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    with pytest.raises(CoterieError) as caught:
        prune(model, X[:3], ["high", "wide", "low"], to=2)
    assert (caught.value.parameter, caught.value.received) == ("y", "wide")


def test_prune_is_public() -> None:
    assert coterie.prune is prune
