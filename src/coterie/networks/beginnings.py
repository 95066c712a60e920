"""The parameters that a network begins with, which look at some of the rows."""

import math

import numpy as np

from coterie._typing import AnyArray
from coterie.networks.inputs import InputRows
from coterie.networks.network import NetworkFunction, NetworkLayout

_PERIOD_SPREAD = 0.1
_N_MIXED = 5  # rows between which the zero of a unit lies


def first_parameters(
    layout: NetworkLayout, rows: InputRows, baseline: AnyArray, rng: np.random.Generator
) -> AnyArray:
    """One vector of all parameters.

    Weights are drawn at random and scaled so that the units of a layer vary by 1 on average over the rows; the zero of
    each unit lies amid some rows. The last layer is zero: without training a network predicts the `baseline`.
    """
    flat = np.zeros(layout.n_parameters, dtype=np.float32)
    parameters = layout.views(flat)
    parameters["periods"][...] = _PERIOD_SPREAD * rng.standard_normal(parameters["periods"].shape)
    parameters["phases"][...] = rng.uniform(-math.pi, math.pi, parameters["phases"].shape)
    bound = 1 / math.sqrt(parameters["mixing"].shape[1])
    parameters["mixing"][...] = rng.uniform(-bound, bound, parameters["mixing"].shape)
    parameters["shift"][...] = rng.uniform(-bound, bound, parameters["shift"].shape)
    parameters["vectors"][...] = rng.standard_normal(parameters["vectors"].shape)
    parameters["scale"][...] = 1.0
    parameters["bias_last"][...] = baseline
    function = NetworkFunction(layout)
    for number, size in enumerate(layout.hidden_sizes.tolist()):
        weight = parameters[f"weight_{number}"]
        weight[...] = rng.standard_normal(weight.shape)
        h = function.forward(parameters, rows).layers[number].inputs
        values = h @ weight
        spread = float(np.sqrt(values.var(axis=0).mean()))
        if spread > 1e-6:
            weight /= spread
            values /= spread
        drawn = rng.integers(0, len(rows), (size, _N_MIXED))
        shares = rng.dirichlet(np.ones(_N_MIXED), size)
        parameters[f"bias_{number}"][...] = -(shares * values[drawn, np.arange(size)[:, None]]).sum(axis=1)
        parameters[f"share_{number}"][...] = 1.0
    return flat
