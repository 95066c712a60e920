"""Training networks side by side: each leaves a part of the rows out, and all together say which epoch was best.

Words
  part      rows that one network does not learn from; it predicts them after each epoch
  epoch     once through all rows that a network learns from, in batches
  cycle     epochs in which the learning rate rises and falls once; each is twice as long as the one before it
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np

from coterie._typing import AnyArray, RowArray
from coterie.errors import InvalidParameter
from coterie.networks.beginnings import first_parameters
from coterie.networks.inputs import InputRows
from coterie.networks.losses import NetworkLoss
from coterie.networks.network import NetworkFunction, NetworkLayout
from coterie.networks.schedules import cycle_ends, learning_rate, regularization

_BETA_1, _BETA_2, _EPSILON = 0.9, 0.95, 1e-8
_ROWS_LOOKED_AT = 256  # before the first step
_LARGEST_PARAMETER = 1e6  # they begin at about 1; beyond this, training has diverged
# How much faster than the weights of layers other parameters learn.
_RATES = {"periods": 0.1, "phases": 0.1, "mixing": 0.1, "shift": 0.1, "scale": 6.0}
_RATE_OF_BIASES = _RATE_OF_SHARES = 0.1
_FORGOTTEN = ("weight", "vectors", "periods", "mixing", "scale")  # what weight decay pulls to zero


@dataclass(frozen=True)
class TrainingOptions:
    """How networks learn; see the parameters of the estimators."""

    n_epochs: int
    batch_size: int
    rate: float
    dropout: float
    weight_decay: float
    stops_early: bool


@dataclass(frozen=True)
class NetworkRows:
    """Inputs, targets of shape (n_rows, n_outputs), and weights whose mean is 1."""

    inputs: InputRows
    target: AnyArray
    weight: AnyArray


class NetworkTrainer:
    """One network while it is trained: its parameters, the state of Adam, and its random numbers."""

    def __init__(
        self,
        function: NetworkFunction,
        rows: NetworkRows,
        learns: RowArray,
        baseline: AnyArray,
        seed: int,
        options: TrainingOptions,
    ) -> None:
        self._function, self._rows, self._learns, self._options = function, rows, learns, options
        self._rng = np.random.default_rng(seed)
        drawn = self._rng.permutation(learns)[:_ROWS_LOOKED_AT]
        layout = function.layout
        self.flat = first_parameters(layout, rows.inputs.take(drawn), baseline, self._rng)
        self.parameters = layout.views(self.flat)
        self._slopes = np.zeros_like(self.flat)
        self._by_name = layout.views(self._slopes)
        self._mean, self._square, self._spare = (np.zeros_like(self.flat) for _ in range(3))
        self._rates = _rates(layout)
        self._n_steps = 0

    def epoch(self, number: int, loss: NetworkLoss) -> None:
        """Once through the rows; epochs are counted from 0."""
        order = self._rng.permutation(self._learns)
        n_batches = max(1, round(len(order) / self._options.batch_size))
        for place, batch in enumerate(np.array_split(order, n_batches)):
            self._step((number + (place + 0.5) / n_batches) / self._options.n_epochs, batch, loss)

    def _step(self, share: float, batch: RowArray, loss: NetworkLoss) -> None:
        rows = self._rows
        inputs = rows.inputs.take(batch)
        kept = self._kept(len(batch), self._options.dropout * regularization(share))
        done = self._function.forward(self.parameters, inputs, kept)
        slopes = loss.slopes(done.outputs, rows.target[batch])
        slopes *= (rows.weight[batch] / np.float32(len(batch)))[:, None]
        self._function.gradient(self.parameters, inputs, done, slopes, self._by_name)
        options = self._options
        self.step_by(
            self._slopes, options.rate * learning_rate(share), options.weight_decay * regularization(share)
        )

    def _kept(self, n_rows: int, dropped: float) -> list[AnyArray] | None:
        """Factors of the units of each layer: 0 for those that are dropped, in 256ths of all."""
        n_dropped = round(256 * dropped)
        if n_dropped == 0:
            return None
        factor = np.float32(256 / (256 - n_dropped))
        return [
            (self._rng.integers(0, 256, (n_rows, size), dtype=np.uint8) >= n_dropped) * factor
            for size in self._function.layout.hidden_sizes.tolist()
        ]

    def step_by(self, slopes: AnyArray, rate: float, weight_decay: float) -> None:
        """A step of Adam, with weight decay apart from it; `slopes` are overwritten."""
        self._n_steps += 1
        mean, square, spare = self._mean, self._square, self._spare
        mean *= np.float32(_BETA_1)
        np.multiply(slopes, np.float32(1 - _BETA_1), out=spare)
        mean += spare
        square *= np.float32(_BETA_2)
        np.square(slopes, out=slopes)
        slopes *= np.float32(1 - _BETA_2)
        square += slopes
        np.multiply(square, np.float32(1 / (1 - _BETA_2**self._n_steps)), out=spare)
        np.sqrt(spare, out=spare)
        spare += np.float32(_EPSILON)
        np.divide(mean, spare, out=spare)
        for start, stop, factor, forgets in self._rates:
            own = rate * factor
            part = self.flat[start:stop]
            if forgets and weight_decay > 0:
                part *= np.float32(1 - own * weight_decay)
            spare[start:stop] *= np.float32(own / (1 - _BETA_1**self._n_steps))
            part -= spare[start:stop]


def _diverged(rate: float) -> InvalidParameter:
    return InvalidParameter(
        f"learning_rate={rate:g} is too large: the networks diverged in their first epoch.",
        parameter="learning_rate",
        received=rate,
        allowed="smaller steps, such as 0.04",
    )


def _rates(layout: NetworkLayout) -> list[tuple[int, int, float, bool]]:
    """Where parameters stand in the vector, how fast they learn, and whether weight decay pulls them to zero."""
    rates, start = [], 0
    for name, own in layout.views(np.empty(layout.n_parameters, dtype=np.float32)).items():
        kind = name.split("_")[0]
        rate = {"bias": _RATE_OF_BIASES, "share": _RATE_OF_SHARES}.get(kind, _RATES.get(name, 1.0))
        rates.append((start, start + own.size, rate, kind in _FORGOTTEN))
        start += own.size
    return rates


@dataclass
class TrainedNetworks:
    """The best epoch, and what was known on the way to it.

    Attributes
    ----------
    parameters : one vector for each network
    held_out : outputs for the rows that were left out at the best epoch, NaN for rows that no network left out
    losses : the mean loss of the rows left out after each epoch
    """

    parameters: list[AnyArray]
    held_out: AnyArray
    losses: list[float] = field(default_factory=list)
    best_epoch: int = 0
    n_epochs: int = 0
    stopped_because: str = "all epochs are done"


def train_networks(
    function: NetworkFunction,
    rows: NetworkRows,
    parts: Sequence[tuple[RowArray, RowArray]],
    baseline: AnyArray,
    loss: NetworkLoss,
    seeds: Sequence[int],
    options: TrainingOptions,
    *,
    n_threads: int,
    after_epoch: Callable[[int, float | None], bool],
) -> TrainedNetworks:
    """Train a network for each pair of rows to learn from and rows left out, epoch by epoch.

    `after_epoch(done, loss)` is called after each epoch; True is a wish to stop.
    """
    known = np.sort(np.concatenate([out for _, out in parts]))
    weight = rows.weight[known].astype(np.float64)
    best = TrainedNetworks([], np.full(rows.target.shape, np.nan))
    best_loss = best_of_cycles = math.inf
    ends = cycle_ends(options.n_epochs)

    with ThreadPoolExecutor(max(1, min(n_threads, len(parts)))) as pool:

        def begun(place: int) -> NetworkTrainer:
            return NetworkTrainer(function, rows, parts[place][0], baseline, seeds[place], options)

        def one_epoch(place: int, number: int) -> AnyArray:
            with np.errstate(over="ignore", invalid="ignore"):  # whoever has diverged is found below
                trainers[place].epoch(number, loss)
                return function.outputs(trainers[place].parameters, rows.inputs.take(parts[place][1]))

        trainers = list(pool.map(begun, range(len(parts))))
        for epoch in range(options.n_epochs):
            held_out = np.full(rows.target.shape, np.nan)
            for place, predicted in enumerate(pool.map(one_epoch, range(len(parts)), repeat(epoch))):
                held_out[parts[place][1]] = predicted
            if not all(np.abs(trainer.flat).max() < _LARGEST_PARAMETER for trainer in trainers):
                if not best.parameters:
                    raise _diverged(options.rate)
                best.stopped_because = "training diverged"
                break
            value = None
            if len(known):
                value = float(np.average(loss.values(held_out[known], rows.target[known]), weights=weight))
                best.losses.append(value)
            if value is None or value < best_loss or not best.parameters:
                best.parameters = [trainer.flat.copy() for trainer in trainers]
                best.held_out, best.best_epoch = held_out, epoch + 1
                best_loss = math.inf if value is None else value
            best.n_epochs = epoch + 1
            if after_epoch(epoch + 1, value):
                best.stopped_because = "a callback asked to stop"
                break
            if options.stops_early and value is not None and epoch + 1 in ends - {options.n_epochs}:
                if best_loss >= best_of_cycles:
                    best.stopped_because = "a cycle of the learning rate brought nothing"
                    break
                best_of_cycles = best_loss
    return best
