"""A network: the shapes of its parameters, its outputs, and the gradient of a loss.

From the inputs to the outputs, for a batch of rows:

    numbers x     ->  x, and a linear map of cos(2 pi periods x + phases): four values for each numeric column
    codes         ->  a learned vector of eight values for each level of a column of many levels
    these, flags  ->  times a learned scale for each value
    hidden layers ->  h W / sqrt(n) + b, then (1 - a) z + a activation(z) with a learned a for each unit, then dropout
    last layer    ->  h W / sqrt(n) + b

The division by the root of the number of inputs makes steps of one size right for layers of any width (the
neural-tangent parametrisation).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._storage import expect, storable
from coterie._typing import AnyArray
from coterie._value_types import COUNT, FLOATS, INTEGERS, TEXT, dict_of, instance, one_of
from coterie.networks.activations import ACTIVATIONS
from coterie.networks.inputs import InputRows

N_PERIODS = 16
N_OF_NUMBER = 4  # values that a number becomes, itself included
N_OF_LEVEL = 8  # values that a level becomes
_BLOCK = 1024  # rows that are computed at once

Parameters = Mapping[str, AnyArray]


def _verify_layout(layout: Any) -> None:
    expect(len(layout.hidden_sizes) > 0 and int(layout.hidden_sizes.min()) > 0, "has a layer of no units")
    expect(layout.n_outputs > 0, "has no outputs")


@storable(
    "networks.Layout",
    {
        "n_numbers": COUNT,
        "n_flags": COUNT,
        "n_coded": COUNT,
        "n_levels": COUNT,
        "hidden_sizes": INTEGERS,
        "n_outputs": COUNT,
        "activation": one_of(*ACTIVATIONS),
    },
    verify=_verify_layout,
)
@dataclass(frozen=True)
class NetworkLayout:
    """The size of a network: its inputs, its layers, its outputs.

    Attributes
    ----------
    n_coded, n_levels : columns with a vector for each level, and all their levels together
    """

    n_numbers: int
    n_flags: int
    n_coded: int
    n_levels: int
    hidden_sizes: AnyArray
    n_outputs: int
    activation: str

    @property
    def n_inputs(self) -> int:
        """Inputs of the first layer."""
        return self.n_numbers * N_OF_NUMBER + self.n_flags + self.n_coded * N_OF_LEVEL

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Parameters by name, in the order in which they are kept."""
        shapes: dict[str, tuple[int, ...]] = {
            "periods": (self.n_numbers, 1, N_PERIODS),
            "phases": (self.n_numbers, 1, N_PERIODS),
            "mixing": (self.n_numbers, N_PERIODS, N_OF_NUMBER - 1),
            "shift": (self.n_numbers, 1, N_OF_NUMBER - 1),
            "vectors": (self.n_levels, N_OF_LEVEL),
            "scale": (self.n_inputs,),
        }
        n_before = self.n_inputs
        for number, size in enumerate(self.hidden_sizes.tolist()):
            shapes |= {f"weight_{number}": (n_before, size)}
            shapes |= {f"bias_{number}": (size,), f"share_{number}": (size,)}
            n_before = size
        return {**shapes, "weight_last": (n_before, self.n_outputs), "bias_last": (self.n_outputs,)}

    def views(self, flat: AnyArray) -> dict[str, AnyArray]:
        """One vector of all parameters as arrays by name."""
        views, start = {}, 0
        for name, shape in self.shapes().items():
            size = math.prod(shape)
            views[name] = flat[start : start + size].reshape(shape)
            start += size
        return views

    @property
    def n_parameters(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes().values())


@dataclass(frozen=True)
class Layer:
    """What a hidden layer computed, for its gradient; `factor` is dropout times 1 over the root of its size."""

    inputs: AnyArray
    bent: AnyArray  # activation(z) - z
    slope: AnyArray
    factor: AnyArray


@dataclass(frozen=True)
class ForwardPass:
    """The outputs of a batch, and what was computed on the way."""

    outputs: AnyArray
    angles: AnyArray
    waves: AnyArray
    unscaled: AnyArray
    layers: Sequence[Layer]
    last_inputs: AnyArray


