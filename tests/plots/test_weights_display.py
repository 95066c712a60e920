"""The weights of the rows by round: against AdaBoost written out, against the fits themselves, and as pictures."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.ensemble import AdaBoostClassifier as SkAdaBoost
from sklearn.ensemble import AdaBoostRegressor as SkRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from coterie import AdaBoostClassifier, AdaBoostRegressor, RandomForestClassifier
from coterie.diagnostics import row_weights
from coterie.ensemble import AdaBoostClassifier as AsSklearn
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from coterie.plots import WeightsDisplay

X, Y = make_moons(80, noise=0.3, random_state=0)
THREE = np.array(["a", "b", "c"])[Y + (X[:, 0] > 1)]
WEIGHT = np.random.default_rng(0).integers(0, 4, 80).astype(float)


class Recorder(DecisionTreeClassifier):
    """A tree that remembers what it was given."""

    given: list[Any] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Recorder.given.append((np.asarray(X), sample_weight))
        return super().fit(X, y, sample_weight)


def samme_by_hand(model: Any, y: Any, first: np.ndarray) -> np.ndarray:
    """exp(-y f(x)) for two classes: weights of wrong rows times exp(2 vote), then normalised."""
    weights = [first / first.sum()]
    for member, vote in zip(model.estimators_, model.estimator_weights_, strict=True):
        wrong = member.predict(X) != y
        own = weights[-1] * np.exp(2 * vote * wrong)
        weights.append(own / own.sum())
    return np.stack(weights)


@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_weights_are_those_of_the_algorithm(y: Any, estimator: Any, weight: Any) -> None:
    model = AdaBoostClassifier(estimator, n_estimators=12).fit(X, y, weight)
    found = row_weights(model, X, y, weight).weights
    expected = samme_by_hand(model, y, np.ones(80) if weight is None else weight)

    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(found[-1], model.row_weights_, rtol=1e-9)
    # The weighted error of each member is that of its round, and 1/2 by the weights that follow it.
    for number, member in enumerate(model.estimators_):
        wrong = member.predict(X) != y
        assert found[number] @ wrong == pytest.approx(model.estimator_errors_[number])
        if len(model.classes_) == 2:
            assert found[number + 1] @ wrong == pytest.approx(0.5)


@pytest.mark.parametrize(
    "options",
    [
        {"algorithm": "confidence"},
        {"algorithm": "real"},
        {"algorithm": "gentle"},
        {"corrective": "exponential"},
        {"corrective": "margin", "nu": 0.2},
        {"learning_rate": 0.5},
        {"method": "resample"},
    ],
    ids=lambda own: next(iter(own.values())),
)
def test_every_algorithm_ends_with_the_weights_of_its_fit(options: dict[str, Any]) -> None:
    model = AdaBoostClassifier(n_estimators=8, random_state=0, **options).fit(X, THREE)
    found = row_weights(model, X, THREE)
    shorter = AdaBoostClassifier(n_estimators=4, random_state=0, **options).fit(X, THREE)

    np.testing.assert_array_equal(found.weights[-1], model.row_weights_)
    np.testing.assert_array_equal(found.weights[shorter.n_estimators_], shorter.row_weights_)
    assert (found.draws is not None) == (options.get("method") == "resample")


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_members_saw_these_weights_and_these_rows(weight: Any) -> None:
    for method in ("reweight", "resample"):
        Recorder.given = []
        model = AdaBoostClassifier(
            Recorder(max_depth=1),
            n_estimators=5,
            method=method,
            random_state=0,  # type: ignore[arg-type]
        )
        found = row_weights(model.fit(X, Y, weight), X, Y, weight)
        kept = np.arange(80) if weight is None else np.flatnonzero(weight)
        for number, (rows, given) in enumerate(Recorder.given):
            if method == "reweight":
                scale = 80 if weight is None else weight.sum()
                np.testing.assert_allclose(found.weights[number, kept] * scale, given, rtol=1e-12)
                continue
            assert found.draws is not None
            expected = X[np.repeat(np.arange(80), found.draws[number])]
            np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(expected, axis=0))


def test_there_are_draws_where_members_were_given_drawn_rows() -> None:
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=3, random_state=0).fit(X, Y)

    assert row_weights(model, X, Y).draws is None
    stumps = AdaBoostClassifier(n_estimators=3, method="resample", random_state=0).fit(X, Y)
    draws = row_weights(stumps, X, Y).draws
    assert draws is not None
    assert (draws.sum(axis=1) == 80).all()


def test_scikit_learn_and_ours_give_the_same_weights() -> None:
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    theirs = SkAdaBoost(tree, n_estimators=10, random_state=0).fit(X, Y)
    ours = AdaBoostClassifier(tree, n_estimators=10, random_state=0).fit(X, Y)
    mirror = AsSklearn(n_estimators=10, random_state=0).fit(X, Y)

    np.testing.assert_allclose(row_weights(theirs, X, Y).weights, row_weights(ours, X, Y).weights, atol=1e-9)
    assert row_weights(mirror, X, Y).weights.shape == (11, 80)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_weights_of_numbers(loss: str) -> None:
    y = X[:, 0] + X[:, 1] ** 2
    model = AdaBoostRegressor(n_estimators=6, loss=loss).fit(X, y, WEIGHT)  # type: ignore[arg-type]
    found = row_weights(model, X, y, WEIGHT).weights
    weight = WEIGHT / WEIGHT.sum()
    for number, member in enumerate(model.estimators_):
        np.testing.assert_allclose(found[number], weight, atol=1e-12)
        error = np.abs(member.predict(X) - y)
        share = error / error[WEIGHT > 0].max()
        losses = {"linear": share, "square": share**2, "exponential": 1 - np.exp(-share)}[loss]
        mean = weight @ losses
        assert mean == pytest.approx(model.estimator_errors_[number])
        weight = weight * (mean / (1 - mean)) ** (1 - losses)
        weight /= weight.sum()
    np.testing.assert_allclose(found[-1], weight, atol=1e-12)


def test_weights_of_numbers_of_scikit_learn_sum_to_one() -> None:
    y = X[:, 0] + X[:, 1] ** 2
    found = row_weights(SkRegressor(n_estimators=5, random_state=0).fit(X, y), X, y)

    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0)


def test_another_table_is_refused() -> None:
    model = AdaBoostClassifier(n_estimators=5).fit(X, Y)
    numbers = AdaBoostRegressor(n_estimators=5).fit(X, X[:, 0])
    with pytest.raises(InvalidInput, match="not those of fit"):
        row_weights(model, X[::-1], Y)
    with pytest.raises(InvalidInput, match="not those of fit"):
        row_weights(model, X[:-1], Y[:-1])
    with pytest.raises(InvalidInput, match="not those of fit"):
        row_weights(numbers, X, X[:, 1])
    with pytest.raises(InvalidType, match="AdaBoostClassifier or AdaBoostRegressor"):
        row_weights(RandomForestClassifier(2).fit(X, Y), X, Y)


MODEL = AdaBoostClassifier(n_estimators=20, method="resample", random_state=0).fit(X, Y)


def test_points_are_as_large_as_their_weights() -> None:
    display = WeightsDisplay.from_estimator(MODEL, X, Y, columns=(1, 0), rounds=[1, 7])
    first, seventh = display.panels()
    expected = 80 * row_weights(MODEL, X, Y).weights[6]

    assert (first.points[0].size == 1).all()
    np.testing.assert_array_equal(seventh.points[1].x, X[Y == 1, 1])
    np.testing.assert_allclose(seventh.points[1].size, np.clip(expected[Y == 1], 0.12, 40))
    assert len(display.frames()) == 20
    np.testing.assert_allclose(display.data["weight"][80:], expected)


def test_rows_that_were_not_drawn_are_not_shown() -> None:
    display = WeightsDisplay.from_estimator(MODEL, X, Y, columns=(0, 1), rounds=3, drawn=True)
    draws = row_weights(MODEL, X, Y).draws
    assert draws is not None
    (chart,) = display.panels()

    assert sum(len(points.x) for points in chart.points) == (draws[2] > 0).sum()
    assert sum(points.size.sum() for points in chart.points) == 80  # type: ignore[union-attr]


def test_curves_name_the_rows_with_the_largest_weight() -> None:
    display = WeightsDisplay.from_estimator(MODEL, X, Y)
    weights = row_weights(MODEL, X, Y).weights
    named = [line.label for line in display.chart().lines if not line.faint]
    last = display.frames()[-1].charts[0]

    assert named == [f"row {row}" for row in np.argsort(-weights.mean(axis=0), kind="stable")[:5]]
    assert [len(line.x) for line in last.lines if not line.faint] == [20] * 5


def test_draws_that_there_are_not() -> None:
    model = AdaBoostClassifier(n_estimators=5).fit(X, Y)
    with pytest.raises(InvalidParameter, match="drawn=True: members were given weights"):
        WeightsDisplay.from_estimator(model, X, Y, columns=(0, 1), drawn=True)
    with pytest.raises(InvalidParameter, match="drawn="):
        WeightsDisplay.from_estimator(MODEL, X, Y, drawn=True)
