"""Gradient boosting as Friedman (2001, 2002) described it, on the trees of the engine.

| | a booster of ours | here |
|---|---|---|
| splits | gain of Newton's step | squared error of the gradient: a hessian of 1 |
| leaves | the same step | a line search: Newton's step of the leaf, its mean or its quantile |
| rows of a round | drawn in the engine; leaves see all | drawn here; those left out are out of bag |

What is known after each round is kept in a `BoostingHistory`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.boosting._trainer import Booster
from coterie.boosting._training import BoostingFit
from coterie.losses.loss import no_hessian

__all__ = [
    "BoostingFit",
    "BoostingHistory",
    "FriedmanBooster",
    "HistoryBooster",
    "LossHistory",
    "ScoreHistory",
]


@dataclass
class BoostingHistory:
    """Losses after each round that was grown: of the rows in the bag and, where rows are drawn, of those out of it.

    Attributes
    ----------
    first_oob_loss : of the rows out of the first bag, before its round
    """

    train_losses: list[float] = field(default_factory=list)
    oob_losses: list[float] = field(default_factory=list)
    first_oob_loss: float | None = None


class _MeasuredBooster(Booster):
    """A booster that can tell the loss of rows of its table.

    Parameters
    ----------
    target, weight : of all rows of the table
    history : where losses are kept
    """

    def __init__(
        self,
        *args: Any,
        target: AnyArray,
        weight: FloatArray | None,
        history: BoostingHistory,
        **kwargs: Any,
    ) -> None:
        # A round without a split is followed by the others: there are as many as were requested.
        super().__init__(*args, **{**kwargs, "varied": True})
        self._target, self._row_weight, self._history = target, weight, history
        self._learned_from = (
            np.arange(len(target)) if len(self._rows) == 0 else np.asarray(self._rows, dtype=np.int64)
        )

    def _mean_loss(self, rows: RowArray) -> float:
        weight = None if self._row_weight is None else self._row_weight[rows]
        if weight is not None and not weight.any():
            return 0.0
        return self.loss.mean_value(self._target[rows], self.loss.raw_predictions(rows), weight)


class HistoryBooster(_MeasuredBooster):
    """A booster that measures the rows it learns from before the first round and after each.

    `measure` makes what is kept from raw predictions of some rows, and their numbers; None for the loss.
    """

    def __init__(
        self, *args: Any, measure: Callable[[FloatArray, RowArray], float] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._measure = measure
        self._keep()

    def grow_round(self) -> None:
        super().grow_round()
        self._keep()

    def _keep(self) -> None:
        rows = self._learned_from
        found = (
            self._mean_loss(rows)
            if self._measure is None
            else self._measure(self.loss.raw_predictions(rows), rows)
        )
        self._history.train_losses.append(found)


class FriedmanBooster(_MeasuredBooster):
    """Grows rounds on the gradient alone, each on rows drawn for it, and finds the values of leaves by a line search.

    `subsample` is the share of the rows that a round sees.
    """

    def __init__(self, *args: Any, subsample: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        weight = self._row_weight
        self._hessian = no_hessian() if weight is None else weight.astype(np.float32)
        self._subsample = subsample

    def grow_round(self) -> None:
        number = len(self.rounds)
        if self._known is not None and number < len(self._known):
            super().grow_round()
            return
        bag, left_out = self._drawn(number)
        if len(left_out) and self._history.first_oob_loss is None:
            self._history.first_oob_loss = self._mean_loss(left_out)
        self.loss.begin_round()
        rows = bag.astype(np.uint32) if len(left_out) else self._rows
        self.rounds.append([self._tree(output, rows, number) for output in range(self.loss.n_outputs)])
        self._history.train_losses.append(self._mean_loss(bag))
        if len(left_out):
            self._history.oob_losses.append(self._mean_loss(left_out))

    def _tree(self, output: int, rows: AnyArray, number: int) -> Any:
        loss, grower = self.loss, self._grower
        gradient, hessian = loss.derivatives(output)
        seed = (self._seed + number * loss.n_outputs + output) % 2**64
        tree = grower.grow(gradient, self._hessian, rows, seed)
        if refined := loss.leaf_quantile(output):
            grower.set_quantile_values(tree, refined.residual, refined.weight, refined.level)
        elif len(hessian):
            # The steps of K scores are too long together: Friedman takes so much of each.
            share = 1.0 if loss.n_outputs == 1 else (loss.n_outputs - 1) / loss.n_outputs
            grower.set_newton_values(tree, gradient * np.float32(share), hessian)
        grower.add_predictions(loss.scores[output])
        return tree

    def _drawn(self, number: int) -> tuple[RowArray, RowArray]:
        """The rows of a round, without replacement, and the others; both ascend."""
        rows = self._learned_from
        if self._subsample >= 1:
            return rows, rows[:0]
        chance = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self._seed, number])))
        in_bag = np.zeros(len(rows), dtype=bool)
        in_bag[chance.permutation(len(rows))[: max(1, int(self._subsample * len(rows)))]] = True
        return rows[in_bag], rows[~in_bag]


class LossHistory:
    """Stops at the first round that is no better, by `tol`, than the worst of the last `n_iter_no_change` rounds.

    Every round that was grown is kept. Rounds of a fit that is continued are not judged again.
    """

    def __init__(self, n_iter_no_change: int, tol: float, n_known: int = 0) -> None:
        self.best_round = 0
        self._last = np.full(n_iter_no_change, np.inf)
        self._tol, self._n_known = tol, n_known

    def reached(self, loss: float) -> bool:
        self.best_round += 1
        if self.best_round <= self._n_known:
            return False
        if not (loss + self._tol < self._last).any():
            return True
        self._last[(self.best_round - 1) % len(self._last)] = loss
        return False


class ScoreHistory:
    """Stops when none of the last `n_iter_no_change` rounds is better, by `tol`, than the one before them.

    Every round that was grown is kept. `losses` begins with what was measured before the first round; rounds of a fit
    that is continued are not judged again.
    """

    def __init__(self, first: float, n_iter_no_change: int, tol: float, n_known: int = 0) -> None:
        self.best_round = 0
        self.losses = [first]
        self._patience, self._tol, self._n_known = n_iter_no_change, tol, n_known

    def reached(self, loss: float) -> bool:
        self.best_round += 1
        self.losses.append(loss)
        if self.best_round <= self._n_known or len(self.losses) <= self._patience:
            return False
        reference = self.losses[-self._patience - 1] - self._tol
        return not any(recent < reference for recent in self.losses[-self._patience :])