class NetworkFunction:
    """The outputs and gradients of networks of one layout."""

    def __init__(self, layout: NetworkLayout) -> None:
        self.layout = layout
        self._activation = ACTIVATIONS[layout.activation]

    def outputs(self, parameters: Parameters, rows: InputRows) -> AnyArray:
        """The outputs of each row without dropout, shape (n_rows, n_outputs)."""
        blocks = [rows.take(slice(start, start + _BLOCK)) for start in range(0, len(rows), _BLOCK)]
        found = [self.forward(parameters, block).outputs for block in blocks]
        return np.concatenate(found) if found else np.empty((0, self.layout.n_outputs), rows.numbers.dtype)

    def forward(
        self, parameters: Parameters, rows: InputRows, kept: Sequence[AnyArray] | None = None
    ) -> ForwardPass:
        """The outputs of a batch; `kept` are factors of the units of each hidden layer, 0 for those dropped."""
        angles, waves, unscaled = self._inputs(parameters, rows)
        dtype = unscaled.dtype.type
        h = unscaled * (parameters["scale"] * dtype(1.0 / math.sqrt(max(1, self.layout.n_inputs))))
        layers = []
        for number, size in enumerate(self.layout.hidden_sizes.tolist()):
            z = h @ parameters[f"weight_{number}"]
            z += parameters[f"bias_{number}"]
            bent, slope = self._activation(z)
            bent -= z
            z += parameters[f"share_{number}"] * bent
            unit = dtype(1.0 / math.sqrt(size))
            factor = unit if kept is None else kept[number] * unit
            layers.append(Layer(h, bent, slope, factor))
            z *= factor
            h = z
        outputs = h @ parameters["weight_last"] + parameters["bias_last"]
        return ForwardPass(outputs, angles, waves, unscaled, layers, h)

    def _inputs(self, parameters: Parameters, rows: InputRows) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Angles and waves of the numbers, shape (n_numbers, n_rows, n_periods), and all inputs side by side."""
        layout, numbers = self.layout, rows.numbers
        dtype, n_rows = numbers.dtype, len(numbers)
        unscaled = np.empty((n_rows, layout.n_inputs), dtype=dtype)
        angles = numbers.T[:, :, None] * parameters["periods"]
        angles *= dtype.type(2.0 * math.pi)
        angles += parameters["phases"]
        waves = np.cos(angles)
        end = layout.n_numbers * N_OF_NUMBER
        if layout.n_numbers:
            of_numbers = unscaled[:, :end].reshape(n_rows, layout.n_numbers, N_OF_NUMBER)
            of_numbers[:, :, 0] = numbers
            of_numbers[:, :, 1:] = (waves @ parameters["mixing"] + parameters["shift"]).transpose(1, 0, 2)
        unscaled[:, end : end + layout.n_flags] = rows.flags
        if layout.n_coded:
            unscaled[:, end + layout.n_flags :] = parameters["vectors"][rows.codes].reshape(n_rows, -1)
        return angles, waves, unscaled

    def gradient(
        self, parameters: Parameters, rows: InputRows, done: ForwardPass, slopes: AnyArray, into: Parameters
    ) -> None:
        """Write the gradient of a loss into arrays of the parameters' shapes.

        `slopes` are the derivatives of the loss by the outputs, shape (n_rows, n_outputs).
        """
        np.matmul(done.last_inputs.T, slopes, out=into["weight_last"])
        slopes.sum(axis=0, out=into["bias_last"])
        h_slopes = slopes @ parameters["weight_last"].T
        for number in reversed(range(len(done.layers))):
            layer = done.layers[number]
            h_slopes *= layer.factor
            np.einsum("ij,ij->j", h_slopes, layer.bent, out=into[f"share_{number}"])
            share = parameters[f"share_{number}"]
            slope = layer.slope * share
            slope += 1 - share
            h_slopes *= slope
            np.matmul(layer.inputs.T, h_slopes, out=into[f"weight_{number}"])
            h_slopes.sum(axis=0, out=into[f"bias_{number}"])
            h_slopes = h_slopes @ parameters[f"weight_{number}"].T
        h_slopes *= h_slopes.dtype.type(1.0 / math.sqrt(max(1, self.layout.n_inputs)))
        np.einsum("ij,ij->j", h_slopes, done.unscaled, out=into["scale"])
        h_slopes *= parameters["scale"]
        self._gradient_of_inputs(parameters, rows, done, h_slopes, into)

    def _gradient_of_inputs(
        self, parameters: Parameters, rows: InputRows, done: ForwardPass, slopes: AnyArray, into: Parameters
    ) -> None:
        layout, n_rows = self.layout, len(rows)
        end = layout.n_numbers * N_OF_NUMBER
        if layout.n_numbers:
            by_number = slopes[:, :end].reshape(n_rows, layout.n_numbers, N_OF_NUMBER)[:, :, 1:]
            mixed = np.ascontiguousarray(by_number.transpose(1, 0, 2))
            np.matmul(done.waves.transpose(0, 2, 1), mixed, out=into["mixing"])
            mixed.sum(axis=1, keepdims=True, out=into["shift"])
            turned = mixed @ parameters["mixing"].transpose(0, 2, 1)
            turned *= np.sin(done.angles)
            np.negative(turned, out=turned)
            turned.sum(axis=1, keepdims=True, out=into["phases"])
            turned *= slopes.dtype.type(2.0 * math.pi)
            np.matmul(rows.numbers.T[:, None, :], turned, out=into["periods"])
        if layout.n_coded:
            places = rows.codes[:, :, None] * N_OF_LEVEL + np.arange(N_OF_LEVEL)
            sums = np.bincount(
                places.ravel(), slopes[:, end + layout.n_flags :].ravel(), layout.n_levels * N_OF_LEVEL
            )
            into["vectors"][...] = sums.reshape(layout.n_levels, N_OF_LEVEL)


def _verify_network(network: Any) -> None:
    shapes = network.layout.shapes()
    expect(set(network.parameters) == set(shapes), "has other parameters than its layout")
    for name, shape in shapes.items():
        own = network.parameters[name]
        expect(own.shape == shape, f"has {name} of shape {own.shape}; expected {shape}")
        expect(bool(np.isfinite(own).all()), f"has {name} that are not finite")


@storable(
    "networks.Network",
    {"layout": instance(NetworkLayout), "parameters": dict_of(TEXT, FLOATS)},
    verify=_verify_network,
)
@dataclass(frozen=True)
class Network:
    """A network that was trained: its layout, and its parameters by name."""

    layout: NetworkLayout
    parameters: dict[str, AnyArray]

    def outputs(self, rows: InputRows) -> AnyArray:
        """The outputs of each row, computed in float64 and rounded: they do not depend on what rows stand beside it."""
        parameters = {name: own.astype(np.float64) for name, own in self.parameters.items()}
        exact = NetworkFunction(self.layout).outputs(parameters, rows)
        return np.asarray(exact.astype(np.float32).astype(np.float64))

    def state(self) -> dict[str, AnyArray]:
        """The parameters by name."""
        return dict(self.parameters)
