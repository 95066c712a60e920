"""A prediction of one number a row may come as a column; several numbers a row are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression

from coterie.diagnostics import dependence, interaction_strength
from coterie.errors import InvalidInput

X = np.random.default_rng(0).normal(size=(50, 3))
Y = 2 * X[:, 0] - X[:, 1]


def test_a_column_of_predictions_is_one_number_a_row() -> None:
    flat, column = LinearRegression().fit(X, Y), LinearRegression().fit(X, Y[:, None])
    assert column.predict(X).shape == (50, 1)

    found, expected = (dependence(model, X, features=[0]).curves[0] for model in (column, flat))

    assert_allclose(found.average, expected.average)
    assert interaction_strength(column, X, [0, 1]) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("n_targets", [2, 3])
def test_several_numbers_a_row_are_refused(n_targets: int) -> None:
    model = LinearRegression().fit(X, X[:, :n_targets])
    with pytest.raises(InvalidInput, match=rf"{n_targets} numbers for each row"):
        dependence(model, X, features=[0])


def test_rows_without_weight_do_not_move_an_accumulated_effect() -> None:
    weight = np.where(X[:, 0] < 0, 0.0, 1.0)  # whole steps of the grid are without weight
    model = LinearRegression().fit(X, Y)
    found = dependence(model, X, features=[0], kind="ale", sample_weight=weight).curves[0]
    above = found.grid >= 0
    assert np.isfinite(found.average).all()
    assert_allclose(np.diff(found.average[above]) / np.diff(found.grid[above]), 2.0, rtol=1e-6)
