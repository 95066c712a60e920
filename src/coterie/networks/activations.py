"""Activations and their derivatives, elementwise.

They write into arrays that are there already, as that is five to ten times as fast as `np.where` and a formula.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from coterie._typing import AnyArray

# The value and the derivative of an activation.
Activation: TypeAlias = Callable[[AnyArray], tuple[AnyArray, AnyArray]]

_SELU_SCALE = 1.0507009873554805
_SELU_ALPHA = 1.6732632423543772
_FLAT = 30.0  # beyond it Mish is the identity, in float64 as well


def selu(x: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The scaled exponential linear unit: 1.05 x above 0, and 1.76 (exp(x) - 1) below.

    Examples
    --------
    >>> value, slope = selu(np.array([-1.0, 2.0]))
    >>> value.round(3), slope.round(3)
    (array([-1.111,  2.101]), array([0.647, 1.051]))
    """
    scale, height = x.dtype.type(_SELU_SCALE), x.dtype.type(_SELU_SCALE * _SELU_ALPHA)
    slope = np.minimum(x, 0)
    np.exp(slope, out=slope)
    slope *= height
    value = np.maximum(x, 0)
    value *= scale
    value += slope
    value -= height
    above = (x >= 0).astype(x.dtype)
    above *= height - scale
    slope -= above
    return value, slope


def mish(x: AnyArray) -> tuple[AnyArray, AnyArray]:
    """x tanh(log(1 + exp(x))): smooth, a little below 0 for negative numbers, the identity for large ones.

    Examples
    --------
    >>> value, slope = mish(np.array([-1.0, 0.0, 40.0]))
    >>> value.round(3), slope.round(3)
    (array([-0.303,  0.   , 40.   ]), array([0.059, 0.6  , 1.   ]))
    """
    power = np.minimum(x, x.dtype.type(_FLAT if x.dtype == np.float64 else _FLAT / 2))
    np.exp(power, out=power)
    # tanh(log(1 + p)) is n / (n + 2) for n = p (p + 2), and its derivative 4 p (p + 1) / (n + 2)^2.
    tanh = power + 2
    tanh *= power
    inverse = tanh + 2
    np.reciprocal(inverse, out=inverse)
    tanh *= inverse
    slope = power + 1
    slope *= power
    for factor in (inverse, inverse, x):
        slope *= factor
    slope *= 4
    slope += tanh
    return x * tanh, slope


ACTIVATIONS: dict[str, Activation] = {"selu": selu, "mish": mish}
