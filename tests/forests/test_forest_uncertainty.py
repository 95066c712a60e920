"""What a forest does not know: spread, quantiles, intervals, variances, and sets of classes."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from coterie import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.errors import InvalidInput, InvalidParameter
from coterie.forests._regressor_base import LeafTargets
from coterie.forests.jackknife import jackknife_plus
from tests.naive.forest_oob import answers_of_trees, draws


def noisy(n_rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A line whose noise grows from left to right."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(n_rows, 2))
    return X, 3 * X[:, 0] + X[:, 0] * rng.normal(size=n_rows)


X, Y = noisy(600, 0)
NEW, NEW_Y = noisy(600, 1)
FOREST = RandomForestRegressor(80, min_samples_leaf=5, max_features=None, random_state=0).fit(X, Y)


def test_the_spread_is_that_of_the_trees() -> None:
    mean, spread = FOREST.predict(NEW, return_std=True)

    np.testing.assert_array_equal(mean, FOREST.predict(NEW))
    np.testing.assert_allclose(spread, answers_of_trees(FOREST, NEW)[:, :, 0].std(axis=1), rtol=1e-12)


def test_the_spread_of_several_outputs_has_a_column_for_each() -> None:
    model = ExtraTreesRegressor(6, random_state=0).fit(X, np.column_stack([Y, -Y]))
    mean, spread = model.predict(NEW, return_std=True)

    assert mean.shape == spread.shape == (600, 2)
    np.testing.assert_allclose(spread[:, 0], spread[:, 1], rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_are_those_of_the_targets_in_the_leaves(weighted: bool) -> None:
    weight = np.random.default_rng(2).choice([0.0, 0.3, 1.0, 2.5], 600) if weighted else None
    model = RandomForestRegressor(9, min_samples_leaf=8, random_state=0).fit(X, Y, sample_weight=weight)
    counts, leaves, new_leaves = draws(model, 600), model.apply(X), model.apply(NEW[:25])
    own = np.ones(600) if weight is None else np.where(weight > 0, weight / np.maximum(1, np.ceil(weight)), 0)

    for row in range(25):
        total = np.zeros(600)
        for tree in range(9):
            there = counts[:, tree] * own * (leaves[:, tree] == new_leaves[row, tree])
            total += there / there.sum()
        order = np.argsort(Y)
        reached = np.cumsum(total[order]) / 9
        expected = [Y[order][np.searchsorted(reached, q - 1e-9)] for q in (0.1, 0.5, 0.9)]
        np.testing.assert_array_equal(
            model.predict_quantiles(NEW[row : row + 1], [0.1, 0.5, 0.9])[0], expected
        )


def test_quantiles_have_their_share_of_new_targets_below_them() -> None:
    said = FOREST.predict_quantiles(NEW, [0.9, 0.1, 0.5])

    assert said.shape == (600, 3)
    np.testing.assert_allclose((NEW_Y[:, None] <= said).mean(axis=0), [0.9, 0.1, 0.5], atol=0.05)
    assert (said[:, 1] <= said[:, 2]).all()
    np.testing.assert_array_equal(FOREST.predict_quantiles(NEW, 0.5), said[:, 2])


def test_quantiles_out_of_bag_use_the_trees_that_did_not_draw_a_row() -> None:
    model = RandomForestRegressor(6, min_samples_leaf=4, random_state=0).fit(X, Y)
    held = LeafTargets(Y)
    counts, leaves = draws(model, 600), model.apply(X)
    held.add(leaves.T, counts.T)

    found = model.oob_quantiles([0.25, 0.75])

    np.testing.assert_array_equal(found, held.quantiles(leaves, [0.25, 0.75], counts == 0))
    np.testing.assert_array_equal(np.isnan(found[:, 0]), model.oob_coverage_ == 0)
    assert abs((FOREST.oob_quantiles(0.75) >= Y).mean() - 0.75) < 0.05


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_intervals_hold_as_often_as_promised(alpha: float) -> None:
    ends = FOREST.predict_interval(NEW, alpha)
    inside = (ends[:, 0] <= NEW_Y) & (ends[:, 1] >= NEW_Y)

    assert ends.shape == (600, 2)
    assert abs(inside.mean() - (1 - alpha)) < 0.04
    mean = FOREST.predict(NEW)
    assert ((ends[:, 0] < mean) & (mean < ends[:, 1])).all()


def test_intervals_count_a_heavy_row_as_often_as_it_weighs() -> None:
    weight = np.where(np.arange(200) % 4 == 0, 3, 1)
    weighted = RandomForestRegressor(30, random_state=0).fit(X[:200], Y[:200], sample_weight=weight)
    repeated = RandomForestRegressor(30, random_state=0)
    repeated.fit(np.repeat(X[:200], weight, axis=0), np.repeat(Y[:200], weight))

    np.testing.assert_array_equal(weighted.predict(NEW), repeated.predict(NEW))
    one, other = weighted.predict_interval(NEW), repeated.predict_interval(NEW)
    # Trees that drew one copy of a row saw the others, too; apart from that they are the same.
    assert 0.8 < np.diff(one).mean() / np.diff(other).mean() < 2


def test_few_rows_promise_little() -> None:
    model = RandomForestRegressor(20, random_state=0).fit(X[:5], Y[:5])

    assert np.isinf(model.predict_interval(NEW[:3], 0.1)).all()
    assert np.isfinite(model.predict_interval(NEW[:3], 0.4)).all()


def test_the_variance_of_the_mean_is_about_that_over_other_tables() -> None:
    at = np.array([[1.0, 2.0], [3.0, 2.0]])
    settings: dict[str, Any] = {"min_samples_leaf": 10, "max_features": None, "random_state": 0}
    means = [RandomForestRegressor(60, **settings).fit(*noisy(200, seed)).predict(at) for seed in range(60)]
    true = np.var(means, axis=0)

    said = [
        RandomForestRegressor(600, **settings).fit(*noisy(200, seed)).predict_variance(at)
        for seed in range(5)
    ]

    assert (np.abs(np.log(np.mean(said, axis=0) / true)) < np.log(2)).all()
    assert RandomForestRegressor(20).fit(X, np.column_stack([Y, Y])).predict_variance(at).shape == (2, 2)


def test_variances_of_probabilities_have_a_column_for_each_class() -> None:
    y = np.digitize(Y, [3, 8])
    model = RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(X, y)
    several = RandomForestClassifier(5, random_state=0).fit(X, np.column_stack([y, y > 0]))
    without = ExtraTreesClassifier(30, max_samples=0.5, random_state=0).fit(X, y)

    assert model.predict_variance(NEW).shape == (600, 3)
    assert model.predict_variance(NEW).max() > 0
    assert [part.shape for part in several.predict_variance(NEW)] == [(600, 3), (600, 2)]
    assert without.predict_variance(NEW).max() > 0
    with pytest.raises(InvalidInput, match="two copies of a row"):
        ExtraTreesClassifier(9, max_samples=0.5).fit(X, y, sample_weight=np.full(600, 2)).predict_variance(
            NEW
        )


@pytest.mark.parametrize("method", ["adaptive", "threshold"])
def test_sets_hold_the_class_as_often_as_promised(method: Any) -> None:
    classes, new_classes = (np.array(["a", "b", "c"])[np.digitize(y, [3, 8])] for y in (Y, NEW_Y))
    model = RandomForestClassifier(60, min_samples_leaf=5, random_state=0).fit(X, classes)

    sets = model.predict_set(NEW, 0.1, method=method)

    assert sets.shape == (600, 3)
    assert sets.any(axis=1).all()
    assert sets.sum(axis=1).mean() < 2.5
    held = sets[np.arange(600), np.searchsorted(model.classes_, new_classes)]
    assert abs(held.mean() - 0.9) < 0.05


def test_class_weights_do_not_change_how_often_sets_may_miss() -> None:
    y, new_y = (np.where(values > 8, "rare", "usual") for values in (Y, NEW_Y))
    model = RandomForestClassifier(60, min_samples_leaf=5, class_weight={"usual": 50.0}, random_state=0)

    sets = model.fit(X, y).predict_set(NEW, 0.1, method="threshold")

    held = sets[np.arange(600), np.searchsorted(model.classes_, new_y)]
    assert abs(held.mean() - 0.9) < 0.05


METHODS: list[tuple[Any, str, tuple[Any, ...]]] = [
    (RandomForestRegressor, "predict_quantiles", (NEW, 0.5)),
    (RandomForestRegressor, "oob_quantiles", (0.5,)),
    (RandomForestRegressor, "predict_interval", (NEW,)),
    (RandomForestRegressor, "predict_variance", (NEW,)),
    (RandomForestClassifier, "predict_set", (NEW,)),
    (RandomForestClassifier, "prototypes", (X,)),
    (RandomForestClassifier, "oob_importances", ()),
    (RandomForestClassifier, "proximities", ()),
    (RandomForestClassifier, "outlier_measure", ()),
]


@pytest.mark.parametrize(("forest", "method", "given"), METHODS)
def test_what_needs_the_training_rows_says_so(forest: Any, method: str, given: tuple[Any, ...]) -> None:
    y = Y if forest is RandomForestRegressor else (Y > 5)
    model = forest(4, keep_rows=False, random_state=0).fit(X, y)

    with pytest.raises(
        InvalidInput, match=rf"{method} needs the training rows.*keep_rows=True.*fit it again"
    ):
        getattr(model, method)(*given)

    kept = forest(4, keep_rows=True, random_state=0).fit(X, y)
    unpickled = pickle.loads(pickle.dumps(kept))
    for own, other in zip(
        np.ravel(getattr(unpickled, method)(*given)), np.ravel(getattr(kept, method)(*given)), strict=True
    ):
        assert str(own) == str(other)


@pytest.mark.parametrize(("forest", "method", "given"), [each for each in METHODS if each[1] != "prototypes"])
def test_what_needs_rows_out_of_bag_says_so(forest: Any, method: str, given: tuple[Any, ...]) -> None:
    if method in ("predict_quantiles", "proximities", "outlier_measure"):
        assert method not in ("oob_importances", "predict_interval")  # these need no bag
        return
    y = Y if forest is RandomForestRegressor else (Y > 5)

    with pytest.raises(InvalidInput, match=rf"{method} needs rows out of bag.*bootstrap=True"):
        getattr(forest(4, bootstrap=False).fit(X, y), method)(*given)


def test_one_output_is_asked_for() -> None:
    numbers = RandomForestRegressor(3).fit(X, np.column_stack([Y, Y]))
    classes = RandomForestClassifier(3).fit(X, np.column_stack([Y > 0, Y > 5]))

    for model, method, given in (
        (numbers, "predict_interval", (X,)),
        (numbers, "predict_quantiles", (X, 0.5)),
        (classes, "predict_set", (X,)),
        (classes, "prototypes", (X,)),
    ):
        with pytest.raises(InvalidInput, match=f"{method} is for one output"):
            getattr(model, method)(*given)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, "much", None])
def test_a_wrong_share_is_refused(alpha: Any) -> None:
    with pytest.raises(InvalidParameter, match="alpha"):
        FOREST.predict_interval(NEW, alpha)
    with pytest.raises(InvalidParameter, match="alpha"):
        RandomForestClassifier(9).fit(X, Y > 5).predict_set(NEW, alpha)


@pytest.mark.parametrize("q", [1.5, [-0.1], "half", [[0.5]], np.nan])
def test_a_wrong_quantile_is_refused(q: Any) -> None:
    with pytest.raises(InvalidParameter, match="q="):
        FOREST.predict_quantiles(NEW, q)


def test_at_most_2000_rows_calibrate_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    model = RandomForestRegressor(20, random_state=0).fit(X, X[:, 0])
    given = []

    def watched(predictions: Any, out: Any, residuals: Any, alpha: float) -> Any:
        given.append(len(residuals))
        return jackknife_plus(predictions, out, residuals, alpha)

    monkeypatch.setattr("coterie.forests._regressor_base.jackknife_plus", watched)
    model.predict_interval(X[:3])

    assert given == [2000]
