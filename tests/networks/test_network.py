"""Outputs and gradients against a slow twin, finite differences, and torch where it is installed."""

from typing import Any

import numpy as np
import pytest

from coterie.networks.activations import ACTIVATIONS
from coterie.networks.inputs import InputRows
from coterie.networks.losses import log_loss, squared_error
from coterie.networks.network import NetworkFunction, NetworkLayout
from coterie.networks.training import NetworkRows, NetworkTrainer, TrainingOptions
from tests.naive import network as naive

N_ROWS = 5


def a_network(
    activation: str = "selu", n_outputs: int = 3, n_numbers: int = 2, n_coded: int = 1
) -> tuple[NetworkLayout, dict[str, Any], Any, InputRows]:
    """A small network in float64, whose parameters are views of one vector, and some rows."""
    rng = np.random.default_rng(4)
    layout = NetworkLayout(n_numbers, 2, n_coded, 4 * n_coded, np.array([4, 3]), n_outputs, activation)
    flat = 0.7 * rng.standard_normal(layout.n_parameters)
    rows = InputRows(
        rng.standard_normal((N_ROWS, n_numbers)),
        rng.integers(0, 2, (N_ROWS, 2)).astype(float),
        rng.integers(0, 4, (N_ROWS, n_coded)),
    )
    return layout, layout.views(flat), flat, rows


CASES = [("selu", 2, 1), ("mish", 2, 1), ("selu", 0, 1), ("mish", 2, 0), ("selu", 0, 0)]


@pytest.mark.parametrize(("activation", "n_numbers", "n_coded"), CASES)
def test_the_outputs_are_those_of_the_slow_twin(activation: str, n_numbers: int, n_coded: int) -> None:
    layout, parameters, _, rows = a_network(activation, n_numbers=n_numbers, n_coded=n_coded)
    kept = [np.random.default_rng(1).integers(0, 2, (N_ROWS, size)) * 1.25 for size in (4, 3)]
    function = NetworkFunction(layout)

    given = (parameters, rows.numbers, rows.flags, rows.codes, activation)
    np.testing.assert_allclose(function.outputs(parameters, rows), naive.outputs(*given), rtol=1e-12)
    dropped = function.forward(parameters, rows, kept).outputs
    np.testing.assert_allclose(dropped, naive.outputs(*given, kept), rtol=1e-12)


@pytest.mark.parametrize(("activation", "n_numbers", "n_coded"), CASES)
def test_the_gradient_is_that_of_finite_differences(activation: str, n_numbers: int, n_coded: int) -> None:
    layout, parameters, _, rows = a_network(activation, n_numbers=n_numbers, n_coded=n_coded)
    rng = np.random.default_rng(2)
    weight, kept = rng.uniform(0.5, 2, N_ROWS), [rng.integers(0, 2, (N_ROWS, n)) * 1.25 for n in (4, 3)]
    shares = np.eye(3)[[0, 1, 2, 1, 0]]
    function = NetworkFunction(layout)
    slopes = layout.views(np.zeros(layout.n_parameters))

    def value() -> float:
        given = (parameters, rows.numbers, rows.flags, rows.codes, activation, kept)
        return naive.log_loss(naive.outputs(*given), shares, weight, smoothing=0.1)

    done = function.forward(parameters, rows, kept)
    by_output = log_loss(0.1).slopes(done.outputs, shares) * weight[:, None]
    function.gradient(parameters, rows, done, by_output, slopes)

    for name, own in parameters.items():
        expected = naive.finite_difference(value, own)
        np.testing.assert_allclose(slopes[name], expected, rtol=1e-6, atol=1e-8, err_msg=name)


