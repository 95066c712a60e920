"""Intervals and sets of boosting: coverage of new rows, what a fit must have held out, files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import coterie
from coterie import (
    CommitteeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from coterie.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 3, size=(3000, 2))
Y = np.exp(X[:, 0]) * (1 + 0.25 * RNG.normal(size=3000)).clip(0.05)  # positive, and errors that grow
QUICK: dict[str, Any] = {
    "n_folds": 4,
    "n_estimators": 60,
    "learning_rate": 0.2,
    "early_stopping": True,
    "n_iter_no_change": 5,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def model() -> GradientBoostingRegressor:
    return GradientBoostingRegressor(**QUICK).fit(X[:1500], Y[:1500])


def by_fifth(model: Any, alpha: float) -> tuple[Any, Any]:
    """Coverage of new rows and widths, by fifths of the prediction."""
    new, truth = X[1500:], Y[1500:]
    low, high = model.predict_interval(new, alpha).T
    fifth = np.argsort(np.argsort(model.predict(new))) * 5 // len(new)
    inside = (truth >= low) & (truth <= high)
    return (
        np.array([inside[fifth == own].mean() for own in range(5)]),
        np.array([(high - low)[fifth == own].mean() for own in range(5)]),
    )


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_every_fifth_of_the_predictions_is_covered(model: GradientBoostingRegressor, alpha: float) -> None:
    coverage, widths = by_fifth(model, alpha)
    assert coverage.mean() == pytest.approx(1 - alpha, abs=0.04)
    assert coverage.min() > 1 - alpha - 0.06
    assert widths[4] > 3 * widths[0]


@pytest.mark.parametrize("kind", ["forest", "committee"])
def test_forests_and_committees_adapt_too(kind: str) -> None:
    forest = RandomForestRegressor(60, min_samples_leaf=3, random_state=0)
    own: Any = (
        forest if kind == "forest" else CommitteeRegressor(None, portfolio=[("a", forest)], random_state=0)
    )
    own.fit(X[:1500], Y[:1500])
    coverage, widths = by_fifth(own, 0.1)

    assert 0.87 < coverage.mean() < 0.94
    assert coverage.min() > 0.84
    assert widths[4] > 3 * widths[0]
    assert own.predict_interval(X)[:, 0].min() >= 0


def test_ends_are_never_negative_where_no_target_is(model: GradientBoostingRegressor) -> None:
    assert model.predict_interval(X, 0.001)[:, 0].min() >= 0
    moved = GradientBoostingRegressor(**QUICK).fit(X[:1500], Y[:1500] - 5)
    assert moved.predict_interval(X)[:, 0].min() < 0


def test_wider_intervals_hold_narrower_ones(model: GradientBoostingRegressor) -> None:
    widths = [np.diff(model.predict_interval(X, alpha)).mean() for alpha in (0.3, 0.1, 0.02)]
    assert widths == sorted(widths)


def test_files_keep_what_calibrates(model: GradientBoostingRegressor, tmp_path: Path) -> None:
    coterie.save(model, tmp_path / "m.coterie")
    again = coterie.load(tmp_path / "m.coterie")
    assert_array_equal(again.predict_interval(X[:9]), model.predict_interval(X[:9]))


def test_an_offset_moves_the_interval(model: GradientBoostingRegressor) -> None:
    moved = model.predict_interval(X[:5], offset=np.full(5, 100.0))
    assert_allclose(moved.mean(axis=1) - model.predict(X[:5]), 100.0, rtol=1e-6)


@pytest.mark.parametrize("has_eval_set", [False, True])
def test_a_fit_without_rows_held_out_says_what_to_set(has_eval_set: bool) -> None:
    settings: dict[str, Any] = {"n_folds": 3 if has_eval_set else 1, "n_estimators": 5, "random_state": 0}
    own, kinds = X[:200], Y > 5
    regressor = GradientBoostingRegressor(**settings).fit(
        own, Y[:200], eval_set=(X[200:300], Y[200:300]) if has_eval_set else None
    )
    classifier = GradientBoostingClassifier(**settings).fit(
        own, kinds[:200], eval_set=(X[200:300], kinds[200:300]) if has_eval_set else None
    )
    for call in (lambda: regressor.predict_interval(X), lambda: classifier.predict_set(X)):
        with pytest.raises(InvalidInput, match="Set n_folds=5, and fit without an eval_set") as raised:
            call()
        assert raised.value.parameter == "n_folds"


def test_a_copy_with_fewer_rounds_has_none(model: GradientBoostingRegressor) -> None:
    with pytest.raises(InvalidInput, match="or fewer rounds were kept"):
        model.with_rounds(2).predict_interval(X)


def test_quantiles_and_several_targets_are_refused() -> None:
    levels = GradientBoostingRegressor(**QUICK, loss="quantile", quantile=[0.1, 0.9]).fit(X[:300], Y[:300])
    with pytest.raises(InvalidInput, match="one prediction a row, and this model has 2"):
        levels.predict_interval(X)
    several = GradientBoostingRegressor(**QUICK).fit(X[:300], np.column_stack([Y, Y])[:300])
    with pytest.raises(InvalidInput):
        several.predict_interval(X)
    with pytest.raises(InvalidParameter, match="alpha"):
        levels.predict_interval(X, 1.5)


@pytest.mark.parametrize("method", ["adaptive", "threshold"])
def test_sets_hold_the_true_class_as_often_as_promised(method: Any) -> None:
    kinds = np.digitize(X[:, 0] + 0.6 * RNG.normal(size=3000), [1.0, 2.0])
    own = GradientBoostingClassifier(**QUICK).fit(X[:1500], kinds[:1500])
    sets = own.predict_set(X[1500:], 0.1, method=method)

    assert sets.shape == (1500, 3)
    assert sets.any(axis=1).all()
    assert sets[np.arange(1500), kinds[1500:]].mean() == pytest.approx(0.9, abs=0.03)
    assert sets.sum() < 0.8 * sets.size


def test_rows_without_weight_calibrate_nothing() -> None:
    weight = np.ones(1500)
    weight[:700] = 0.0
    far = Y[:1500].copy()
    far[:700] += 1000.0
    own = GradientBoostingRegressor(**QUICK).fit(X[:1500], far, weight)
    assert np.isin(own._calibration.rows, np.arange(700, 1500)).all()
    assert np.diff(own.predict_interval(X[:50])).max() < 100
