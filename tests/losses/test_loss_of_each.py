"""The loss of several targets is the mean over theirs, and a direction over their scores adds them up."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from coterie.losses import Expectile, Gamma, Huber, LogLoss, Loss, Poisson, Quantile
from coterie.losses.loss import InitScore
from coterie.losses.several import LossOfEach
from coterie.losses.single_class import SingleClass

PARTS: list[tuple[Loss, ...]] = [
    (Poisson(), Gamma()),
    (Expectile(0.3), Huber(), Quantile(0.8)),
    (LogLoss(), SingleClass(), LogLoss()),
]


def targets(parts: tuple[Loss, ...], n_rows: int = 200) -> Any:
    rng = np.random.default_rng(0)
    if isinstance(parts[0], LogLoss):
        codes = rng.random((n_rows, len(parts))) < [0.5, 0.0, 0.05]
        return codes.astype(np.int32)
    return rng.gamma(2.0, [1.0, 100.0, 0.01][: len(parts)], (n_rows, len(parts)))


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_along_a_direction_are_sums_over_targets(parts: Any, weighted: bool) -> None:
    y = targets(parts)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    bound = LossOfEach(parts).bind(y, weight, 1)
    direction = np.random.default_rng(2).normal(size=bound.n_outputs).astype(np.float32)
    gradient, hessian = bound.direction_derivatives(direction)

    slope, bend, counts = np.zeros(len(y)), np.zeros(len(y)), np.ones(len(y)) if weight is None else weight
    output = 0
    for place, part in enumerate(parts):
        if part.n_outputs == 0:
            continue
        alone = part.bind(y[:, place], weight, 1)
        alone.begin_round()
        own, curve = (np.asarray(each, dtype=float) for each in alone.derivatives(0))
        curve = np.ones(len(y)) if len(curve) == 0 else curve
        rows = counts > 0
        size = np.sqrt((own[rows] ** 2 / counts[rows]).sum() / counts.sum())
        slope += direction[output] * own / size
        bend += direction[output] ** 2 * curve / (curve[rows].sum() / counts.sum())
        np.testing.assert_array_equal(bound.derivatives(output)[0], alone.derivatives(0)[0])
        output += 1
    np.testing.assert_allclose(gradient, slope, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(hessian, bend, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("parts", PARTS)
def test_targets_count_alike_in_a_direction(parts: Any) -> None:
    bound = LossOfEach(parts).bind(targets(parts), None, 1)
    for output in range(bound.n_outputs):
        direction = np.zeros(bound.n_outputs, dtype=np.float32)
        direction[output] = 1.0
        gradient, hessian = bound.direction_derivatives(direction)
        assert np.sqrt((gradient.astype(float) ** 2).mean()) == pytest.approx(1, rel=1e-4)
        assert hessian.astype(float).mean() == pytest.approx(1, rel=1e-4)


def test_the_value_of_a_row_is_the_mean_and_its_derivatives_are_those_of_the_value() -> None:
    rng = np.random.default_rng(0)
    loss, step = LossOfEach((Poisson(), Expectile(0.2), Gamma())), 1e-3
    y, raw, direction = targets((Poisson(),) * 3), rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    ahead, here, behind = (loss.values(y, raw + share * direction) for share in (step, 0.0, -step))
    smooth = np.abs(y[:, 1] - raw[:, 1]) > 1e-2

    parts = [own.values(y[:, k], raw[:, [k]]) for k, own in enumerate(loss.parts)]
    np.testing.assert_allclose(here, np.mean(parts, axis=0))
    slopes = (loss.gradients(y, raw) * direction).sum(axis=1)
    np.testing.assert_allclose(slopes[smooth], ((ahead - behind) / (2 * step))[smooth], rtol=1e-4, atol=1e-5)
    curvatures = loss.curvatures(y, raw, direction)
    assert curvatures is not None
    bends = (ahead - 2 * here + behind) / step**2
    np.testing.assert_allclose(curvatures[smooth], bends[smooth], rtol=1e-3, atol=1e-4)


def test_scores_of_copies_are_those_of_their_parts() -> None:
    parts = PARTS[1]
    bound = LossOfEach(parts).bind(targets(parts), None, 1)
    whole = bound.direction_derivatives(np.ones(3, dtype=np.float32))[0]
    for other, rows in (
        (pickle.loads(pickle.dumps(bound)), slice(0, 200)),
        (bound.of_rows(slice(50, 80)), slice(50, 80)),
        (pickle.loads(pickle.dumps(bound.of_rows(slice(50, 80)))), slice(50, 80)),
    ):
        assert all(np.shares_memory(other.scores, part.scores) for part in other.parts)
        if rows == slice(0, 200):
            np.testing.assert_array_equal(other.direction_derivatives(np.ones(3, np.float32))[0], whole)
        before = bound.scores.copy()
        other.scores += 1.0
        np.testing.assert_array_equal(bound.scores, before)
        np.testing.assert_allclose(
            other.raw_predictions(np.arange(5)),
            bound.raw_predictions(np.arange(rows.start, rows.start + 5)) + bound.units,
            rtol=1e-5,
        )


def test_an_offset_is_that_of_each_target() -> None:
    y = targets((Poisson(), Gamma()))
    bound = LossOfEach((Poisson(), Gamma())).bind(y, None, 1, InitScore(np.log(y)))
    np.testing.assert_allclose(bound.raw_predictions(np.arange(200)), np.log(y), atol=1e-5)


def test_probabilities_are_a_list_with_one_column_for_a_single_class() -> None:
    loss = LossOfEach(PARTS[2])
    raw = np.array([[0.0, 100.0], [1.0, -100.0]])
    shares = loss.probabilities(raw)

    assert [own.shape for own in shares] == [(2, 2), (2, 1), (2, 2)]
    assert loss.most_probable(raw).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_settings_are_those_of_all_parts() -> None:
    assert LossOfEach((LogLoss(), LogLoss())).linear_leaves
    assert not LossOfEach((Poisson(), Poisson())).linear_leaves
    assert LossOfEach((Poisson(), Gamma())).export_link == "exp"
    assert LossOfEach((Poisson(), Expectile())).export_link is None
    assert copy.deepcopy(LossOfEach((Poisson(),) * 2)) == LossOfEach((Poisson(),) * 2)
