"""Squared error of several targets: the mean over the targets of a row."""

import numpy as np

from coterie.losses.squared_error import SquaredOfSeveral


def test_the_value_of_a_row_is_the_mean_over_its_targets() -> None:
    y, raw = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[3.0, 2.0], [1.0, 2.0]])
    assert SquaredOfSeveral(2).values(y, raw).tolist() == [1.0, 2.5]


def test_the_gradient_and_the_curvature_of_a_row_are_those_of_its_value() -> None:
    rng = np.random.default_rng(0)
    y, raw, direction = rng.normal(size=(3, 4, 2))
    loss, step = SquaredOfSeveral(2), 1e-3
    ahead, here, behind = (loss.values(y, raw + share * direction) for share in (step, 0.0, -step))

    slopes = (loss.gradients(y, raw) * direction).sum(axis=1)
    np.testing.assert_allclose(slopes, (ahead - behind) / (2 * step), rtol=1e-8)
    curvatures = loss.curvatures(y, raw, direction)
    np.testing.assert_allclose(curvatures, (ahead - 2 * here + behind) / step**2, rtol=1e-6)
