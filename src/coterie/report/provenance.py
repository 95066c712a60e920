"""Where the scores come from: whether the model was fitted to the rows, and predictions for rows it was not fitted to.

A committee keeps its out-of-fold predictions beside the targets of fit; forests, bagging and boosting keep their
out-of-bag predictions without them. No model keeps its rows, so whether these are the training rows is inferred: for
the same rows, predictions correlate with those kept out of bag, also among rows with the same target, and a
committee's targets are the same. Without looking among rows with the same target, two halves of a table sorted by
class would look like the same rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.report.evaluated_model import EvaluatedModel, Predictions
from coterie.report.number_format import plural

_LEAST_CORRELATION = 0.5  # predictions for different rows do not reach it
_LEAST_ROWS = 20  # for a correlation that can be trusted
_MOST_ROWS = 20_000
_INFERRED = (
    "The model seems to have been fitted to these very rows: its predictions for them correlate with those that it "
    "kept from fit. Scores on training rows are too optimistic. Pass seen=False if these rows are new."
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
    """

    seen: bool | None
    description: str
    source: str = ""
    predictions: Predictions | None = None


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
        return Provenance(seen, description, source, _finite_predictions(evaluated, known, kept))
    if kept is None:
        return Provenance(seen, _sentence(evaluated, seen, None))
    inferred = seen is None and _correlates(evaluated, kept)
    seen = True if inferred else seen
    predictions = None
    if seen and len(kept) == evaluated.n_rows:
        predictions = _finite_predictions(evaluated, evaluated.all_y_true, kept)
    description = _INFERRED if inferred else _sentence(evaluated, seen, len(kept))
    return Provenance(seen, description, source if predictions else "", predictions)


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
    one, other = (part[fine] - known @ np.linalg.lstsq(known, part[fine])[0] for part in (before, now))
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return size > 0 and float((one * other).sum()) / size > _LEAST_CORRELATION


def _target_features(evaluated: EvaluatedModel, some: AnyArray) -> FloatArray:
    """Regressors for what the targets explain: an indicator of each class, or powers of the number."""
    y_true = evaluated.y_true[some]
    if evaluated.classes is not None:
        return np.asarray(y_true[:, None] == np.arange(len(evaluated.classes)), dtype=np.float64)
    spread = float(y_true.std()) or 1.0
    return np.vander((y_true - y_true.mean()) / spread, 4)


def _finite_predictions(evaluated: EvaluatedModel, y_true: AnyArray, kept: FloatArray) -> Predictions | None:
    fine = np.flatnonzero(np.isfinite(kept).all(axis=1))
    if len(fine) < 2:
        return None
    if len(fine) > _MOST_ROWS:
        fine = fine[np.linspace(0, len(fine) - 1, _MOST_ROWS).round().astype(np.intp)]
    if evaluated.classes is None:
        return Predictions(y_true[fine], kept[fine, 0])
    if kept.shape[1] != len(evaluated.classes):
        return None
    proba = np.clip(kept[fine], 0.0, 1.0)
    return Predictions(y_true[fine], proba.argmax(axis=1), proba)


def _sentence(evaluated: EvaluatedModel, seen: bool | None, n_fitted: int | None) -> str:
    if seen:
        return (
            "The model was fitted to these very rows. Scores on training rows are too optimistic: they measure how "
            "well the model remembers, not how well it generalises."
        )
    if seen is False:
        return "The model was not fitted to these rows, so scores on them hold for new rows like these."
    if n_fitted is not None and n_fitted != evaluated.n_rows:
        return (
            f"These are not all of the training rows ({plural(n_fitted, 'row')}). If they are some of them, scores on "
            "them are too optimistic. Pass seen=False if they are new."
        )
    return (
        "The model does not know whether it was fitted to these rows. If it was, scores on them are too optimistic. "
        "Pass seen=True or seen=False to state it."
    )
