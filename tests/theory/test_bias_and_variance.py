"""Aggregation takes the variance: the theorem in worlds small enough to be counted, and on tables."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from coterie import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from coterie.diagnostics import bias_variance

# All rows that there are, each as likely; a sample is three of them, drawn with replacement.
POPULATION = ((0.0, 0.0), (0.0, 1.0), (1.0, 2.0), (1.0, 6.0))
SAMPLES = [np.array(rows) for rows in product(POPULATION, repeat=3)]


def wave(seed: int, n_rows: int = 100) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n_rows, 1))
    return X, np.sin(2 * X[:, 0]) + rng.normal(scale=0.3, size=n_rows)


GRID = np.linspace(-2.8, 2.8, 60)[:, None]
TRUTH = np.sin(2 * GRID[:, 0])


def parts(model: Any, n_repeats: int = 60) -> Any:
    return bias_variance(
        model, GRID, TRUTH, draw=wave, truth=TRUTH, noise=0.09, n_repeats=n_repeats, random_state=0
    )


@pytest.mark.parametrize("learner", [DecisionTreeRegressor(), LinearRegression()])
@pytest.mark.parametrize(("x", "targets"), [(0.0, [0.0, 1.0]), (1.0, [2.0, 6.0])])
def test_the_error_of_one_is_the_error_of_the_aggregate_and_the_variance(
    learner: Any, x: float, targets: list[float]
) -> None:
    """Over all 64 samples and all new targets: nothing is left to chance."""
    fits = np.array([learner.fit(rows[:, :1], rows[:, 1]).predict([[x]])[0] for rows in SAMPLES])
    new = np.array(targets)
    aggregate = fits.mean()

    of_one = ((new[:, None] - fits) ** 2).mean()
    of_the_aggregate = ((new - aggregate) ** 2).mean()
    assert of_one == pytest.approx(of_the_aggregate + fits.var(), rel=1e-12)
    assert of_one > of_the_aggregate


def test_the_equation_does_not_hold_for_targets_that_the_fits_have_seen() -> None:
    """The theorem needs a new target, independent of the sample; the product in the middle is not zero otherwise."""
    fits = [DecisionTreeRegressor().fit(rows[:, :1], rows[:, 1]) for rows in SAMPLES]
    at_zero = np.array([fit.predict([[0.0]])[0] for fit in fits])
    seen = [
        (fit.predict([[0.0]])[0], target)
        for fit, rows in zip(fits, SAMPLES, strict=True)
        for target in rows[rows[:, 0] == 0, 1]
    ]
    of_one = np.mean([(target - prediction) ** 2 for prediction, target in seen])
    of_the_aggregate = np.mean([(target - at_zero.mean()) ** 2 for _, target in seen])

    assert of_one < of_the_aggregate


def test_the_mean_of_independent_members_has_a_part_of_the_variance_of_one() -> None:
    fits = np.array([DecisionTreeRegressor().fit(*wave(seed)).predict(GRID) for seed in range(400)])
    alone = fits.var(axis=0).mean()

    for m in (2, 5, 10, 20):
        means = fits.reshape(400 // m, m, len(GRID)).mean(axis=1)
        assert m * means.var(axis=0).mean() == pytest.approx(alone, rel=0.05)
    assert fits.mean(axis=0) == pytest.approx(TRUTH, abs=0.1)


def test_correlated_members_keep_the_part_of_the_variance_that_they_share() -> None:
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=(20_000, 1)), rng.normal(size=(20_000, 10))
    members = np.sqrt(0.3) * shared + np.sqrt(0.7) * own

    assert members.mean(axis=1).var() == pytest.approx(0.3 + 0.7 / 10, rel=0.03)


def test_trees_vary_and_lines_are_biased() -> None:
    tree, line = parts(DecisionTreeRegressor()), parts(LinearRegression())

    assert tree.bias[0] < 0.01 < 0.05 < tree.variance[0]
    assert line.variance[0] < 0.02 < 0.4 < line.bias[0]
    for own in (tree, line):
        assert own.error == pytest.approx(own.bias + own.variance + own.noise)


def test_bagging_helps_where_the_variance_is_large_and_hardly_elsewhere() -> None:
    tree, bagged_tree = parts(DecisionTreeRegressor()), parts(BaggingRegressor(n_estimators=25))
    line, bagged_line = parts(LinearRegression(), 20), parts(BaggingRegressor(LinearRegression(), 10), 20)

    assert bagged_tree.error[0] < 0.8 * tree.error[0]
    assert abs(bagged_tree.bias[0] - tree.bias[0]) < 0.005
    assert bagged_line.error[0] == pytest.approx(line.error[0], rel=0.02)


def test_members_of_small_samples_vary_more_and_their_mean_varies_less() -> None:
    whole, small = (
        parts(DecisionTreeRegressor()),
        parts(BaggingRegressor(n_estimators=50, max_samples=0.3)),
    )
    samples = [wave(seed) for seed in range(60)]
    member = np.var([DecisionTreeRegressor().fit(X[:30], y[:30]).predict(GRID) for X, y in samples], axis=0)

    assert member.mean() > 1.1 * whole.variance[0]
    assert small.variance[0] < 0.3 * whole.variance[0]
    assert small.error[0] < whole.error[0]


@pytest.mark.parametrize("seed", range(3))
def test_more_rows_do_not_steady_a_tree_that_follows_every_row(seed: int) -> None:
    def variance(learner: Any, n_rows: int) -> float:
        fits = [learner.fit(*wave(100 * seed + k, n_rows)).predict(GRID) for k in range(40)]
        return float(np.var(fits, axis=0).mean())

    assert variance(DecisionTreeRegressor(), 800) > 0.8 * variance(DecisionTreeRegressor(), 100)
    assert variance(LinearRegression(), 800) < 0.25 * variance(LinearRegression(), 100)


def test_bagging_a_bad_classifier_makes_it_worse() -> None:
    """Labels that alternate: the nearest row has the other label, so one neighbour is wrong, and a majority more so."""
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    model = BaggingClassifier(KNeighborsClassifier(1), 101, random_state=0).fit(X, y)
    alone = []
    for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        left = np.setdiff1d(np.arange(60), drawn)
        alone.append((member.predict(X[left]) != y[left]).mean())

    assert 0.8 < np.mean(alone) < 0.95
    assert model.oob_score_ == 0.0


def test_bagging_a_good_classifier_makes_it_better() -> None:
    """The mean over many tables: one tree, and 25 of them."""
    errors = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(700, 2))
        y = ((X**2).sum(axis=1) < 0.6) ^ (rng.random(700) < 0.15)
        models = DecisionTreeClassifier(), BaggingClassifier(n_estimators=25, random_state=0)
        errors.append([1 - model.fit(X[:200], y[:200]).score(X[200:], y[200:]) for model in models])
    tree, bagged = np.mean(errors, axis=0)

    assert bagged < tree - 0.03


def test_bagging_support_vector_machines_makes_them_steadier() -> None:
    """Each is fitted to half of the rows, and all have one vote."""
    errors = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(700, 2))
        y = ((X**2).sum(axis=1) < 0.6) ^ (rng.random(700) < 0.15)
        model = BaggingClassifier(
            SVC(C=100, gamma=5), 15, bootstrap=False, max_samples=0.5, voting="hard", random_state=0
        ).fit(X[:200], y[:200])
        alone = [1 - member.score(X[200:], y[200:]) for member in model.estimators_]
        errors.append([np.mean(alone), 1 - model.score(X[200:], y[200:])])
    member, together = np.mean(errors, axis=0)

    assert together < member - 0.03


def test_the_mean_of_lines_is_a_line() -> None:
    X, y = wave(0)
    model = BaggingRegressor(LinearRegression(), 20, random_state=0).fit(X, y)
    bends = np.diff(model.predict(np.linspace(-3, 3, 50)[:, None]), n=2)

    assert np.abs(bends).max() < 1e-12


def test_the_vote_of_linear_classifiers_is_not_linear() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
    y = (X[:, 0] > -0.2) & (X[:, 1] > -0.2)
    model = BaggingClassifier(
        Perceptron(), 100, max_samples=6, bootstrap="balanced", voting="hard", random_state=0
    ).fit(X[:400], y[:400])
    members = [member.score(X[400:], y[400:]) for member in model.estimators_]
    answers = model.predict(X)
    line = LogisticRegression(C=1e6, max_iter=2000).fit(X, answers)

    assert model.score(X[400:], y[400:]) > 0.04 + np.mean(members)
    assert line.score(X, answers) < 0.985


def test_columns_of_noise_cost_a_bag_of_trees_less_than_one_tree() -> None:
    losses = []
    for seed in range(10):
        X, y = make_friedman1(600, n_features=5, noise=1, random_state=seed)
        noise = np.random.default_rng(seed).normal(size=(600, 30))
        losses.append(
            [
                ((model.fit(table[:200], y[:200]).predict(table[200:]) - y[200:]) ** 2).mean()
                for table in (X, np.hstack([X, noise]))
                for model in (DecisionTreeRegressor(), BaggingRegressor(n_estimators=25, random_state=0))
            ]
        )
    tree, bagged, tree_with_noise, bagged_with_noise = np.mean(losses, axis=0)

    assert bagged_with_noise - bagged < 0.8 * (tree_with_noise - tree)
    assert bagged_with_noise < tree
