"""From which probability on is a row called a case? ROC and precision by recall, and what each threshold costs."""

import numpy as np

from coterie._typing import FloatArray
from coterie.plots.chart import Axis, Chart, Line
from coterie.report.content import Cell, Figure, Section, Sheet, Thresholds, Words
from coterie.report.figures_in_words import in_words, percent
from coterie.report.subject import Answers, Subject

__all__ = ["thresholds"]

_MOST_POINTS = 300
_LISTED = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def thresholds(subject: Subject, answers: Answers, where: str) -> Section:
    key, title = "thresholds", "ROC, precision and thresholds"
    if subject.classes is None or len(subject.classes) != 2:
        why = "the target is a number." if subject.classes is None else "a threshold is for two classes."
        return Section(key, title, why_not=why)
    if answers.proba is None:
        return Section(key, title, why_not=f"{subject.name} gives no probabilities.")
    score, happened = answers.proba[:, 1], answers.truth == 1
    if happened.all() or not happened.any():
        return Section(key, title, why_not="all rows are of one class.")
    label = subject.labels[1]
    choice = _choice(score, happened, label)
    best = int(np.argmax(_f1(choice)))
    words = (
        f"A row is called “{label}” from a threshold of its probability on, {where}. The best balance of precision and "
        f"recall (F1 {in_words(float(_f1(choice)[best]))}) is at {in_words(choice.thresholds[best])}; "
        f"{percent(float(happened.mean()))} of rows are “{label}”."
    )
    rate, hits, precision = _curve(score, happened)
    roc = Chart(
        "ROC: rows found and false alarms",
        Axis("share of the others that are called so too", 0.0, 1.0),
        Axis(f"share of {label} that is found", 0.0, 1.0),
        (Line("the model", rate, hits), Line("chance", np.array([0.0, 1.0]), np.array([0.0, 1.0]))),
    )
    base = float(happened.mean())
    by_recall = Chart(
        "Precision by recall",
        Axis(f"recall: share of {label} that is found", 0.0, 1.0),
        Axis("precision: share of calls that are right", 0.0, 1.0),
        (Line("the model", hits, precision), Line("chance", np.array([0.0, 1.0]), np.array([base, base]))),
    )
    return Section(
        key,
        title,
        (
            Words(words),
            Figure(roc, "The nearer to the upper left corner, the better."),
            Figure(by_recall, "How many calls are right, the more rows are to be found."),
            choice,
            _sheet(choice),
        ),
    )


def _choice(score: FloatArray, happened: np.ndarray, label: str) -> Thresholds:
    steps = np.linspace(0, 1, 101).round(2)
    positive, negative = np.sort(score[happened]), np.sort(score[~happened])
    hits = len(positive) - np.searchsorted(positive, steps, side="left")
    alarms = len(negative) - np.searchsorted(negative, steps, side="left")
    return Thresholds(
        label,
        tuple(steps.tolist()),
        tuple(hits.tolist()),
        tuple(alarms.tolist()),
        tuple((len(positive) - hits).tolist()),
        tuple((len(negative) - alarms).tolist()),
    )


def _f1(choice: Thresholds) -> FloatArray:
    hits, wrong = np.array(choice.hits, float), np.array(choice.false_alarms) + np.array(choice.misses)
    return np.asarray(2 * hits / np.maximum(1.0, 2 * hits + wrong))


def _curve(score: FloatArray, happened: np.ndarray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Share of the others, share of the class, and precision, from the highest score down; few points of many."""
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    hits = np.cumsum(happened[order])[ends].astype(np.float64)
    others = ends + 1 - hits
    if len(ends) > _MOST_POINTS:
        # Evenly along the way that both curves go.
        way = hits / hits[-1] + others / others[-1]
        some = np.unique(np.searchsorted(way, np.linspace(way[0], way[-1], _MOST_POINTS)))
        hits, others = hits[some], others[some]
    precision = hits / (hits + others)
    rate, found = np.append(0.0, others / others[-1]), np.append(0.0, hits / hits[-1])
    return rate, found, np.append(precision[0], precision)


def _sheet(choice: Thresholds) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for wanted in _LISTED:
        place = round(100 * wanted)
        hits, alarms, misses = choice.hits[place], choice.false_alarms[place], choice.misses[place]
        called = hits + alarms
        precision = hits / called if called else float("nan")
        rows.append(
            (
                f"{wanted:.2f}",
                called,
                hits,
                alarms,
                misses,
                precision,
                hits / (hits + misses),
                float(_f1(choice)[place]),
            )
        )
    columns = ("threshold", "called", "right", "false alarms", "missed", "precision", "recall", "F1")
    return Sheet(
        columns, tuple(rows), f"What calling a row “{choice.label}” from each threshold on would mean."
    )
