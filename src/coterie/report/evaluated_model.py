"""What a report evaluates: a fitted model, some rows, and its predictions for them, made once."""

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
from coterie.diagnostics.votes import codes_of
from coterie.errors import InvalidInput, InvalidType

KIND_NAMES = {
    "numeric": "numeric",
    "ordered": "ordinal",
    "nominal": "categorical",
}  # kinds of columns, for readers


@dataclass(frozen=True)
class Predictions:
    """The targets of some rows, and their predictions.

    Attributes
    ----------
    y_true : codes of classes, or numbers
    y_pred : the predictions, in the same form
    proba : array of shape (n_rows, n_classes); None for numbers, and for models without probabilities
    """

    y_true: AnyArray
    y_pred: AnyArray
    proba: FloatArray | None = None

    def take(self, rows: AnyArray) -> "Predictions":
        return Predictions(
            self.y_true[rows], self.y_pred[rows], None if self.proba is None else self.proba[rows]
        )


@dataclass(frozen=True)
class EvaluatedModel:
    """A fitted model and the rows that it is evaluated on.

    Attributes
    ----------
    model : fitted
    task : "classification" or "regression"
    classes : labels, or None
    table : the table as it was given
    all_y_true : the targets of all its rows: codes of classes, or numbers
    X : the rows that are evaluated, in the type of the user's table
    y_true : their targets: codes of classes, or numbers
    rows : which rows of the table these are
    n_jobs, seed : for permutations and samples
    """

    model: Any
    task: Task
    classes: AnyArray | None
    table: Table
    all_y_true: AnyArray
    X: Any
    y_true: AnyArray
    rows: RowArray
    n_jobs: int | None
    seed: int

    @property
    def name(self) -> str:
        return type(self.model).__name__

    @property
    def n_rows(self) -> int:
        """Of the table that was given."""
        return self.table.n_rows

    @property
    def is_sampled(self) -> bool:
        return len(self.rows) < self.n_rows

    @property
    def y(self) -> AnyArray:
        """The targets of the evaluated rows, as the user gave them."""
        return self.y_true if self.classes is None else np.asarray(self.classes[self.y_true])

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes as text."""
        return () if self.classes is None else tuple(str(label) for label in self.classes.tolist())

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(self.table.label(place) for place in range(self.table.n_columns))

    @cached_property
    def predictions(self) -> Predictions:
        """The predictions of the model for the rows."""
        if self.classes is None:
            return Predictions(
                self.y_true, np.asarray(self.model.predict(self.X), dtype=np.float64).reshape(-1)
            )
        proba = predicted_probabilities(self.model, self.X)
        if proba is not None:
            return Predictions(self.y_true, proba.argmax(axis=1), proba)
        labels = np.asarray(self.model.predict(self.X))
        return Predictions(self.y_true, codes_of(labels, self.classes, len(self.y_true)))

    def subsample(self, max_rows: int) -> "EvaluatedModel":
        """The same model on fewer rows, evenly spaced."""
        if len(self.rows) <= max_rows:
            return self
        places = np.linspace(0, len(self.rows) - 1, max_rows).round().astype(np.intp)
        return EvaluatedModel(
            self.model,
            self.task,
            self.classes,
            self.table,
            self.all_y_true,
            rows_of(self.X, places),
            self.y_true[places],
            self.rows[places],
            self.n_jobs,
            self.seed,
        )


def predicted_probabilities(model: Any, X: Any) -> FloatArray | None:
    """The result of `predict_proba`, or None for a model without it."""
    if not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X), dtype=np.float64)


def evaluated_model(
    model: Any, X: Any, y: Any, *, max_rows: int, n_jobs: int | None, seed: int
) -> EvaluatedModel:
    """Read the model, the rows and the targets, and sample rows if there are more than `max_rows`."""
    if not hasattr(model, "predict"):
        raise InvalidType.expecting(
            f"model of type {type(model).__name__}", "a fitted classifier or regressor", "model", model
        )
    check_is_fitted(model)
    table = read_table(X)
    classes = getattr(model, "classes_", None) if is_classifier(model) else None
    if isinstance(classes, list):
        raise InvalidInput(
            f"A report is about one target, and this {type(model).__name__} was fitted to {len(classes)}.",
            parameter="model",
            received=model,
            allowed="a model of one target",
        )
    if classes is None:
        if len(np.shape(y)) > 1 and np.shape(y)[1] > 1:
            raise InvalidInput(
                f"A report is about one target, and y has {np.shape(y)[1]} columns.",
                parameter="y",
                received=np.shape(y),
                allowed="one column",
            )
        name = type(model).__name__
        y_true = read_target(y, task="regression", estimator_name=name, n_rows=table.n_rows).values
    else:
        y_true = codes_of(y, np.asarray(classes), table.n_rows)
    X = row_indexable(X)
    rows: RowArray = np.arange(table.n_rows)
    if table.n_rows > max_rows:
        rows = np.sort(np.random.default_rng(seed).permutation(table.n_rows)[:max_rows])
        X = rows_of(X, rows)
    return EvaluatedModel(
        model,
        "regression" if classes is None else "classification",
        None if classes is None else np.asarray(classes),
        table,
        np.asarray(y_true),
        X,
        np.asarray(y_true)[rows],
        rows,
        n_jobs,
        seed,
    )
