"""How far can scores be trusted? Whether fit saw the rows, and what the model said of rows that its parts had not seen.

A committee keeps its answers out of fold beside the targets of fit; forests, bagging and boosting keep their answers
out of bag without them. No model keeps its rows, so whether they are those of fit is inferred: of the same rows a model
says much the same out of bag, also among rows with the same target, and a committee's targets are the same. Without
looking among rows with the same target, two halves of a table sorted by class would look like the same rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.report.figures_in_words import plural
from coterie.report.subject import Answers, Subject

__all__ = ["Honesty", "honesty_of"]

_ALIKE = 0.5  # a correlation that answers about other rows do not have
_LEAST_ROWS = 20  # that a correlation can be trusted from
_MOST_ROWS = 20_000
_INFERRED = (
    "The model seems to have been fitted to these very rows: it says much the same of them as it said without "
    "them. Scores on them are too good. Say seen=False if it was not."
)


@dataclass(frozen=True)
class Honesty:
    """What is known about the rows of the report.

    Attributes
    ----------
    seen : whether fit saw them; None if it is not known
    words : the same as a sentence
    source : "out of fold" or "out of bag"; "" if there are no such answers
    answers : about the rows of fit, by parts of the model that had not seen them; None if there are none
    """

    seen: bool | None
    words: str
    source: str = ""
    answers: Answers | None = None


def honesty_of(subject: Subject, seen: bool | None) -> Honesty:
    """Find out whether fit saw the rows, unless the caller says so, and what is known without them."""
    source, kept = _kept_answers(subject.model)
    known = _known_targets(subject.model)
    if kept is not None and known is not None:
        inferred = seen is None and np.array_equal(known, subject.whole_truth) and _is_alike(subject, kept)
        seen = True if inferred else seen
        words = _INFERRED if inferred else _sentence(subject, seen, len(known))
        return Honesty(seen, words, source, _answers(subject, known, kept))
    if kept is None:
        return Honesty(seen, _sentence(subject, seen, None))
    inferred = seen is None and _is_alike(subject, kept)
    seen = True if inferred else seen
    answers = None
    if seen and len(kept) == subject.n_rows:
        answers = _answers(subject, subject.whole_truth, kept)
    words = _INFERRED if inferred else _sentence(subject, seen, len(kept))
    return Honesty(seen, words, source if answers else "", answers)


def _kept_answers(model: Any) -> tuple[str, FloatArray | None]:
    """Where honest answers are from, and these: probabilities of shape (n_rows, n_classes), or (n_rows, 1)."""
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


def _known_targets(model: Any) -> AnyArray | None:
    """The targets of fit, as codes or numbers, if the model keeps them."""
    truth = getattr(getattr(model, "_truth", None), "truth", None)
    return truth if isinstance(truth, np.ndarray) and truth.ndim == 1 else None


def _is_alike(subject: Subject, kept: FloatArray) -> bool:
    """Whether answers out of bag go together with those about the rows, row by row, beyond what the targets explain."""
    if len(kept) != subject.n_rows:
        return False
    answers = subject.answers
    now = answers.said[:, None] if answers.proba is None else answers.proba
    before = kept[subject.rows]
    if before.shape != now.shape:
        return False
    fine = np.isfinite(before).all(axis=1)
    if fine.sum() < _LEAST_ROWS:
        return False
    known = _of_targets(subject, np.flatnonzero(fine))
    one, other = (part[fine] - known @ np.linalg.lstsq(known, part[fine])[0] for part in (before, now))
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return size > 0 and float((one * other).sum()) / size > _ALIKE


def _of_targets(subject: Subject, some: AnyArray) -> FloatArray:
    """Columns that hold what targets explain: a column for each class, or powers of the number."""
    truth = subject.truth[some]
    if subject.classes is not None:
        return np.asarray(truth[:, None] == np.arange(len(subject.classes)), dtype=np.float64)
    spread = float(truth.std()) or 1.0
    return np.vander((truth - truth.mean()) / spread, 4)


def _answers(subject: Subject, truth: AnyArray, kept: FloatArray) -> Answers | None:
    fine = np.flatnonzero(np.isfinite(kept).all(axis=1))
    if len(fine) < 2:
        return None
    if len(fine) > _MOST_ROWS:
        fine = fine[np.linspace(0, len(fine) - 1, _MOST_ROWS).round().astype(np.intp)]
    if subject.classes is None:
        return Answers(truth[fine], kept[fine, 0])
    if kept.shape[1] != len(subject.classes):
        return None
    proba = np.clip(kept[fine], 0.0, 1.0)
    return Answers(truth[fine], proba.argmax(axis=1), proba)


def _sentence(subject: Subject, seen: bool | None, n_fitted: int | None) -> str:
    if seen:
        return (
            "The model was fitted to these very rows. Scores on them are too good; they say how well the model "
            "remembers, not how well it will do."
        )
    if seen is False:
        return "The model was not fitted to these rows, so scores on them hold for new rows like these."
    if n_fitted is not None and n_fitted != subject.n_rows:
        return (
            f"These are not all the rows that fit saw ({plural(n_fitted, 'row')}); if they are a part of them, scores "
            "on them are too good. Say seen=False if none of them was there."
        )
    return (
        "The model does not know whether it was fitted to these rows. If it was, scores on them are too good. "
        "Say seen=True or seen=False to have it said here."
    )
