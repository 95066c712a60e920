"""A mean that is exact here is exact in treelite."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from coterie import RandomForestRegressor
from coterie.export import import_model
from tests.helpers.exported import treelite_answers
from tests.helpers.saved_models import FILES, noted

pytest.importorskip("treelite")


@pytest.mark.parametrize("n_trees", [3, 7, 10])
def test_the_mean_of_whole_numbers_is_divided_once(n_trees: int) -> None:
    """Thirds that are added up are not the third of a sum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.integers(0, 1000, 300).astype(float)
    model = RandomForestRegressor(n_trees, random_state=0).fit(X, y)

    found = treelite_answers(model, X)[:, 0, 0]

    whole = np.sum([tree.predict(X) for tree in model.estimators_], axis=0)
    assert_array_equal(whole, np.round(whole))  # every leaf is pure
    assert_array_equal(found, whole / n_trees)


def test_a_forest_with_a_tree_for_each_class_is_divided_by_its_rounds() -> None:
    """LightGBM's forests of several classes: the mean of scores, then the softmax."""
    file = next(file for file in FILES if file.name == "lightgbm_multiclass.txt")
    rows = noted(file).rows
    summed = import_model(file)
    text = file.read_text(encoding="utf-8")
    averaged = import_model(text.replace("\nobjective=", "\naverage_output\nobjective=", 1))

    found = treelite_answers(averaged, rows)[:, 0, :]

    assert_allclose(found, averaged.predict_proba(rows), rtol=1e-6)
    assert_allclose(averaged.decision_function(rows), summed.decision_function(rows) / n_rounds(text))


def n_rounds(text: str) -> float:
    return text.count("\nTree=") / int(text.split("num_tree_per_iteration=")[1].split()[0])
