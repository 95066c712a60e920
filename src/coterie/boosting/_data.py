"""What a fit of gradient boosting learns from, and which of its rows each booster leaves out to be evaluated on.

| | one booster | several |
|---|---|---|
| an eval set | all rows | all rows |
| random | a share, if it stops early | folds: each row is left out by one booster |
| last rows | the last share, if they stop early | the same last share for all |

Rows of zero weight are on neither side.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.boosting.plan import Plan
from coterie.data.holdout import fold_numbers, holdout_rows, last_rows
from coterie.data.prepare import TrainingData
from coterie.data.target_statistics import TargetStatistics
from coterie.errors import InvalidInput
from coterie.fitting.eval_set import EvalSet

__all__ = ["BoostingData", "Part", "all_rows", "divide_rows"]


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


@dataclass(frozen=True)
class Part:
    """Row numbers of one booster; no rows to learn from means all of them."""

    rows: AnyArray  # uint32, as the engine takes them
    left_out: RowArray


def divide_rows(
    train: TrainingData,
    plan: Plan,
    seed: int,
    *,
    holdout: str,
    validation_fraction: float,
    groups: AnyArray | None,
    has_eval_set: bool,
) -> list[Part]:
    """A part for each booster; `groups` is the number of each row's group."""
    wants_last = holdout == "last_rows"
    leaves_out = not has_eval_set and (plan.stops_early or (plan.n_folds > 1 and not wants_last))
    if groups is not None:
        _check_groups(wants_last, leaves_out, has_eval_set)
    if not leaves_out:
        return [all_rows(train)] * plan.n_folds
    kept = _kept(train)
    if wants_last:
        learn, aside = last_rows(len(kept), validation_fraction)
        return [_part(kept, learn, aside)] * plan.n_folds
    codes = train.target.values[kept] if train.target.task == "classification" else None
    own_groups = None if groups is None else np.unique(groups[kept], return_inverse=True)[1]
    if plan.n_folds > 1:
        fold = fold_numbers(len(kept), plan.n_folds, seed, codes, own_groups)
        return [
            _part(kept, np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(plan.n_folds)
        ]
    learn, aside = holdout_rows(len(kept), validation_fraction, seed, codes, own_groups)
    return [_part(kept, learn, aside)]


def all_rows(train: TrainingData) -> Part:
    """Every row that has weight."""
    kept = _kept(train)
    return _part(kept, np.arange(len(kept) if len(kept) < train.encoded.n_rows else 0), np.arange(0))


def _kept(train: TrainingData) -> RowArray:
    return np.arange(train.encoded.n_rows) if train.weight is None else np.flatnonzero(train.weight > 0)


def _part(kept: RowArray, learn: RowArray, aside: RowArray) -> Part:
    return Part(kept[learn].astype(np.uint32), kept[aside])


def _check_groups(wants_last: bool, leaves_out: bool, has_eval_set: bool) -> None:
    if wants_last:
        raise InvalidInput(
            "groups cannot be kept together by holdout='last_rows', which cuts the table at one row, wherever groups "
            "begin and end.",
            parameter="groups",
            hint="Leave groups out, or choose holdout='random'.",
        )
    if not leaves_out:
        why = (
            "it is evaluated on the eval_set"
            if has_eval_set
            else "there is one booster, and early_stopping is off"
        )
        raise InvalidInput(
            f"groups need a validation split, whose rows are held out group by group, and this fit has none: {why}.",
            parameter="groups",
            hint="Leave groups out" + ("." if has_eval_set else ", or set early_stopping=True."),
        )
