"""Selection: the path is that of a slow search, and only what was chosen is fitted and asked."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, make_scorer, mean_absolute_error
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from coterie import DecisionTreeClassifier, DecisionTreeRegressor, SelectionClassifier, SelectionRegressor
from coterie.combining.greedy import (
    GreedyOptions,
    LogLossOfMean,
    ScoreOfMean,
    SquaredErrorOfMean,
    greedy_path,
    shares,
)
from coterie.errors import InvalidInput, InvalidParameter
from tests.naive.greedy import naive_path

RNG = np.random.default_rng(4)
X = RNG.normal(size=(150, 4))
NUMBERS = X[:, 0] + np.abs(X[:, 1]) + 0.4 * RNG.normal(size=150)
LABELS = np.array(["high", "low", "mid"])[np.digitize(NUMBERS, [0.2, 1.2])]
REGRESSORS = [
    ("linear", LinearRegression()),
    ("near", KNeighborsRegressor()),
    ("tree", DecisionTreeRegressor(max_depth=4)),
    ("stump", DecisionTreeRegressor(max_depth=1)),
]
CLASSIFIERS = [
    ("bayes", GaussianNB()),
    ("near", KNeighborsClassifier(15)),
    ("tree", DecisionTreeClassifier(max_depth=4, min_samples_leaf=5)),
]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    n_members=st.integers(1, 6),
    n_start=st.integers(1, 4),
    patience=st.none() | st.integers(1, 4),
    classes=st.booleans(),
)
def test_the_path_is_that_of_a_slow_search(
    seed: int, n_members: int, n_start: int, patience: int | None, classes: bool
) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, 12).astype(float)
    options = GreedyOptions(8, n_start, patience)
    candidates = list(range(n_members))
    if classes:
        library = rng.dirichlet([0.5, 0.5, 0.5], (n_members, 12))
        codes = rng.integers(0, 3, 12)
        loss: Any = LogLossOfMean(library, codes, weight)

        def score(mean: Any) -> float:
            said = np.maximum(mean[np.arange(12), codes], np.finfo(float).eps)
            return float(np.average(np.log(said), weights=weight))
    else:
        library, truth = rng.normal(size=(n_members, 12, 2)), rng.normal(size=(12, 2))
        loss = SquaredErrorOfMean(library, truth, weight)

        def score(mean: Any) -> float:
            return -float(np.average(((mean - truth) ** 2).mean(axis=1), weights=weight))

    members, scores = naive_path(library, score, candidates, 8, n_start, patience)
    fast = greedy_path(library, loss, candidates, options)
    slow = greedy_path(library, ScoreOfMean(library, score), candidates, options)

    assert fast.members == slow.members == members
    np.testing.assert_allclose(fast.scores, scores, rtol=1e-9, atol=1e-12)
    best = next(k for k, own in enumerate(scores, start=1) if own >= max(scores) - 1e-12 * abs(max(scores)))
    counts = np.bincount(members[:best], minlength=n_members)
    np.testing.assert_allclose(shares(fast, n_members), counts / counts.sum())


def test_of_members_that_help_alike_the_one_that_is_in_is_added_again() -> None:
    said = np.array([[[-3.0]], [[1.0]]])
    loss = SquaredErrorOfMean(said, np.array([[0.0]]), np.ones(1))

    path = greedy_path(said, loss, [0, 1], GreedyOptions(max_iter=2))

    assert path.members == [1, 1]
    assert path.scores == [-1.0, -1.0]
    assert path.best == 1


def score_out_of_fold(model: Any, names: list[str], metric: Any) -> float:
    answers = np.mean([model.oof_predictions_[name] for name in names], axis=0)
    return float(metric(answers))


@pytest.mark.parametrize(
    ("scoring", "metric"),
    [
        (None, lambda said: -np.mean((said - NUMBERS) ** 2)),
        ("neg_mean_absolute_error", lambda said: -np.abs(said - NUMBERS).mean()),
        (make_scorer(mean_absolute_error, greater_is_better=False), lambda s: -np.abs(s - NUMBERS).mean()),
    ],
)
def test_the_scores_on_the_path_are_those_of_the_means_out_of_fold(scoring: Any, metric: Any) -> None:
    model = SelectionRegressor(REGRESSORS, scoring=scoring, max_iter=8, random_state=0).fit(X, NUMBERS)

    names = [step.member for step in model.selection_path_]
    for k, step in enumerate(model.selection_path_, start=1):
        assert step.score == pytest.approx(score_out_of_fold(model, names[:k], metric))
    best = 1 + int(np.argmax([step.score for step in model.selection_path_]))
    assert [step.kept for step in model.selection_path_] == [k < best for k in range(len(names))]
    counts = np.array([names[:best].count(name) for name in model.candidates_])
    np.testing.assert_allclose(model.weights_, counts / best)
    assert max(step.score for step in model.selection_path_) >= max(
        metric(model.oof_predictions_[name]) for name in model.candidates_
    )


def test_classes_are_chosen_by_log_loss_or_by_any_score() -> None:
    model = SelectionClassifier(CLASSIFIERS, random_state=0).fit(X, LABELS)
    by_accuracy = SelectionClassifier(CLASSIFIERS, scoring="accuracy", random_state=0).fit(X, LABELS)

    first = model.selection_path_[0]
    assert first.score == pytest.approx(-log_loss(LABELS, model.oof_predictions_[first.member]))
    first = by_accuracy.selection_path_[0]
    said = model.classes_[by_accuracy.oof_predictions_[first.member].argmax(axis=1)]
    assert first.score == pytest.approx(accuracy_score(LABELS, said))


def test_the_answer_is_the_weighted_mean_of_the_chosen_members_fitted_to_all_rows() -> None:
    model = SelectionRegressor(REGRESSORS, random_state=0).fit(X, NUMBERS)
    expected = sum(
        weight * dict(REGRESSORS)[name].fit(X, NUMBERS).predict(X)
        for name, weight in zip(model.candidates_, model.weights_, strict=True)
        if weight
    )

    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-10)
    assert model.weights_.sum() == pytest.approx(1)


class Counted(RegressorMixin, BaseEstimator):
    """Predicts a constant, and counts its fits."""

    fits: dict[float, int] = {}

    def __init__(self, answer: float = 0.0) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> "Counted":
        Counted.fits[self.answer] = Counted.fits.get(self.answer, 0) + 1
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.answer)


@pytest.mark.parametrize(("members", "more"), [("refit", 1), ("folds", 0)])
def test_only_what_was_chosen_is_fitted_to_all_rows(members: str, more: int) -> None:
    Counted.fits.clear()
    library = [(f"is{answer}", Counted(answer)) for answer in (0.0, 1.0, 50.0)]

    model = SelectionRegressor(library, cv=3, members=members).fit(X, np.full(150, 0.5))

    assert Counted.fits == {0.0: 3 + more, 1.0: 3 + more, 50.0: 3}
    assert model.weights_.tolist() == [0.5, 0.5, 0.0]
    np.testing.assert_allclose(model.predict(X), 0.5)
    assert len(model.estimators_) == 2
    assert model.named_estimators_["is50.0"] == "drop"


def test_what_is_scored_out_of_fold_was_chosen_without_these_rows() -> None:
    folds = list(KFold(3).split(X))
    model = SelectionRegressor(REGRESSORS, cv=folds, max_iter=6).fit(X, NUMBERS)
    library = np.stack([model.oof_predictions_[name] for name in model.candidates_])
    said = np.empty(150)
    for train, test in folds:

        def score(mean: Any, train: Any = train) -> float:
            return -float(np.mean((mean[train] - NUMBERS[train]) ** 2))

        members, scores = naive_path(library, score, [0, 1, 2, 3], 6, 1, 10)
        kept = members[: int(np.argmax(scores)) + 1]
        said[test] = library[kept][:, test].mean(axis=0)

    expected = 1 - np.mean((said - NUMBERS) ** 2) / NUMBERS.var()
    assert model.oof_score_ == pytest.approx(expected)


def test_bags_choose_from_some_of_the_candidates_and_are_averaged() -> None:
    model = SelectionRegressor(REGRESSORS, n_bags=6, max_candidates=2, max_iter=5, random_state=0)
    model.fit(X, NUMBERS)

    each = []
    for bag in range(6):
        steps = [step for step in model.selection_path_ if step.bag == bag]
        assert len({step.member for step in steps}) <= 2
        kept = [step.member for step in steps if step.kept]
        each.append([kept.count(name) / len(kept) for name in model.candidates_])
    np.testing.assert_allclose(model.weights_, np.mean(each, axis=0))
    assert (model.weights_ > 0).sum() > 2


def test_the_best_are_the_start() -> None:
    model = SelectionRegressor(REGRESSORS, n_start=3, max_iter=3, random_state=0).fit(X, NUMBERS)

    errors = {name: np.mean((model.oof_predictions_[name] - NUMBERS) ** 2) for name in model.candidates_}
    assert [step.member for step in model.selection_path_] == sorted(errors, key=errors.get)[:3]  # type: ignore[arg-type]


def test_members_that_were_fitted_before_are_taken_as_they_are() -> None:
    fitted = [(name, learner.fit(X[:80], NUMBERS[:80])) for name, learner in REGRESSORS]
    model = SelectionRegressor(fitted, cv="prefit").fit(X[80:], NUMBERS[80:])

    chosen = dict(fitted)
    assert all(any(own is each for each in chosen.values()) for own in model.estimators_)
    np.testing.assert_allclose(
        model.predict(X[80:]),
        sum(w * chosen[n].predict(X[80:]) for n, w in zip(model.candidates_, model.weights_, strict=True)),
    )


def test_rows_that_are_never_held_out_take_no_part_in_the_choice() -> None:
    model = SelectionRegressor(REGRESSORS, cv=TimeSeriesSplit(3), random_state=0).fit(X, NUMBERS)
    held = model.oof_coverage_ > 0

    assert 0 < held.sum() < 150
    step = model.selection_path_[0]
    said = model.oof_predictions_[step.member]
    assert np.isnan(said[~held]).all()
    assert step.score == pytest.approx(-np.mean((said[held] - NUMBERS[held]) ** 2))


def test_a_weight_of_two_is_the_row_twice_for_the_same_folds() -> None:
    weight = RNG.integers(0, 3, 150)
    fold = np.arange(150) % 3

    def folds(rows: Any) -> Any:
        return [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)]

    library = [("ridge", Ridge()), *REGRESSORS[2:]]
    twice = np.repeat(np.arange(150), weight)
    one = SelectionRegressor(library, cv=folds(np.arange(150))).fit(X, NUMBERS, sample_weight=weight)
    two = SelectionRegressor(library, cv=folds(twice)).fit(X[twice], NUMBERS[twice])

    np.testing.assert_allclose(one.weights_, two.weights_)
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-9)


def test_a_score_that_cannot_be_had_is_named() -> None:
    with pytest.raises(InvalidParameter, match="scoring='roc_auc' cannot score the 150 rows"):
        SelectionClassifier(CLASSIFIERS, scoring="roc_auc").fit(X, LABELS)
    with pytest.raises(InvalidInput, match="is nan on the 150 rows"):
        SelectionRegressor(REGRESSORS, scoring=lambda *_: float("nan")).fit(X, NUMBERS)


def test_several_targets_are_answered_together() -> None:
    Y = np.stack([NUMBERS, 2 * NUMBERS], axis=1)
    model = SelectionRegressor(REGRESSORS, random_state=0).fit(X, Y)

    assert model.predict(X).shape == (150, 2)
    assert model.oof_score_ > 0.5
