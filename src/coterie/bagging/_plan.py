"""From the parameters of bagging to what its loop takes: what is learned from, and how bags are drawn."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from coterie._params import (
    ArrayLike,
    Boolean,
    EstimatorLike,
    Function,
    Integer,
    OneOf,
    Params,
    Seed,
    Share,
    in_short,
)
from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray, SeedArray
from coterie._value_types import BOOL, COUNT, NONE, TEXT, instance
from coterie.bagging._bags import Bags, ColumnDraws, as_given_bags
from coterie.data.content import hashes_of_numbers, hashes_of_objects, hashes_of_rows, hashes_of_sparse
from coterie.data.parts import TableShape
from coterie.data.prepare import read_table
from coterie.data.target import Target
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.checkpoint import CheckpointLike
from coterie.fitting.scoring import ScorerName
from coterie.fitting.warm_start import BEGIN_ANEW, PreviousFit, check_no_fewer, check_number_given
from coterie.forests.plan import BagPlan, copies_of, plan_bags, refuse_wishes_out_of_bag
from coterie.members.weight_parameter import takes_weight

BAGGING_PARAMS: Params = {
    "estimator": [EstimatorLike(), None],
    "n_estimators": [Integer(1), OneOf("auto")],
    "max_samples": [Integer(1), Share(with_one=True), None],
    "max_features": [Integer(1), Share(with_one=True), OneOf("sqrt", "log2"), None],
    "bootstrap": [Boolean(), OneOf("partition"), ArrayLike()],
    "bootstrap_features": [Boolean()],
    "oob_score": [Boolean(), OneOf("auto"), ScorerName(), Function()],
    "on_error": [OneOf("raise", "drop")],
    "warm_start": [Boolean()],
    "n_jobs": [Integer(), None],
    "random_state": [Seed()],
    "verbose": [Integer(0), Boolean()],
    "checkpoint": [CheckpointLike(), None],
}


_FEW_CELLS = 2**22


@dataclass(frozen=True)
class BaggingData:
    """What `fit` was given, read and checked.

    Attributes
    ----------
    labels : y as members see it
    weight : what each row weighs, or None
    params : what `fit` of members is given by name
    contents : what each row holds, y included, as one number
    draw_weight : how often rows are drawn, where that is all that their weights say; then `weight` is None
    """

    X: Any
    outline: TableShape
    target: Target
    labels: AnyArray
    weight: FloatArray | None
    params: dict[str, Any]
    contents: SeedArray
    draw_weight: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        return self.outline.n_rows

    @property
    def row_weight(self) -> FloatArray:
        return np.ones(self.n_rows) if self.weight is None else self.weight

    @property
    def codes(self) -> AnyArray | None:
        """The classes of rows, or None for numbers."""
        return None if self.target.classes is None else self.target.values


def _hashes(X: Any, outline: TableShape) -> SeedArray:
    if outline.table is not None:
        return hashes_of_rows(outline.table)
    if not sparse.issparse(X):
        return hashes_of_objects(X)
    # A small table is drawn from as the same table would be with its zeros written out.
    small = outline.n_rows * (outline.n_columns or 0) <= _FEW_CELLS
    return hashes_of_rows(read_table(X)) if small else hashes_of_sparse(X)


def contents_of(X: Any, outline: TableShape, target: Target) -> SeedArray:
    """One number for what each row and its target hold; a class is known by its label."""
    rows = _hashes(X, outline)
    if target.classes is None:
        return rows ^ hashes_of_numbers(target.values)
    return rows ^ hashes_of_objects([str(label) for label in target.classes])[target.values]


@storable(
    "BaggingTrace",
    {
        "seed": COUNT,
        "data": TEXT,
        "plan": instance(BagPlan),
        "columns": instance(ColumnDraws) | NONE,
        "follow": BOOL,
    },
)
@dataclass(frozen=True)
class BagFitSignature:
    """What a fit was about, to know whether another one continues it."""

    seed: int
    data: str
    plan: BagPlan
    columns: ColumnDraws | None
    follow: bool

    @classmethod
    def of(
        cls, seed: int, data: BaggingData, plan: BagPlan, columns: ColumnDraws | None, *, track_oob: bool
    ) -> "BagFitSignature":
        digest = hashlib.blake2b(data.contents.tobytes(), digest_size=16)
        digest.update(data.row_weight.tobytes())
        digest.update(repr((data.outline.names, data.outline.n_columns)).encode())
        return cls(seed, digest.hexdigest(), plan, columns, track_oob)


def bags_for(estimator: Any, data: BaggingData, learner: Any) -> Bags:
    """The bags that `bootstrap` and `max_samples` define."""
    weight, bootstrap, codes = data.row_weight, estimator.bootstrap, data.codes
    if not ArrayLike().accepts(bootstrap):
        plan = plan_bags(
            bootstrap,
            estimator.max_samples,
            copies_of(weight),
            data.target.values,
            total=float(weight.sum()),
        )
        return Bags.of(plan, data.contents, codes, weight, takes_weight=takes_weight(learner))
    if estimator.max_samples is not None:
        raise InvalidParameter(
            f"max_samples={in_short(estimator.max_samples)}: expected None where bootstrap lists the rows of each bag."
        )
    given = as_given_bags(bootstrap, weight, estimator.n_estimators)
    plan = BagPlan("given", max(map(len, given)), float(weight.sum()))
    return Bags.of(plan, data.contents, codes, weight, takes_weight=takes_weight(learner), given=given)


def check_together(estimator: Any, plan: BagPlan) -> None:
    """Refuse parameters that make no sense beside each other."""
    if not plan.leaves_rows_out:
        refuse_wishes_out_of_bag(estimator, "member")
    check_number_given(estimator, "the out-of-bag error has settled")


def check_continues(
    n_estimators: int, previous: PreviousFit[Any], trace: BagFitSignature, bags: Bags
) -> None:
    """Refuse to continue a fit that was about something else."""
    earlier: BagFitSignature = previous.signature
    pairs = {
        "X, y or sample_weight": (earlier.data, trace.data),
        "bootstrap or max_samples": (earlier.plan, trace.plan),
        "max_features or bootstrap_features": (earlier.columns, trace.columns),
        "oob_score": (earlier.follow, trace.follow),
    }
    for name, (then, now) in pairs.items():
        if then != now:
            raise InvalidInput(
                f"warm_start=True continues the last fit, and this fit differs in {name}.",
                parameter=name,
                hint=BEGIN_ANEW,
            )
    n_known = previous.state.n_tried
    check_no_fewer(n_estimators, n_known, "members")
    known = previous.state.bags.given or []
    if not all(np.array_equal(then, now) for then, now in zip(known, bags.given or [], strict=False)):
        raise InvalidInput(
            "warm_start=True continues the last fit, and bootstrap lists other bags for its members.",
            parameter="bootstrap",
            hint=BEGIN_ANEW,
        )
