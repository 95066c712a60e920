"""DART: rounds that are left out while the next one is grown, so that no round counts on another to mend it.

Late trees of a booster correct what the early ones missed in a few rows, and early ones decide most of the prediction.
If some rounds are left out when a tree is grown, it has to learn what they knew as well. Put together, the two would
count it twice, so both are scaled down: of k rounds left out each keeps k / (k + r) of its weight, and the new one gets
1 / (k + r), where r is the learning rate, which is in the new tree's leaf values already. With r = 1 these are the
numbers of the paper (Rashmi and Gilad-Bachrach, 2015).

Weights change as long as the booster grows: the model of the first n rounds has the weights of that time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._params import spawn_seeds
from coterie._typing import FloatArray
from coterie.boosting._prediction import add_scores
from coterie.boosting._trainer import Booster
from coterie.errors import InvalidParameter


class DroppingBooster(Booster):
    """A booster that leaves each earlier round out with the chance `rate`, and in the share `skip` of rounds none."""

    def __init__(
        self, *args: Any, rate: float, skip: float, learning_rate: float, n_threads: int, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._rate, self._skip, self._learning_rate = rate, skip, learning_rate
        self._n_threads = n_threads
        self._draws = np.random.Generator(np.random.PCG64(int(spawn_seeds(self._seed % 2**64, 1)[0])))
        # float64: what is taken out and put back a hundred times must come back as it was.
        self._scores: FloatArray = self.loss.scores.T.astype(np.float64)
        self._weights: list[FloatArray] = []  # of all rounds, after each round

    def grow_round(self) -> None:
        weights = self._weights[-1] if self._weights else np.empty(0)
        dropped = self._drawn(len(weights))
        gone = self._contributions(dropped, weights[dropped])
        self.loss.scores[:] = (self._scores - gone).T
        super().grow_round()
        kept, fresh = dart_weights(len(dropped), self._learning_rate)
        self._scores += self._contributions([len(weights)], [fresh]) - (1 - kept) * gone
        self.loss.scores[:] = self._scores.T
        weights = np.append(weights, fresh)
        weights[dropped] *= kept
        self._weights.append(weights)

    def trees_after(self, n_rounds: int) -> list[list[Any]]:
        if n_rounds == 0:
            return []
        weights = self._weights[n_rounds - 1]
        return [
            [tree.scaled(weight) for tree in trees]
            for trees, weight in zip(self.rounds[:n_rounds], weights, strict=True)
        ]

    def settle(self) -> None:
        self.rounds = self.trees_after(len(self.rounds))
        self._weights = [np.ones(number + 1) for number in range(len(self.rounds))]

    def _drawn(self, n_rounds: int) -> list[int]:
        """Numbers of the rounds to leave out: one at least, unless this round leaves none out."""
        if self._draws.random() < self._skip or n_rounds == 0:
            return []
        chosen = np.flatnonzero(self._draws.random(n_rounds) < self._rate)
        return chosen.tolist() if len(chosen) else [int(self._draws.integers(n_rounds))]

    def _contributions(self, numbers: Sequence[int], weights: Sequence[float] | FloatArray) -> FloatArray:
        """What some rounds add to the scores of all rows, in the loop's units, each times its weight."""
        loss = self.loss
        if len(numbers) == 0:
            return np.zeros_like(self._scores)
        forest = _engine.Forest(self.encoded.n_features, loss.n_outputs)
        for number, weight in zip(numbers, weights, strict=True):
            for output, tree in enumerate(self.rounds[number]):
                forest.add(tree.scaled(weight), output)
        added = add_scores(forest, np.zeros(loss.n_outputs), self.encoded, self._n_threads)
        return np.asarray(added / loss.units)


def dart_weights(n_dropped: int, learning_rate: float) -> tuple[float, float]:
    """What is kept of the weights of the rounds left out, and the weight of the new one.

    Examples
    --------
    >>> dart_weights(3, learning_rate=1.0)
    (0.75, 0.25)
    >>> dart_weights(0, learning_rate=0.1)
    (1.0, 1.0)
    """
    if n_dropped == 0:
        return 1.0, 1.0
    whole = n_dropped + learning_rate
    return n_dropped / whole, 1 / whole


def check_dropout(params: Mapping[str, Any], *, stops_early: bool, has_eval_set: bool) -> None:
    """Refuse what needs the model of a part of the rounds to be a part of the model."""
    rate = params["dropout_rate"]
    if isinstance(params["n_estimators"], str):
        raise InvalidParameter(
            f"dropout_rate={rate} needs a number of rounds, and n_estimators={params['n_estimators']!r} stops by "
            "itself.",
            parameter="n_estimators",
            received=params["n_estimators"],
            allowed="a whole number >= 1",
            hint="Set n_estimators, for example to 200.",
        )
    reasons = {
        "early_stopping": (
            stops_early,
            "Set early_stopping=False, and choose n_estimators by cross-validation.",
        ),
        "eval_set": (has_eval_set, "Leave eval_set out, and score the model after the fit."),
        "warm_start": (params["warm_start"], "Set warm_start=False, and fit anew with more rounds."),
    }
    for name, (is_set, instead) in reasons.items():
        if is_set:
            raise InvalidParameter(
                f"dropout_rate={rate} does not go with {name}: every round changes the weights of earlier ones, so the "
                "first rounds of a model are not a model that was ever grown.",
                parameter="dropout_rate",
                received=rate,
                allowed="0",
                hint=instead,
            )
