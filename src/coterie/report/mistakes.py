"""Where answers are wrong: confusion and calibration of classes, residuals of numbers."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from coterie._typing import FloatArray
from coterie.diagnostics.calibration import calibration
from coterie.plots.calibration_display import CalibrationDisplay
from coterie.plots.chart import Axis, Chart, Line, Mark, Points
from coterie.report.content import Block, Cell, Figure, Matrix, Section, Sheet, Words
from coterie.report.figures_in_words import in_words, percent
from coterie.report.subject import Answers, Subject

__all__ = ["calibrated", "confusion", "residuals"]

_MOST_CLASSES = 20
_MOST_POINTS = 800
_N_BINS = 10


def confusion(subject: Subject, answers: Answers, where: str) -> Section:
    key, title = "confusion", "Confusion matrix"
    if subject.classes is None:
        return Section(key, title, why_not="the target is a number.")
    n_classes = len(subject.classes)
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(counts, (answers.truth, answers.said), 1)
    blocks: list[Block] = [_most_confused(subject, counts, where)]
    if n_classes <= _MOST_CLASSES:
        caption = f"Rows of the table are what is true, columns what was said, {where}."
        blocks.append(Matrix(subject.labels, counts, caption))
    blocks.append(_by_class(subject, counts))
    return Section(key, title, tuple(blocks))


def _most_confused(subject: Subject, counts: np.ndarray, where: str) -> Words:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    if not wrong.any():
        return Words(f"No row is wrong, {where}.")
    true, said = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return Words(
        f"{wrong.sum():,} of {counts.sum():,} rows are wrong, {where}. The most frequent mistake: "
        f"{wrong[true, said]:,} rows of “{subject.labels[true]}” are taken for “{subject.labels[said]}”."
    )


def _by_class(subject: Subject, counts: np.ndarray) -> Sheet:
    there, said, right = counts.sum(axis=1), counts.sum(axis=0), np.diag(counts)
    order = np.argsort(-there, kind="stable")[:50]
    rows: list[tuple[Cell, ...]] = []
    for place in order.tolist():
        precision = right[place] / said[place] if said[place] else float("nan")
        recall = right[place] / there[place] if there[place] else float("nan")
        rows.append(
            (subject.labels[place], int(there[place]), int(said[place]), float(precision), float(recall))
        )
    caption = "Precision: how many rows said to be of the class are. Recall: how many of its rows are found."
    columns = ("class", "rows", "said", "precision", "recall")
    return Sheet(columns, tuple(rows), caption, left_out=len(counts) - len(order))


class _Said(ClassifierMixin, BaseEstimator):
    """Answers that are known, for functions that ask a model."""

    def __init__(self, classes: np.ndarray, proba: FloatArray) -> None:
        self.classes_, self._proba = classes, proba

    def fit(self, X: object, y: object) -> "_Said":
        return self

    def predict_proba(self, _: object) -> FloatArray:
        return self._proba

    def __sklearn_is_fitted__(self) -> bool:
        return True


def calibrated(subject: Subject, answers: Answers, where: str) -> Section:
    key, title = "calibration", "Calibration"
    if subject.classes is None:
        return Section(key, title, why_not="the target is a number; see the residuals.")
    if answers.proba is None or len(subject.classes) < 2:
        return Section(key, title, why_not=f"{subject.name} gives no probabilities that could be compared.")
    y = subject.classes[answers.truth]
    found = calibration(_Said(subject.classes, answers.proba), None, y, n_bins=_N_BINS, strategy="quantile")
    curve = found.curves[0]
    what = f"of “{subject.labels[1]}”" if len(subject.classes) == 2 else "of the most probable class"
    words = (
        f"Probabilities {what} are off by {percent(curve.expected_error)} on average, {where}; in the worst bin by "
        f"{percent(curve.maximum_error)}. The Brier score is {in_words(found.brier)}."
    )
    caption = (
        "Dots on the diagonal mean what they say: of rows with 70 %, seven of ten. Below, it is too sure."
    )
    chart = CalibrationDisplay(found).chart()
    blocks: list[Block] = [
        Words(words),
        Figure(chart, caption),
        Figure(_said_probabilities(answers, subject), ""),
    ]
    return Section(key, title, tuple(blocks))


def _said_probabilities(answers: Answers, subject: Subject) -> Chart:
    """How often each probability is said."""
    assert answers.proba is not None
    two = answers.proba.shape[1] == 2
    values = answers.proba[:, 1] if two else answers.proba.max(axis=1)
    edges = np.linspace(0, 1, 21)
    groups = {"all rows": np.ones(len(values), dtype=bool)}
    if two:
        groups = {subject.labels[code]: answers.truth == code for code in (1, 0)}
    lines = []
    for name, own in groups.items():
        shares = np.histogram(values[own], edges)[0] / max(1, own.sum())
        lines.append(Line(name, edges, np.append(shares, shares[-1]), steps=True))
    high = max(float(line.y.max()) for line in lines)
    label = f"probability of {subject.labels[1]}" if two else "probability of the most probable class"
    return Chart(
        "Which probabilities are said" + (", by what is true" if two else ""),
        Axis(label, 0.0, 1.0),
        Axis("share of rows", 0.0, 1.08 * high or 1.0),
        tuple(lines),
    )


def residuals(subject: Subject, answers: Answers, where: str) -> Section:
    key, title = "residuals", "Residuals"
    if subject.classes is not None:
        return Section(key, title, why_not="the target is a class; see confusion and calibration.")
    error = answers.truth - answers.said
    low, middle, high = np.quantile(error, [0.05, 0.5, 0.95]).tolist()
    words = (
        f"Nine of ten residuals (truth minus prediction) are from {in_words(low)} to {in_words(high)}, {where}; their "
        f"median is {in_words(middle)}."
    )
    some = np.arange(len(error))
    if len(error) > _MOST_POINTS:
        some = np.linspace(0, len(error) - 1, _MOST_POINTS).round().astype(np.intp)
    blocks: list[Block] = [
        Words(words),
        Figure(_truth_and_said(answers.take(some)), "Rows on the line are predicted exactly."),
        Figure(
            _against_said(answers, some),
            "The band holds eight of ten rows. It should be level and as wide everywhere; a bend is a lead.",
        ),
        Figure(_distribution(error), "Far from zero are the rows that are worth a look."),
    ]
    return Section(key, title, tuple(blocks))


def _ends(values: FloatArray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    pad = 0.04 * (high - low) or 0.5 * abs(high) or 1.0
    return low - pad, high + pad


def _truth_and_said(answers: Answers) -> Chart:
    ends = _ends(np.concatenate([answers.truth, answers.said]))
    line = np.array(ends)
    return Chart(
        "Truth and prediction",
        Axis("prediction", *ends),
        Axis("truth", *ends),
        (Line("", line, line, faint=True),),
        points=(Points("rows", answers.said, answers.truth),),
    )


def _against_said(answers: Answers, some: np.ndarray) -> Chart:
    error = answers.truth - answers.said
    order = np.argsort(answers.said, kind="stable")
    parts = [part for part in np.array_split(order, min(12, max(1, len(order) // 10))) if len(part)]
    x = np.array([answers.said[part].mean() for part in parts])
    low, middle, high = np.array([np.quantile(error[part], [0.1, 0.5, 0.9]) for part in parts]).T
    lines = (Line("median of rows nearby", x, middle, low=low, high=high),)
    ends = _ends(answers.said)
    zero = Line("", np.array(ends), np.zeros(2), faint=True)
    return Chart(
        "Residuals by prediction",
        Axis("prediction", *ends),
        Axis("residual", *_ends(error[some])),
        (*lines, zero) if len(parts) > 1 else (zero,),
        points=(Points("rows", answers.said[some], error[some]),),
    )


def _distribution(error: FloatArray) -> Chart:
    low, high = _ends(error)
    counts, edges = np.histogram(error, bins=40, range=(low, high))
    shares = np.append(counts, counts[-1]) / len(error)
    return Chart(
        "Distribution of residuals",
        Axis("residual", low, high),
        Axis("share of rows", 0.0, 1.08 * float(shares.max())),
        (Line("rows", edges, shares, steps=True),),
        (Mark(0.0),),
    )
