"""A neural network, unit by unit: what the fast one must equal, and its gradient by finite differences."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def selu(z: float) -> float:
    return 1.0507009873554805 * (z if z > 0 else 1.6732632423543772 * (math.exp(z) - 1))


def mish(z: float) -> float:
    return z * math.tanh(math.log1p(math.exp(z)))


def outputs(
    parameters: Mapping[str, Any],
    numbers: Any,
    flags: Any,
    codes: Any,
    activation: str,
    kept: Any = None,
) -> Any:
    """The outputs of each row; `kept[layer][row]` are the factors of the units of a layer."""
    bend = {"selu": selu, "mish": mish}[activation]
    n_layers = sum(name.startswith("share") for name in parameters)
    found = []
    for row in range(len(numbers)):
        h: list[float] = []
        for place, x in enumerate(numbers[row]):
            waves = [
                math.cos(2 * math.pi * period * x + phase)
                for period, phase in zip(
                    parameters["periods"][place, 0], parameters["phases"][place, 0], strict=True
                )
            ]
            h.append(x)
            h += list(parameters["shift"][place, 0] + np.array(waves) @ parameters["mixing"][place])
        h += list(flags[row])
        for code in codes[row]:
            h += list(parameters["vectors"][code])
        h = [value * scale for value, scale in zip(h, parameters["scale"], strict=True)]
        for layer in range(n_layers):
            z = dense(h, parameters[f"weight_{layer}"], parameters[f"bias_{layer}"])
            share = parameters[f"share_{layer}"]
            h = [(1 - share[unit]) * own + share[unit] * bend(own) for unit, own in enumerate(z)]
            if kept is not None:
                h = [own * factor for own, factor in zip(h, kept[layer][row], strict=True)]
        found.append(dense(h, parameters["weight_last"], parameters["bias_last"]))
    return np.array(found)


def dense(h: list[float], weight: Any, bias: Any) -> list[float]:
    root = math.sqrt(max(1, len(h)))
    return [
        bias[unit] + sum(value * weight[place, unit] for place, value in enumerate(h)) / root
        for unit in range(len(bias))
    ]


def log_loss(logits: Any, shares: Any, weight: Any, smoothing: float = 0.0) -> float:
    """The weighted sum of the log loss over rows, by softened labels."""
    total = 0.0
    for row, own in enumerate(logits):
        logs = own - own.max() - math.log(sum(math.exp(value) for value in own - own.max()))
        soft = (1 - smoothing) * shares[row] + smoothing / len(own)
        total -= weight[row] * float(soft @ logs)
    return total


def squared_error(predicted: Any, target: Any, weight: Any) -> float:
    return 0.5 * float(np.sum(weight[:, None] * (predicted - target) ** 2))


def finite_difference(function: Any, values: Any, step: float = 1e-5) -> Any:
    """The derivative of a function of an array, which is changed place by place and restored."""
    slopes = np.zeros_like(values)
    for place in np.ndindex(values.shape):
        before = values[place]
        values[place] = before + step
        above = function()
        values[place] = before - step
        below = function()
        values[place] = before
        slopes[place] = (above - below) / (2 * step)
    return slopes


def adam(parameter: float, slopes: list[float], rates: list[float], decay: float = 0.0) -> float:
    """One parameter after some steps of Adam with decoupled weight decay."""
    mean = square = 0.0
    for step, (slope, rate) in enumerate(zip(slopes, rates, strict=True), start=1):
        mean = 0.9 * mean + 0.1 * slope
        square = 0.95 * square + 0.05 * slope**2
        parameter *= 1 - rate * decay
        parameter -= rate * (mean / (1 - 0.9**step)) / (math.sqrt(square / (1 - 0.95**step)) + 1e-8)
    return parameter
