"""What members are gathered for, within which limits, and what a complete one is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from coterie._typing import AnyArray, FloatArray
from coterie.committee.portfolio import Entry, Shape
from coterie.members.out_of_fold import Fold
from coterie.members.response import ResponseMethod

__all__ = ["Gathered", "Limits", "Training"]


@dataclass(frozen=True)
class Training:
    """The table and all that belongs to it."""

    X: Any
    y: AnyArray
    weight: FloatArray | None
    groups: AnyArray | None
    classes: AnyArray | None
    folds: Sequence[Fold]
    n_columns: int
    drawn: bool = False  # folds were drawn at random: any other folds would do as well

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
class Limits:
    """When to stop: members at most, megabytes at most, and what is left of the time is for the weights."""

    max_members: int | None
    memory: float | None
    n_jobs: int | None
    on_error: str
    verbose: int
    owner: str


@dataclass
class Gathered:
    """A complete member.

    Attributes
    ----------
    answers : float array of shape (n_rows, n_columns), NaN where a row was never held out
    fit_time : seconds for all folds
    predict_time : seconds for a thousand rows, answered by the models of all folds
    n_rows : rows that the model of a fold was fitted to, at most
    stopped : whether the time limit ended rounds of boosting, or the growth of a forest, early
    forecast : what was known of times when it was complete, see `Forecast`
    """

    entry: Entry
    question: ResponseMethod
    models: list[Any]
    answers: FloatArray
    fit_time: float
    predict_time: float
    n_rows: int
    stopped: bool
    forecast: tuple[float, float, list[float]] = field(default_factory=lambda: (0.0, 0.0, []))