def test_the_gradient_of_the_squared_error_is_that_of_finite_differences() -> None:
    layout, parameters, _, rows = a_network("mish", n_outputs=1)
    weight, target = np.linspace(0.5, 2, N_ROWS), np.linspace(-1, 1, N_ROWS)[:, None]
    function, loss = NetworkFunction(layout), squared_error()
    slopes = layout.views(np.zeros(layout.n_parameters))

    done = function.forward(parameters, rows)
    function.gradient(parameters, rows, done, loss.slopes(done.outputs, target) * weight[:, None], slopes)

    def value() -> float:
        given = (parameters, rows.numbers, rows.flags, rows.codes, "mish")
        return naive.squared_error(naive.outputs(*given), target, weight)

    for name in ("periods", "vectors", "scale", "weight_0", "share_1", "bias_last"):
        expected = naive.finite_difference(value, parameters[name])
        np.testing.assert_allclose(slopes[name], expected, rtol=1e-6, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activations_are_finite_and_right_far_out(name: str, dtype: Any) -> None:
    x = np.array([-1e30, -50.0, -2.0, 0.0, 0.5, 12.0, 50.0, 1e30], dtype=dtype)
    value, slope = ACTIVATIONS[name](x)
    slow = getattr(naive, name)

    assert value.dtype == slope.dtype == dtype
    np.testing.assert_allclose(value[1:-1], [slow(float(z)) for z in x[1:-1]], rtol=1e-5, atol=1e-7)
    near = [(slow(float(z) + 1e-6) - slow(float(z) - 1e-6)) / 2e-6 for z in x[[2, 4, 5]]]
    np.testing.assert_allclose(slope[[2, 4, 5]], near, rtol=1e-4)
    assert np.isfinite(slope).all()
    assert np.isfinite(value).all()


def test_float32_is_close_to_float64() -> None:
    layout, _, flat, rows = a_network()
    small = InputRows(rows.numbers.astype(np.float32), rows.flags.astype(np.float32), rows.codes)
    function = NetworkFunction(layout)

    wide = function.outputs(layout.views(flat), rows)
    narrow = function.outputs(layout.views(flat.astype(np.float32)), small)

    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, wide, rtol=1e-4, atol=1e-5)


def test_steps_are_those_of_adam_with_decoupled_weight_decay() -> None:
    layout, _, _, rows = a_network(n_outputs=1)
    options = TrainingOptions(10, N_ROWS, rate=0.1, dropout=0.0, weight_decay=0.3, stops_early=False)
    small = InputRows(rows.numbers.astype(np.float32), rows.flags.astype(np.float32), rows.codes)
    data = NetworkRows(small, np.zeros((N_ROWS, 1), np.float32), np.ones(N_ROWS, np.float32))
    trainer = NetworkTrainer(NetworkFunction(layout), data, np.arange(N_ROWS), np.zeros(1), 0, options)
    slopes, rates = [0.5, -0.2, 0.1], [0.1, 0.2, 0.05]
    before = trainer.parameters["weight_0"][0, 0], trainer.parameters["bias_0"][0]

    for slope, rate in zip(slopes, rates, strict=True):
        trainer.step_by(np.full(layout.n_parameters, slope, dtype=np.float32), rate, 0.3)

    weight = naive.adam(before[0], slopes, rates, decay=0.3)
    bias = naive.adam(before[1], slopes, [0.1 * rate for rate in rates])
    np.testing.assert_allclose(trainer.parameters["weight_0"][0, 0], weight, rtol=1e-5)
    np.testing.assert_allclose(trainer.parameters["bias_0"][0], bias, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("activation", ["selu", "mish"])
def test_outputs_and_gradients_are_those_of_torch(activation: str) -> None:
    torch = pytest.importorskip("torch")
    layout, parameters, _, rows = a_network(activation)
    held = {name: torch.tensor(own, requires_grad=True) for name, own in parameters.items()}
    x = torch.tensor(rows.numbers)
    waves = torch.cos(2 * np.pi * x.T[:, :, None] * held["periods"] + held["phases"])
    mixed = (waves @ held["mixing"] + held["shift"]).permute(1, 0, 2)
    of_numbers = torch.cat([x[:, :, None], mixed], dim=2).reshape(N_ROWS, -1)
    vectors = held["vectors"][torch.tensor(rows.codes)].reshape(N_ROWS, -1)
    h = torch.cat([of_numbers, torch.tensor(rows.flags), vectors], dim=1) * held["scale"]
    for layer in range(2):
        z = h @ held[f"weight_{layer}"] / h.shape[1] ** 0.5 + held[f"bias_{layer}"]
        share = held[f"share_{layer}"]
        h = (1 - share) * z + share * getattr(torch.nn.functional, activation)(z)
    out = h @ held["weight_last"] / h.shape[1] ** 0.5 + held["bias_last"]
    labels = torch.tensor([0, 1, 2, 1, 0])
    torch.nn.functional.cross_entropy(out, labels, reduction="sum").backward()

    function, slopes = NetworkFunction(layout), layout.views(np.zeros(layout.n_parameters))
    done = function.forward(parameters, rows)
    function.gradient(parameters, rows, done, log_loss(0.0).slopes(done.outputs, np.eye(3)[labels]), slopes)

    np.testing.assert_allclose(done.outputs, out.detach().numpy(), rtol=1e-10)
    for name, own in held.items():
        np.testing.assert_allclose(slopes[name], own.grad.numpy(), rtol=1e-8, atol=1e-10, err_msg=name)
