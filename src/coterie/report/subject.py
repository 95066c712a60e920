"""What a report is about: a fitted model, some rows, and what the model says of them, asked once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from coterie._typing import AnyArray, FloatArray, RowArray, Task
from coterie.data.parts import row_indexable, rows_of
from coterie.data.table import Table, read_table
from coterie.data.target import read_target
from coterie.diagnostics.votes.voting_margins import codes_of
from coterie.errors import InvalidInput, InvalidType

__all__ = ["Answers", "Subject", "subject_of"]


@dataclass(frozen=True)
class Answers:
    """What is true of some rows, and what was said of them.

    Attributes
    ----------
    truth : codes of classes, or numbers
    said : the same of what was said
    proba : array of shape (n_rows, n_classes); None for numbers, and for models without probabilities
    """

    truth: AnyArray
    said: AnyArray
    proba: FloatArray | None = None

    def take(self, rows: AnyArray) -> "Answers":
        return Answers(self.truth[rows], self.said[rows], None if self.proba is None else self.proba[rows])


@dataclass(frozen=True)
class Subject:
    """A model and rows.

    Attributes
    ----------
    model : fitted
    task : "classification" or "regression"
    classes : labels, or None
    whole : the table as it was given
    X : the rows that are looked at, in the type of the user's table
    truth : their targets: codes of classes, or numbers
    rows : which rows of the table these are
    n_jobs, seed : for what is drawn and asked
    """

    model: Any
    task: Task
    classes: AnyArray | None
    whole: Table
    whole_truth: AnyArray
    X: Any
    truth: AnyArray
    rows: RowArray
    n_jobs: int | None
    seed: int

    @property
    def name(self) -> str:
        return type(self.model).__name__

    @property
    def n_rows(self) -> int:
        """Of the table that was given."""
        return self.whole.n_rows

    @property
    def is_sampled(self) -> bool:
        return len(self.rows) < self.n_rows

    @property
    def y(self) -> AnyArray:
        """The targets as the user gave them, of the rows that are looked at."""
        return self.truth if self.classes is None else np.asarray(self.classes[self.truth])

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes as text."""
        return () if self.classes is None else tuple(str(label) for label in self.classes.tolist())

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(self.whole.label(place) for place in range(self.whole.n_columns))

    @cached_property
    def answers(self) -> Answers:
        """What the model says of the rows."""
        if self.classes is None:
            return Answers(self.truth, np.asarray(self.model.predict(self.X), dtype=np.float64).reshape(-1))
        proba = probabilities_of(self.model, self.X)
        if proba is not None:
            return Answers(self.truth, proba.argmax(axis=1), proba)
        said = codes_of(np.asarray(self.model.predict(self.X)), self.classes, len(self.truth))
        return Answers(self.truth, said)

    def some(self, most: int) -> "Subject":
        """The same about fewer rows, evenly spaced."""
        if len(self.rows) <= most:
            return self
        places = np.linspace(0, len(self.rows) - 1, most).round().astype(np.intp)
        return Subject(
            self.model,
            self.task,
            self.classes,
            self.whole,
            self.whole_truth,
            rows_of(self.X, places),
            self.truth[places],
            self.rows[places],
            self.n_jobs,
            self.seed,
        )


def probabilities_of(model: Any, X: Any) -> FloatArray | None:
    """What `predict_proba` says, or None for a model that has none."""
    if not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X), dtype=np.float64)


def subject_of(model: Any, X: Any, y: Any, *, max_rows: int, n_jobs: int | None, seed: int) -> Subject:
    """Read what the user gave, and draw rows if there are more than can be looked at."""
    if not hasattr(model, "predict"):
        raise InvalidType(f"model of type {type(model).__name__}: expected a fitted classifier or regressor.")
    check_is_fitted(model)
    table = read_table(X)
    classes = getattr(model, "classes_", None) if is_classifier(model) else None
    if isinstance(classes, list):
        raise InvalidInput(
            f"A report is about one target, and this {type(model).__name__} was fitted to {len(classes)}."
        )
    if classes is None:
        if len(np.shape(y)) > 1 and np.shape(y)[1] > 1:
            raise InvalidInput(f"A report is about one target, and y has {np.shape(y)[1]} columns.")
        name = type(model).__name__
        truth = read_target(y, task="regression", estimator_name=name, n_rows=table.n_rows).values
    else:
        truth = codes_of(y, np.asarray(classes), table.n_rows)
    X = row_indexable(X)
    rows: RowArray = np.arange(table.n_rows)
    if table.n_rows > max_rows:
        rows = np.sort(np.random.default_rng(seed).permutation(table.n_rows)[:max_rows])
        X = rows_of(X, rows)
    return Subject(
        model,
        "regression" if classes is None else "classification",
        None if classes is None else np.asarray(classes),
        table,
        np.asarray(truth),
        X,
        np.asarray(truth)[rows],
        rows,
        n_jobs,
        seed,
    )
