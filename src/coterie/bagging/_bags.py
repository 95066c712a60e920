"""The bags of any learners: which rows each member sees, how often, and which columns.

Words
  place  the number of a row among those with weight, in an order that follows from what rows hold
  copy   a row of weight w stands for w rows, rounded up and at most 64: each copy can be drawn
  slot   the number of a copy on the line of all copies
  unit   what one draw of a row weighs: its weight divided by its copies

Draws are about slots, as those of forests are. So a row of weight 2 is drawn as the same row given twice, and the order
of the table does not matter. A learner that takes no weights is given a row as often as it was drawn; then units
cannot count in its fit, and count in the draws instead.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._storage import expect, storable
from coterie._typing import AnyArray, FloatArray, RowArray, SeedArray
from coterie._value_types import (
    BOOL,
    COUNT,
    FLOAT_VECTOR,
    FLOATS,
    INTEGERS,
    NONE,
    NUMBER,
    TEXT,
    array,
    instance,
    list_of,
    tuple_of,
)
from coterie.data.parts import Columns, TableShape
from coterie.errors import InvalidInput, InvalidParameter
from coterie.forests.out_of_bag import OutOfBag
from coterie.forests.plan import BagPlan, copies_of
from coterie.trees.growth_rules import max_features_of

_ROWS, _COLUMNS = 0, 1  # streams of random numbers that never meet


def _random(seed: int, stream: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, stream])))


@dataclass(frozen=True)
class Bag:
    """The rows that a member drew, each once; how often; and what they weigh for a learner that takes weights."""

    rows: RowArray
    counts: RowArray
    weight: FloatArray

    def repeated(self) -> RowArray:
        """The rows, as often as they were drawn."""
        return np.repeat(self.rows, self.counts)


def _verify_bags(bags: Any) -> None:
    expect(len(bags.rows) == len(bags.weight), "has rows and weights of different numbers")
    expect(
        (bags.given is None) == (bags.plan.kind != "given"), "has bags that are given and bags that are drawn"
    )


@storable(
    "Bags",
    {
        "plan": instance(BagPlan),
        "rows": INTEGERS,
        "weight": FLOATS,
        "strata": INTEGERS,
        "takes_weight": BOOL,
        "given": list_of(INTEGERS) | NONE,
    },
    verify=_verify_bags,
)
@dataclass(frozen=True)
class Bags:
    """Draws the bag of one member after the other; any of them again, from its number alone.

    Attributes
    ----------
    plan : what kind of bags, and how many draws
    rows : the row of the table at each place
    weight : what the row at each place weighs
    strata : for balanced bags, the place after the last of each class
    takes_weight : whether the learner takes weights; if not, units count in the draws
    given : the bags that the user listed, or None
    """

    plan: BagPlan
    rows: RowArray
    weight: FloatArray
    strata: RowArray
    takes_weight: bool
    given: list[RowArray] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        plan: BagPlan,
        contents: SeedArray,
        codes: AnyArray | None,
        weight: FloatArray,
        *,
        takes_weight: bool,
        given: list[RowArray] | None = None,
    ) -> "Bags":
        """Put the rows with weight in order: by class where there are classes, then by what they hold."""
        rows = np.flatnonzero(weight > 0)
        classes = np.zeros(len(rows), dtype=np.int64) if codes is None else codes[rows]
        order = np.lexsort((contents[rows], classes))
        rows = rows[order]
        ends = np.flatnonzero(np.diff(classes[order], append=-1)) + 1
        return cls(plan, rows, weight[rows], ends, takes_weight, given)

    def draw(self, number: int, seeds: SeedArray) -> Bag:
        """The bag of a member; `seeds` are those of all members up to this one."""
        if self.plan.kind == "all":
            counts = self._all_counts()
        elif self.given is not None:
            counts = self._given_counts(number)
        else:
            slots = self._slots(number, seeds)
            counts = np.bincount(self._places(slots), minlength=len(self.rows))
        drawn = np.flatnonzero(counts)
        counts = counts[drawn]
        each = self.weight if self.given is not None else self._unit()
        return Bag(self.rows[drawn], counts, counts * each[drawn])

    def _given_counts(self, number: int) -> RowArray:
        assert self.given is not None
        counts = np.bincount(self.given[number], minlength=int(self.rows.max()) + 1)
        return counts[self.rows] * (1 if self.takes_weight else self._all_counts())

    def _all_counts(self) -> RowArray:
        counts = self._copies()
        if self.takes_weight or (self.weight == counts).all():
            return counts
        if (self.weight == self.weight[0]).all():
            return np.ones(len(counts), dtype=np.int64)
        raise InvalidInput(
            "The learner takes no sample_weight, and members that see all rows can only be given them whole times: "
            "sample_weight holds fractions, or numbers above 64. Use bootstrap=True, whole numbers, or another learner."
        )

    def _copies(self) -> RowArray:
        return copies_of(self.weight).astype(np.int64)

    def _unit(self) -> FloatArray:
        return self.weight / self._copies()

    def _ends(self) -> FloatArray:
        """Where each place ends on the line; its length is the number of copies, or the weight."""
        return np.cumsum(self._copies() if self.takes_weight else self.weight, dtype=np.float64)

    def _places(self, slots: AnyArray) -> RowArray:
        if (self.weight == 1).all():
            return slots.astype(np.int64)
        ends = np.cumsum(self._copies()) if self._by_slot() else self._ends()
        return np.minimum(np.searchsorted(ends, slots, side="right"), len(ends) - 1)

    def _by_slot(self) -> bool:
        """Whether whole slots are drawn, each at most once, and not points on the line."""
        return self.plan.kind in ("subsample", "partition")

    def _slots(self, number: int, seeds: SeedArray) -> AnyArray:
        kind, n_draws = self.plan.kind, self.plan.n_draws
        if kind in ("bootstrap", "balanced"):
            ends = self._ends()[self.strata - 1] if kind == "balanced" else self._ends()[-1:]
            chance, begins = _random(int(seeds[number]), _ROWS), np.concatenate([[0.0], ends[:-1]])
            points = [
                low + chance.random(n_draws) * (high - low) for low, high in zip(begins, ends, strict=True)
            ]
            return np.asarray(np.minimum(np.stack(points), np.nextafter(ends, 0.0)[:, None]).ravel())
        if kind == "subsample":
            return np.argsort(self._keys(int(seeds[number])), kind="stable")[:n_draws]
        n_slots = int(self._copies().sum())
        n_parts = (n_slots + n_draws // 2) // n_draws
        shuffled = np.argsort(self._keys(int(seeds[number - number % n_parts])), kind="stable")
        part = number % n_parts
        return shuffled[part * n_slots // n_parts : (part + 1) * n_slots // n_parts]

    def _keys(self, seed: int) -> FloatArray:
        """When each slot comes; heavy slots come sooner if weights cannot count otherwise (Efraimidis, Spirakis)."""
        copies = self._copies()
        waits = _random(seed, _ROWS).exponential(size=int(copies.sum()))
        return waits if self.takes_weight else waits / np.repeat(self._unit(), copies)


def as_given_bags(bags: Any, weight: FloatArray, n_estimators: Any) -> list[RowArray]:
    """The bags that a user lists: the numbers of the rows of each member, checked."""
    n_rows = len(weight)
    if len(bags) != n_estimators:
        raise InvalidParameter(
            f"bootstrap lists the rows of {len(bags)} members, and n_estimators={in_short(n_estimators)}; expected one "
            "bag for each member."
        )
    found = []
    for number, bag in enumerate(bags):
        try:
            rows = np.asarray(bag)
        except ValueError:
            rows = np.zeros(0)
        if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
            raise InvalidParameter(
                f"bootstrap: bag {number} is {in_short(bag)}; expected the numbers of at least one row."
            )
        if rows.min() < -n_rows or rows.max() >= n_rows:
            raise InvalidParameter(
                f"bootstrap: bag {number} has rows from {rows.min()} to {rows.max()}, and X has {n_rows} rows."
            )
        found.append(rows.astype(np.int64) % n_rows)
        if not weight[found[-1]].any():
            raise InvalidInput(
                f"bootstrap: all rows of bag {number} have zero weight, so nothing can be learned from it."
            )
    return found


@storable(
    "ColumnDraws",
    {"n_columns": COUNT, "n_draws": COUNT, "names": tuple_of(TEXT) | NONE, "replace": BOOL},
)
@dataclass(frozen=True)
class ColumnDraws:
    """Draws the columns of one member after the other; None where all see all.

    With replacement, a column that comes twice is seen once.
    """

    n_columns: int
    n_draws: int
    names: tuple[str, ...] | None
    replace: bool

    @classmethod
    def of(cls, max_features: Any, outline: TableShape, *, replace: bool) -> "ColumnDraws | None":
        if outline.n_columns is None:
            if replace or max_features not in (None, 1.0):
                raise InvalidParameter(
                    f"max_features={in_short(max_features)}, bootstrap_features={replace}: X has no columns to draw "
                    "from, so expected max_features=1.0 and bootstrap_features=False."
                )
            return None
        n_draws = max_features_of(max_features, outline.n_columns)
        if n_draws > outline.n_columns:
            raise InvalidInput(
                f"max_features={in_short(max_features)} must be <= n_features: X has {outline.n_columns} columns."
            )
        if n_draws == outline.n_columns and not replace:
            return None
        return cls(outline.n_columns, n_draws, outline.names, replace)

    def draw(self, number: int, seeds: SeedArray) -> Columns:
        chance = _random(int(seeds[number]), _COLUMNS)
        drawn = np.unique(chance.choice(self.n_columns, self.n_draws, replace=self.replace))
        places = tuple(int(place) for place in drawn)
        names = None if self.names is None else tuple(self.names[place] for place in places)
        return Columns(places, names, self.n_columns)


def _verify_sums(sums: Any) -> None:
    n_rows = len(sums.sums)
    same = all(len(own) == n_rows for own in (sums.counts, sums._truth, sums._weight, sums._losses))
    expect(same, "has arrays of different rows")


@storable(
    "OobSums",
    {
        "sums": array("f", 2),
        "counts": INTEGERS,
        "errors": list_of(NUMBER),
        "_truth": array("fiu", 1, 2),
        "_weight": FLOAT_VECTOR,
        "_losses": FLOAT_VECTOR,
    },
    verify=_verify_sums,
)
class OobSums:
    """Sums of the predictions for each row, by the members that did not draw it, and the error after each member.

    Parameters
    ----------
    truth : codes of classes of shape (n_rows,), or numbers of shape (n_rows, n_outputs)
    weight : what rows count in the error, shape (n_rows,)
    n_columns : columns of a prediction
    """

    def __init__(self, truth: AnyArray, weight: FloatArray, n_columns: int) -> None:
        n_rows = len(truth)
        self.sums = np.zeros((n_rows, n_columns))
        self.counts: RowArray = np.zeros(n_rows, dtype=np.int64)
        self.errors: list[float] = []
        self._truth, self._weight = truth, weight
        self._losses = np.zeros(n_rows)

    def add(self, rows: RowArray, predictions: FloatArray) -> None:
        """Add what the next member predicts for the rows that it did not draw."""
        self.sums[rows] += predictions
        self.counts[rows] += 1
        with np.errstate(over="ignore", invalid="ignore"):  # squares of numbers near the largest float
            self._losses[rows] = self._loss(self.sums[rows] / self.counts[rows, None], self._truth[rows])
            weight = np.where(self.counts > 0, self._weight, 0.0)
            self.errors.append(float(weight @ self._losses / weight.sum()) if weight.any() else np.nan)

    def error_of(self, rows: RowArray, predictions: FloatArray) -> float:
        """The error of one member on the rows that it did not draw; NaN without any."""
        weight = self._weight[rows]
        if not weight.any():
            return np.nan
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.average(self._loss(predictions, self._truth[rows]), weights=weight))

    @staticmethod
    def _loss(means: FloatArray, truth: AnyArray) -> FloatArray:
        if truth.ndim == 1:
            return np.asarray(means.argmax(axis=1) != truth, dtype=np.float64)
        return np.asarray(((means - truth) ** 2).mean(axis=1))

    @property
    def known(self) -> OutOfBag:
        with np.errstate(invalid="ignore"):
            means = self.sums / self.counts[:, None]
        return OutOfBag(means, self.counts.copy(), np.array(self.errors))
