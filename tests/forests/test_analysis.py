"""Breiman's toolbox: importances, proximities, outliers and prototypes of a fitted forest."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from coterie import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from coterie.errors import InvalidInput, InvalidParameter
from coterie.forests._proximity import outlier_measure
from tests.naive.forest_oob import draws

RNG = np.random.default_rng(3)
X = np.column_stack([RNG.normal(size=200), RNG.normal(size=200), RNG.integers(0, 2, 200), RNG.random(200)])
NUMBERS = 2 * X[:, 0] + X[:, 2] + 0.3 * RNG.normal(size=200)
CLASSES = np.where(NUMBERS > 0.5, "high", "low")


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_useful_features_stand_out_and_useless_ones_do_not(forest: Any) -> None:
    y = CLASSES if forest is RandomForestClassifier else NUMBERS
    model = forest(60, random_state=0).fit(X, y)
    test = model.oob_importances(n_repeats=2)

    assert test.importances.shape == (4, 60)
    assert test.importances_mean.argmax() == 0
    assert test.p_value[0] < 1e-6
    assert test.importances_mean[[1, 3]].max() < 0.2 * test.importances_mean[0]
    unbiased = model.unbiased_importances_
    assert unbiased.argmax() == 0
    # Impurity gives noise a share; out of bag it has none.
    assert model.feature_importances_[[1, 3]].min() > 0.05
    assert unbiased[[1, 3]].max() < 0.05 * unbiased[0]


def test_an_importance_is_the_increase_of_the_error() -> None:
    """A feature that alone decides: permuting it makes about half of the rows wrong."""
    x = np.arange(400.0) % 2
    model = RandomForestClassifier(30, random_state=0).fit(np.column_stack([x, np.zeros(400)]), x > 0)

    test = model.oob_importances(n_repeats=5)

    assert test.importances_mean[0] == pytest.approx(0.5, abs=0.03)
    assert test.importances_mean[1] == 0
    assert test.p_value[1] == 1


def test_proximities_are_shares_of_common_leaves() -> None:
    model = RandomForestClassifier(15, max_depth=4, random_state=0).fit(X, CLASSES)
    leaves = model.apply(X)
    shared = (leaves[:, None] == leaves[None]).mean(axis=2)

    assert sparse.issparse(model.proximities())
    np.testing.assert_allclose(model.proximities(top_k=None).toarray(), shared, rtol=1e-12)
    new = (model.apply(X[:5] + 0.1)[:, None] == leaves[None]).mean(axis=2)
    np.testing.assert_allclose(model.proximities(X[:5] + 0.1, top_k=None).toarray(), new, rtol=1e-12)
    assert (np.diff(model.proximities(top_k=7).indptr) <= 7).all()


def test_proximities_out_of_bag_leave_out_trees_that_drew_a_row() -> None:
    model = RandomForestClassifier(30, max_depth=4, random_state=0).fit(X, CLASSES)
    leaves, out = model.apply(X), draws(model, 200) == 0
    both = (out[:, None] & out[None]).astype(float)
    same = (leaves[:, None] == leaves[None]) & (both > 0)
    with np.errstate(invalid="ignore"):
        expected = np.nan_to_num(same.sum(axis=2) / both.sum(axis=2))

    found = model.proximities(top_k=None, method="out_of_bag").toarray()

    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_gap_proximities_are_the_weights_of_the_answer() -> None:
    model = RandomForestRegressor(40, random_state=0).fit(X, NUMBERS)

    weights = model.proximities(X[:20] + 0.05, top_k=None, method="gap")
    np.testing.assert_allclose(weights @ NUMBERS, model.predict(X[:20] + 0.05), rtol=1e-9)
    own = model.proximities(top_k=None, method="gap")
    np.testing.assert_allclose(own @ NUMBERS, model.oob_prediction_, rtol=1e-9)


def test_rows_without_weight_have_no_proximity_and_no_measure() -> None:
    weight = (np.arange(200) % 5 > 0).astype(float)
    model = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, CLASSES, sample_weight=weight)

    found = model.proximities(top_k=None)

    assert found.shape == (200, 200)
    assert found[weight == 0].nnz == found[:, weight == 0].nnz == 0
    assert (found.diagonal()[weight > 0] == 1).all()
    assert model.proximities(X[:3]).shape == (3, 200)
    np.testing.assert_array_equal(np.isnan(model.outlier_measure()), weight == 0)


def test_a_strange_row_is_far_from_the_others_of_its_class() -> None:
    strange = X.copy()
    strange[17] = [9.0, 9.0, 5.0, 7.0]
    y = np.where(np.arange(200) == 17, "low", CLASSES)
    measure = RandomForestClassifier(60, random_state=0).fit(strange, y).outlier_measure()

    assert measure.shape == (200,)
    assert measure[17] == measure[y == "low"].max() > 2


def test_without_classes_a_row_is_measured_against_all_others() -> None:
    model = RandomForestRegressor(20, max_depth=4, random_state=0).fit(X, NUMBERS)

    np.testing.assert_array_equal(
        model.outlier_measure(), outlier_measure(model.apply(X), np.zeros(200, dtype=int))
    )


def test_prototypes_are_typical_rows() -> None:
    town = np.where(CLASSES == "high", "Rome", "Oslo")
    table = {"x": X[:, 0], "town": town, "noise": X[:, 1]}
    model = RandomForestClassifier(30, random_state=0).fit(table, CLASSES)

    high, low = model.prototypes(table, k=30)

    assert (high.label, low.label) == ("high", "low")
    assert CLASSES[high.row] == "high"
    assert set(CLASSES[high.neighbours]) == {"high"}
    assert high.middle[0] > 0 > low.middle[0]
    assert (high.middle[1], low.middle[1]) == ("Rome", "Oslo")
    assert high.lower[0] <= high.middle[0] <= high.upper[0]
    with pytest.raises(InvalidInput, match="X has 10 rows and the training table had 200"):
        model.prototypes({name: column[:10] for name, column in table.items()})


def test_wrong_wishes_are_refused() -> None:
    model = ExtraTreesClassifier(3, random_state=0).fit(X, CLASSES)

    with pytest.raises(InvalidParameter, match="method='near'"):
        model.proximities(method="near")
    with pytest.raises(InvalidParameter, match="top_k=0"):
        model.proximities(top_k=0)
    with pytest.raises(InvalidInput, match="proximities needs rows out of bag"):
        model.proximities(method="gap")
    with pytest.raises(InvalidParameter, match="n_repeats=0"):
        model.oob_importances(0)
    with pytest.raises(InvalidInput, match="two trees"):
        RandomForestClassifier(1).fit(X, CLASSES).oob_importances()
