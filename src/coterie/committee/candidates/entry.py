"""A candidate of a committee: a learner by name, and what is known of its cost before it is fitted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shape:
    """The size of a fit of one fold: rows to learn from, rows to predict, columns, and columns of predictions."""

    n_train: int
    n_test: int
    n_columns: int
    n_outputs: int = 1

    @property
    def values(self) -> float:
        """Values in the rows to learn from."""
        return float(self.n_train) * self.n_columns


@dataclass(frozen=True)
class Entry:
    """A learner by name, and what is known of it before it is fitted.

    Attributes
    ----------
    seconds : what one fold may take on a small machine; None: nobody knows
    megabytes : what one fitted model may take
    max_rows : of more rows a sample is drawn; None: never
    single_fit : the learner in a form that leaves rows out by itself and predicts them: one fit, on one binned matrix,
        takes the place of one for each fold; None: it has no such form
    single_fit_folds : how many folds' time `single_fit` takes
    single_fit_models : how many folds' models `single_fit` is as large as
    informs_forecast : whether its time is used to forecast that of others: those on a matrix do other work than trees
    trial : a quicker form of the learner, by which variations are compared on one fold; None: the learner itself
    family : learners of one kind; "" for those that nobody knows
    """

    name: str
    estimator: Any
    seconds: Callable[[Shape], float] | None = None
    megabytes: Callable[[Shape], float] | None = None
    max_rows: int | None = None
    single_fit: Any = None
    single_fit_folds: float = 1.0
    single_fit_models: float = 1.0
    informs_forecast: bool = True
    trial: Any = None
    family: str = ""
