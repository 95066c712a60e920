"""What members are fitted to, the folds that are held out, within which limits, and what a fitted member is."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from coterie._params import Integer
from coterie._storage import expect, storable
from coterie._typing import AnyArray, ClassWeight, FloatArray, RowArray, Task
from coterie._value_types import BOOL, COUNT, INTEGERS, NUMBER, TEXT
from coterie.committee.candidates.entry import Entry, Shape
from coterie.committee.candidates.foresight import ForecastState
from coterie.committee.metrics import RowTargets
from coterie.data.groups import read_groups
from coterie.data.table import Table
from coterie.data.target import Target, read_target
from coterie.data.weight import class_weights_of_rows, combined_weight, read_weight
from coterie.errors import InvalidInput
from coterie.fitting.monitor import FitEvent
from coterie.members.out_of_fold import Fold, folds_of, splitter_of
from coterie.members.response import ResponseMethod


def drawn_folds(
    cv: Any, X: Any, y: AnyArray, groups: AnyArray | None, task: Task, seed: int, owner: str
) -> list[Fold]:
    """The folds that `cv` stands for.

    A number: rows are mixed first, classes are spread evenly, and rows of a group stay together. `y` are codes of
    classes or numbers.
    """
    n_rows = len(y)
    if cv is not None and not Integer(2).accepts(cv):
        splitter = splitter_of(cv, y, classifier=task == "classification")
        given = {} if groups is None else {"groups": groups}
        return folds_of(splitter, X, y, n_rows, owner, **given)
    n_parts = n_rows if groups is None else int(groups.max()) + 1
    n_folds = min(5 if cv is None else int(cv), n_parts)
    if n_folds < 2:
        what = "rows" if groups is None else "groups"
        raise InvalidInput.expecting(
            f"{owner} holds rows out, and n_samples={n_rows} with {n_parts} {what} cannot be split",
            f"at least two {what}",
            "cv",
            cv,
        )
    splitter = _splitter(n_folds, y, groups, task, seed)
    with warnings.catch_warnings():
        # Members that were fitted without a rare class give it no probability.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        pairs = list(splitter.split(np.zeros((n_rows, 1)), y, groups))
    return [Fold(train, test) for train, test in pairs if len(train) and len(test)]


def thinned(folds: list[Fold], most: int, seed: int) -> list[Fold]:
    """The same folds with fewer rows held out, drawn at random, if they are more than `most` in all.

    Examples
    --------
    >>> [fold] = thinned([Fold(np.arange(5), np.arange(5, 15))], 4, seed=0)
    >>> len(fold.train), len(fold.test)
    (5, 4)
    """
    total = sum(len(fold.test) for fold in folds)
    if total <= most:
        return folds
    rng = np.random.default_rng(seed)
    return [
        Fold(fold.train, np.sort(rng.permutation(fold.test)[: max(1, len(fold.test) * most // total)]))
        for fold in folds
    ]


def _splitter(n_folds: int, y: AnyArray, groups: AnyArray | None, task: Task, seed: int) -> Any:
    draws: dict[str, Any] = {"n_splits": n_folds, "shuffle": True, "random_state": seed % 2**32}
    spread = task == "classification" and np.bincount(y).max() >= n_folds
    if groups is None:
        return StratifiedKFold(**draws) if spread else KFold(**draws)
    return StratifiedGroupKFold(**draws) if spread else GroupKFold(**draws)


@dataclass(frozen=True)
class Clock:
    """Seconds since the fit began, and the limit; `now` is any function whose differences are seconds."""

    now: Callable[[], float]
    begun: float
    limit: float | None

    @property
    def elapsed(self) -> float:
        return self.now() - self.begun

    @property
    def left(self) -> float:
        return float("inf") if self.limit is None else self.limit - self.elapsed


class Deadline:
    """A monitor that stops rounds of boosting and trees of forests after the first event that comes too late.

    Attributes
    ----------
    stopped : whether a fit ended before its last round or tree
    stop : the number of the first event that came too late, or 0: with it the fit can be repeated without a clock
    """

    def __init__(self, clock: Clock, until: float) -> None:
        self._clock = clock
        self._until = until
        self._n_events = 0
        self.stopped = False
        self.stop = 0

    def __call__(self, event: FitEvent) -> bool:
        if event.step not in ("round", "tree"):
            return False
        self._n_events += 1
        late = self._is_late()
        if late and not self.stop:
            self.stop = self._n_events
        self.stopped |= late and event.done != event.total
        return late

    def _is_late(self) -> bool:
        return self._clock.elapsed > self._until


class RepeatedDeadline(Deadline):
    """Stops a fit at the event at which another one was stopped; 0: never."""

    def __init__(self, stop: int) -> None:
        super().__init__(Clock(lambda: 0.0, 0.0, None), float("inf"))
        self._at = stop

    def _is_late(self) -> bool:
        return 0 < self._at <= self._n_events


def _verify_record(record: Any) -> None:
    expect(len(record.stops) > 0 and record.stops.min() >= 0, "has a record of no model")
    expect(record.predict_time >= 0, "has a record of a time below 0")


@storable(
    "committee.MemberRecord",
    {"name": TEXT, "n_rows": COUNT, "single_fit": BOOL, "stops": INTEGERS, "predict_time": NUMBER},
    optional=["predict_time"],
    verify=_verify_record,
)
@dataclass(frozen=True)
class MemberRecord:
    """How a member was fitted, so that it can be fitted again to the same bits.

    Attributes
    ----------
    n_rows : rows that a model was fitted to, at most
    single_fit : whether there is one model, which left rows out by itself, and not one for each fold
    stops : for each model, the event (a round or some trees) at which the time limit ended it, or 0
    predict_time : seconds for a thousand rows, by which `max_predict_time` decided who may have weight
    """

    name: str
    n_rows: int
    single_fit: bool
    stops: RowArray
    predict_time: float = 0.0


@dataclass(frozen=True)
class ReadInput:
    """What `fit` was given, checked: the target, and weights and groups if there are any.

    `weight` is what members are given: the sample weights times the weights of the classes, scaled if they are very
    large or very small. `class_weights` are those of the classes, or None.
    """

    target: Target
    sample_weight: FloatArray | None
    weight: FloatArray | None
    groups: AnyArray | None
    class_weights: FloatArray | None = None

    @property
    def classes(self) -> AnyArray | None:
        classes = self.target.classes
        assert not isinstance(classes, list)
        return classes

    @property
    def labels(self) -> AnyArray:
        """The target as the user gave it."""
        classes = self.classes
        return self.target.values if classes is None else np.asarray(classes[self.target.values])


def read_input(
    table: Table,
    y: Any,
    sample_weight: Any,
    groups: Any,
    task: Task,
    owner: str,
    class_weight: ClassWeight = None,
) -> ReadInput:
    """Read and check all that belongs to a table."""
    n_rows = table.n_rows
    target = read_target(y, task=task, estimator_name=owner, n_rows=n_rows)
    own_weight = read_weight(sample_weight, n_rows)
    own_groups = None if groups is None else read_groups(groups, n_rows)
    if class_weight is None:
        return ReadInput(target, own_weight, combined_weight(own_weight, None), own_groups)
    assert isinstance(target.classes, np.ndarray)
    of_rows = class_weights_of_rows(class_weight, [target.values], [target.classes], own_weight)
    assert of_rows is not None
    by_class = np.ones(len(target.classes))
    by_class[target.values] = of_rows
    return ReadInput(target, own_weight, combined_weight(own_weight, of_rows), own_groups, by_class)


@dataclass(frozen=True)
class CommitteeData:
    """The table, all that belongs to it, and its folds.

    Attributes
    ----------
    y : the target as the user gave it
    targets : the same as codes of classes or numbers, with weights and groups
    weight : sample weights, or None
    random_folds : whether folds were drawn at random: any other folds would do as well
    """

    X: Any
    y: AnyArray
    targets: RowTargets
    weight: FloatArray | None
    classes: AnyArray | None
    folds: Sequence[Fold]
    n_columns: int
    random_folds: bool = False

    @classmethod
    def of(
        cls, X: Any, given: ReadInput, folds: Sequence[Fold], n_columns: int, *, random_folds: bool = False
    ) -> "CommitteeData":
        values, weight = given.target.values, given.weight
        targets = RowTargets(values, np.ones(len(values)) if weight is None else weight, given.groups)
        return cls(X, given.labels, targets, weight, given.classes, folds, n_columns, random_folds)

    @property
    def groups(self) -> AnyArray | None:
        return self.targets.groups

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def shape(self) -> Shape:
        """The largest fold."""
        return Shape(
            max(len(fold.train) for fold in self.folds),
            max(len(fold.test) for fold in self.folds),
            self.n_columns,
            1 if self.classes is None else len(self.classes),
        )


@dataclass(frozen=True)
class FitLimits:
    """When to stop, besides the time limit.

    Attributes
    ----------
    max_iter : additions of the greedy choice of weights, for which time is left
    max_members : members at most, or None
    patience : members of the portfolio that may follow each other without a gain before the rest is skipped, or None
    memory : megabytes at most, or None
    """

    owner: str
    max_iter: int
    max_members: int | None = None
    memory: float | None = None
    n_jobs: int | None = None
    on_error: str = "raise"
    patience: int | None = None


@dataclass
class FittedMember:
    """A member that is complete: a model for each fold, and out-of-fold predictions.

    Attributes
    ----------
    predictions : float array of shape (n_rows, n_columns), NaN where a row was never held out
    fit_time : seconds for all folds
    predict_time : seconds for a thousand rows, predicted by the models of all folds
    n_rows : rows that the model of a fold was fitted to, at most
    stopped : whether the time limit ended rounds of boosting, or the growth of a forest, early
    forecast : what was known of times when it was complete, see `Forecast`
    single_fit, stops : see `MemberRecord`
    """

    entry: Entry
    response: ResponseMethod
    models: list[Any]
    predictions: FloatArray
    fit_time: float
    predict_time: float
    n_rows: int
    stopped: bool
    forecast: ForecastState = field(default_factory=lambda: (0.0, 0.0, [], {}))
    single_fit: bool = False
    stops: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.entry.name

    def record(self, *, is_timed: bool = False) -> MemberRecord:
        """How it was fitted, and, if that decided something, how long it took to predict."""
        stops = np.array(self.stops or [0], dtype=np.int64)
        predict_time = float(self.predict_time) if is_timed else 0.0
        return MemberRecord(self.name, self.n_rows, self.single_fit, stops, predict_time)
