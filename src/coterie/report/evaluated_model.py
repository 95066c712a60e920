"""What a report evaluates: a fitted model, some rows, and its predictions for them, made once.

Where the scores come from: whether the model was fitted to the rows, and predictions for rows it was not fitted to.

A committee keeps its out-of-fold predictions beside the targets of fit; forests, bagging and boosting keep their
out-of-bag predictions without them. No model keeps its rows, so whether these are the training rows is inferred: for
the same rows, predictions correlate with those kept out of bag, also among rows with the same target, and a
committee's targets are the same. Without looking among rows with the same target, two halves of a table sorted by
class would look like the same rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from coterie._typing import AnyArray, FloatArray, RowArray, Task
from coterie.data.parts import row_indexable, rows_of
from coterie.data.prepare import read_table
from coterie.data.table import Table
from coterie.data.target import read_target
from coterie.diagnostics.votes import codes_of
from coterie.errors import InvalidInput, InvalidType
from coterie.members.decision_rule import decided_codes
from coterie.report.columns.values import date_columns, flag_columns, is_text
from coterie.report.forms.number_format import plural

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
    shows_rows : whether the report may show what single rows hold
    dates : the columns that hold dates, by position; their numbers are days
    flags : the columns that hold True and False; their numbers are 1 and 0
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
    shows_rows: bool = True
    dates: frozenset[int] = frozenset()
    flags: frozenset[int] = frozenset()

    def kind_name(self, place: int) -> str:
        """What a column holds, for readers."""
        if place in self.dates or place in self.flags:
            return "date" if place in self.dates else "True or False"
        column = self.table.column(place)
        return "text" if is_text(column) else KIND_NAMES[column.kind]

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
            return Predictions(self.y_true, decided_codes(self.model, proba), proba)
        labels = np.asarray(self.model.predict(self.X))
        return Predictions(self.y_true, codes_of(labels, self.classes, len(self.y_true)))

    def subsample(self, max_rows: int) -> "EvaluatedModel":
        """The same model on fewer rows, evenly spaced."""
        if len(self.rows) <= max_rows:
            return self
        places = np.linspace(0, len(self.rows) - 1, max_rows).round().astype(np.intp)
        X, y_true, rows = rows_of(self.X, places), self.y_true[places], self.rows[places]
        return replace(self, X=X, y_true=y_true, rows=rows)


def predicted_probabilities(model: Any, X: Any) -> FloatArray | None:
    """The result of `predict_proba`, or None for a model without it."""
    if not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X), dtype=np.float64)


def evaluated_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    max_rows: int,
    n_jobs: int | None,
    seed: int,
    shows_rows: bool = True,
) -> EvaluatedModel:
    """Read the model, the rows and the targets, and sample rows if there are more than `max_rows`."""
    if not hasattr(model, "predict") or is_outlier_detector(model):
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
        shows_rows,
        date_columns(X),
        flag_columns(X),
    )


_LEAST_CORRELATION = 0.5  # predictions for different rows do not reach it
_LEAST_ROWS = 20  # for a correlation that can be trusted
_MOST_ROWS = 20_000
_INFERRED = (
    "The model seems to have been fitted to these rows: its predictions for them agree with those it kept from the "
    "fit. Scores on training rows are too optimistic. If these rows are new, pass seen=False (--new at the command "
    "line)."
)


@dataclass(frozen=True)
class Provenance:
    """Where the scores of a report come from.

    Attributes
    ----------
    seen : whether the model was fitted to the rows of the report; None if it is not known
    description : the same as a sentence
    source : "out of fold" or "out of bag"; "" if there are no such predictions
    predictions : about the rows of fit, by parts of the model that had not seen them; None if there are none
    rows : the rows of the report's table that these predictions are about; None if they are about others
    """

    seen: bool | None
    description: str
    source: str = ""
    predictions: Predictions | None = None
    rows: RowArray | None = None


@dataclass(frozen=True)
class JudgedRows:
    """Rows of the report's table with the predictions to judge them by: out of sample, if there are such.

    Attributes
    ----------
    predictions : of these rows
    rows : their positions in the table
    where : "on these rows", "out of fold" or "out of bag"
    """

    predictions: Predictions
    rows: RowArray
    where: str


def judged_rows(evaluated: EvaluatedModel, provenance: Provenance) -> JudgedRows:
    """Predictions that were kept from the fit are better than those for training rows."""
    if provenance.rows is not None and provenance.predictions is not None:
        return JudgedRows(provenance.predictions, provenance.rows, provenance.source)
    return JudgedRows(evaluated.predictions, evaluated.rows, "on these rows")


def provenance_of(evaluated: EvaluatedModel, seen: bool | None) -> Provenance:
    """Infer whether these are training rows, unless the caller says so, and find out-of-sample predictions."""
    source, kept = _kept_predictions(evaluated.model)
    known = _kept_targets(evaluated.model)
    if kept is not None and known is not None:
        inferred = (
            seen is None and np.array_equal(known, evaluated.all_y_true) and _correlates(evaluated, kept)
        )
        seen = True if inferred else seen
        description = _INFERRED if inferred else _sentence(evaluated, seen, len(known))
        finite = _finite_predictions(evaluated, known, kept)
        own = finite.rows if finite is not None and seen and len(known) == evaluated.n_rows else None
        return Provenance(seen, description, source, None if finite is None else finite.predictions, own)
    if kept is None:
        return Provenance(seen, _sentence(evaluated, seen, None))
    inferred = seen is None and _correlates(evaluated, kept)
    seen = True if inferred else seen
    found = None
    if seen and len(kept) == evaluated.n_rows:
        found = _finite_predictions(evaluated, evaluated.all_y_true, kept)
    description = _INFERRED if inferred else _sentence(evaluated, seen, len(kept))
    if found is None:
        return Provenance(seen, description)
    return Provenance(seen, description, source, found.predictions, found.rows)


def _kept_predictions(model: Any) -> tuple[str, FloatArray | None]:
    """The source of out-of-sample predictions, and these, of shape (n_rows, n_classes) or (n_rows, 1)."""
    for name, source in (
        ("oof_proba_", "out of fold"),
        ("oof_prediction_", "out of fold"),
        ("oob_decision_function_", "out of bag"),
        ("oob_prediction_", "out of bag"),
    ):
        kept = getattr(model, name, None)
        if isinstance(kept, np.ndarray) and kept.dtype.kind == "f" and kept.ndim <= 2:
            return source, kept.reshape(len(kept), -1)
    return "", None


def _kept_targets(model: Any) -> AnyArray | None:
    """The targets of fit, as codes or numbers, if the model keeps them."""
    truth = getattr(getattr(model, "_truth", None), "truth", None)
    return truth if isinstance(truth, np.ndarray) and truth.ndim == 1 else None


def _correlates(evaluated: EvaluatedModel, kept: FloatArray) -> bool:
    """Whether kept predictions correlate with those for the rows, row by row, beyond what the targets explain."""
    if len(kept) != evaluated.n_rows:
        return False
    predictions = evaluated.predictions
    now = predictions.y_pred[:, None] if predictions.proba is None else predictions.proba
    before = kept[evaluated.rows]
    if before.shape != now.shape:
        return False
    fine = np.isfinite(before).all(axis=1)
    if fine.sum() < _LEAST_ROWS:
        return False
    known = _target_features(evaluated, np.flatnonzero(fine))
    one, other = (
        part[fine] - known @ np.linalg.lstsq(known, part[fine], rcond=None)[0] for part in (before, now)
    )
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return size > 0 and float((one * other).sum()) / size > _LEAST_CORRELATION


def _target_features(evaluated: EvaluatedModel, some: AnyArray) -> FloatArray:
    """Regressors for what the targets explain: an indicator of each class, or powers of the number."""
    y_true = evaluated.y_true[some]
    if evaluated.classes is not None:
        return np.asarray(y_true[:, None] == np.arange(len(evaluated.classes)), dtype=np.float64)
    spread = float(y_true.std()) or 1.0
    return np.vander((y_true - y_true.mean()) / spread, 4)


@dataclass(frozen=True)
class _KeptRows:
    """Predictions that were kept from the fit, and which of its rows they are about."""

    predictions: Predictions
    rows: RowArray


def _finite_predictions(evaluated: EvaluatedModel, y_true: AnyArray, kept: FloatArray) -> _KeptRows | None:
    fine = np.flatnonzero(np.isfinite(kept).all(axis=1))
    if len(fine) < 2:
        return None
    if len(fine) > _MOST_ROWS:
        fine = fine[np.linspace(0, len(fine) - 1, _MOST_ROWS).round().astype(np.intp)]
    if evaluated.classes is None:
        return _KeptRows(Predictions(y_true[fine], kept[fine, 0]), fine)
    if kept.shape[1] != len(evaluated.classes):
        return None
    proba = np.clip(kept[fine], 0.0, 1.0)
    return _KeptRows(Predictions(y_true[fine], decided_codes(evaluated.model, proba), proba), fine)


def _sentence(evaluated: EvaluatedModel, seen: bool | None, n_fitted: int | None) -> str:
    if seen:
        return (
            "The model was fitted to these rows. Scores on training rows are too optimistic: they show how well the "
            "model remembers, not how well it will do on new rows."
        )
    if seen is False:
        return (
            "The model was not fitted to these rows, so its scores here are what to expect on similar rows."
        )
    if n_fitted is not None and n_fitted != evaluated.n_rows:
        return (
            f"The model was fitted to {plural(n_fitted, 'row')}, and these are {evaluated.n_rows:,}. If some of them "
            "are training rows, scores on them are too optimistic. If all are new, pass seen=False (--new at the "
            "command line)."
        )
    return (
        "It is not known whether the model was fitted to these rows. If it was, scores on them are too optimistic. "
        "Pass seen=True or seen=False (--new at the command line) to say so."
    )
