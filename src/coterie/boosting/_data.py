"""What a fit of gradient boosting learns from, and what it is evaluated on."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.prepare import TrainingData
from coterie.data.target_statistics import TargetStatistics
from coterie.fitting.eval_set import EvalSet

__all__ = ["BoostingData"]


@dataclass(frozen=True)
class BoostingData:
    """The table as the user gave it, as the engine takes it, and all that came with it.

    Attributes
    ----------
    X : the table as it came, for `init` and for scorers
    train : features, target and weights
    offset : the raw prediction that each row starts from, shape (n_rows, n_outputs), or None
    groups : the number of each row's group, or None
    eval_set : rows to evaluate on, or None
    statistics : target statistics of categories, which are more features, or None
    """

    X: Any
    train: TrainingData
    offset: FloatArray | None = None
    groups: AnyArray | None = None
    eval_set: EvalSet | None = None
    statistics: TargetStatistics | None = None

    @property
    def n_rows(self) -> int:
        return self.train.n_rows

    def weight_of(self, rows: AnyArray) -> FloatArray | None:
        """Weights of all rows, zero for those that a booster does not learn from; no rows means all."""
        weight = self.train.weight
        if len(rows) == 0:
            return weight
        chosen = np.zeros(self.n_rows)
        chosen[rows] = 1.0 if weight is None else weight[rows]
        return chosen
