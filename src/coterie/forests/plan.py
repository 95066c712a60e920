"""From the parameters of a forest to what the engine takes: which rows each tree draws, and how it grows.

Words
  bag     the rows that a tree draws; those it does not draw are out of its bag
  copy    a row of weight w stands for w rows, rounded up and at most 64: each copy can be drawn
  factor  what class_weight makes of a row. It counts in trees that drew the row, and does not change how it is drawn:
          else rows of a heavy class would hardly ever be out of bag
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._params import (
    ArrayLike,
    Boolean,
    Function,
    Integer,
    MappingLike,
    OneOf,
    Params,
    Real,
    Seed,
    Share,
    in_short,
    is_auto,
)
from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import COUNT, NUMBER, one_of
from coterie.data.prepare import TrainingData
from coterie.data.weight import combined_weight
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.checkpoint import CheckpointLike
from coterie.fitting.scoring import ScorerName
from coterie.fitting.warm_start import check_number_given
from coterie.trees.growth_rules import criterion_of, criterion_options, interaction_sets

FOREST_PARAMS: Params = {
    "n_estimators": [Integer(1), OneOf("auto")],
    "max_depth": [Integer(1), None],
    "min_samples_split": [Integer(2), Share(with_one=True)],
    "min_samples_leaf": [Integer(1), Share(with_one=False)],
    "min_weight_fraction_leaf": [Real(0, 0.5)],
    "max_features": [Integer(1), Share(with_one=True), OneOf("sqrt", "log2"), None],
    "max_leaf_nodes": [Integer(2), None],
    "min_impurity_decrease": [Real(0, None)],
    "bootstrap": [Boolean(), OneOf("partition")],
    "oob_score": [Boolean(), OneOf("auto"), ScorerName(), Function()],
    "n_jobs": [Integer(), None],
    "random_state": [Seed()],
    "verbose": [Integer(0), Boolean()],
    "warm_start": [Boolean()],
    "ccp_alpha": [Real(0, None)],
    "max_samples": [Integer(1), Share(with_one=True), None],
    "monotonic_cst": [ArrayLike(), MappingLike(), None],
    "interaction_cst": [ArrayLike(), OneOf("pairwise", "no_interactions"), None],
    "features_per": [OneOf("split", "tree")],
    "prune": [OneOf("oob"), None],
    "keep_rows": [Boolean()],
    "categorical_features": [OneOf("auto"), ArrayLike(), None],
    "unknown_category": [OneOf("missing", "error")],
    "checkpoint": [CheckpointLike(), None],
}

_MOST_COPIES = 64  # as the engine has it


_BAG_KINDS = ("all", "bootstrap", "subsample", "balanced", "partition", "given")


@storable("BagPlan", {"kind": one_of(*_BAG_KINDS), "n_draws": COUNT, "weight": NUMBER})
@dataclass(frozen=True)
class BagPlan:
    """How the rows of each tree are drawn.

    Attributes
    ----------
    kind : "all", "bootstrap", "subsample", "balanced" or "partition"
    n_draws : int, of each tree; for "balanced" of each class, for "partition" about as many
    weight : float, what the rows of a tree weigh in all, about
    """

    kind: str
    n_draws: int
    weight: float

    @property
    def leaves_rows_out(self) -> bool:
        return self.kind != "all"


@dataclass(frozen=True)
class RowWeights:
    """What rows count, each array None if all count alike.

    Attributes
    ----------
    weight : float array of shape (n_rows,), how rows are drawn, scored and tested; 0 for rows that take no part
    factor : float array of shape (n_rows,), what they count in trees beside that
    """

    weight: FloatArray | None
    factor: FloatArray | None

    @classmethod
    def of(cls, train: TrainingData) -> "RowWeights":
        weight = None if train.sample_weight is None else combined_weight(train.sample_weight, None)
        if train.target.row_weight is None:
            return cls(weight, None)
        factor = combined_weight(None, train.target.row_weight)
        assert factor is not None
        if (factor == 0).any():
            weight = np.where(factor > 0, 1.0 if weight is None else weight, 0.0)
        return cls(weight, np.where(factor > 0, factor, 1.0))

    def total(self, n_rows: int) -> float:
        weight = np.ones(n_rows) if self.weight is None else self.weight
        return float((weight if self.factor is None else weight * self.factor).sum())


def copies_of(weight: FloatArray) -> FloatArray:
    """How many copies of each row there are to draw; none of rows without weight."""
    return np.where(weight > 0, np.clip(np.ceil(weight), 1, _MOST_COPIES), 0)


def bag_of(estimator: Any, train: TrainingData, rows: RowWeights) -> BagPlan:
    """What `bootstrap` and `max_samples` mean for this table."""
    n_rows = train.encoded.n_rows
    copies = copies_of(np.ones(n_rows) if rows.weight is None else rows.weight)
    return plan_bags(
        estimator.bootstrap, estimator.max_samples, copies, train.target.values, total=rows.total(n_rows)
    )


def plan_bags(
    bootstrap: Any, wanted: float | None, copies: FloatArray, y: AnyArray, *, total: float
) -> BagPlan:
    """How bags are drawn from so many copies of each row; `y` holds codes of classes where bags are balanced."""
    n_copies = int(copies.sum())
    if isinstance(bootstrap, str) and bootstrap == "balanced":
        return _balanced(wanted, copies, y, total / n_copies)
    n_draws = _draws(wanted, n_copies, n_copies)
    if isinstance(bootstrap, str):
        kind = "partition"
        _check_parts(wanted, n_draws, n_copies)
    elif bootstrap:
        kind = "bootstrap"
    else:
        kind = "all" if n_draws == n_copies else "subsample"
    return BagPlan(kind, n_draws, total * n_draws / n_copies)


def _balanced(wanted: float | None, copies: FloatArray, y: AnyArray, each: float) -> BagPlan:
    if y.ndim > 1:
        raise InvalidParameter(
            f"bootstrap='balanced' is for one output: y has {y.shape[1]}, and rows cannot be balanced "
            "for all of them at once. Use bootstrap=True with class_weight."
        )
    sizes = np.bincount(y, weights=copies)
    present = sizes[sizes > 0]
    n_draws = _draws(wanted, int(present.min()), int(copies.sum()))
    return BagPlan("balanced", n_draws, n_draws * len(present) * each)


def _draws(wanted: float | None, whole: int, most: int) -> int:
    """A number of rows: as many as wanted, a share of the whole, or the whole."""
    if wanted is None:
        return whole
    if not isinstance(wanted, Integral):
        return max(1, round(float(wanted) * whole))
    if wanted > most:
        raise InvalidInput(
            f"max_samples={in_short(wanted)} is more than the {most} rows of the table (a row of weight 2 counts "
            "twice). Choose fewer, a share in (0, 1], or None."
        )
    return int(wanted)


def _check_parts(wanted: float | None, n_draws: int, n_copies: int) -> None:
    if wanted is None:
        raise InvalidParameter(
            "bootstrap='partition' needs max_samples: the number, or the share, of the rows in each part."
        )
    if (n_copies + n_draws // 2) // n_draws < 2:
        raise InvalidParameter(
            f"max_samples={in_short(wanted)} with bootstrap='partition' makes one part of all {n_copies} rows. Choose "
            "parts of two thirds of the rows at most."
        )


def refuse_wishes_out_of_bag(estimator: Any, member: str) -> None:
    """Refuse what needs rows out of bag where every tree, or member, sees every row."""
    wanted = estimator.oob_score
    wishes = {
        "n_estimators='auto'": is_auto(estimator.n_estimators),
        "prune='oob'": getattr(estimator, "prune", None) is not None,
        f"oob_score={in_short(wanted)}": not is_auto(wanted)
        and wanted is not False
        and wanted is not np.False_,
    }
    for wish, is_wished in wishes.items():
        if is_wished:
            raise InvalidParameter(
                f"{type(estimator).__name__}({wish}) needs rows out of bag. Out of bag estimation only available if "
                f"bootstrap=True, or if max_samples is less than all rows: now every {member} sees every row."
            )


def check_together(estimator: Any, bag: BagPlan) -> None:
    """Refuse parameters that make no sense beside each other."""
    if not bag.leaves_rows_out:
        refuse_wishes_out_of_bag(estimator, "tree")
    if estimator.warm_start:
        check_number_given(estimator, "the out-of-bag error has settled")


def options_of(
    estimator: Any,
    train: TrainingData,
    bag: BagPlan,
    *,
    unit: float,
    max_features: int,
    track_oob: bool,
    seed: int,
    first_tree: int,
    n_threads: int,
) -> _engine.ForestOptions:
    """The engine's options; `track_oob`: whether the trees also predict the rows that are out of their bags."""
    n_features = train.encoded.n_features
    per_tree = estimator.features_per == "tree"
    class_weight = getattr(estimator, "class_weight", None)
    squared = criterion_of(estimator) == "squared_error"
    return _engine.ForestOptions(
        tree=criterion_options(
            estimator,
            train,
            unit=unit,
            random_splits=estimator._random_splits,
            total_weight=bag.weight,
            max_features=n_features if per_tree else max_features,
            seed=seed,
            n_threads=n_threads,
        ),
        features_per_tree=min(max_features, n_features) if per_tree else 0,
        interaction_sets=interaction_sets(estimator.interaction_cst, n_features, train.schema.names),
        balance_bag=isinstance(class_weight, str) and class_weight == "balanced_subsample",
        ccp_alpha=min(float(estimator.ccp_alpha) / unit / (unit if squared else 1), 1e300),
        prune_out_of_bag=estimator.prune == "oob",
        bag=bag.kind,
        share=1.0,
        most_draws=bag.n_draws,
        out_of_bag=track_oob,
        first_tree=first_tree,
    )
