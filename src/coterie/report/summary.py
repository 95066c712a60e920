"""The beginning: what the data is, what the model is, how good it is and how sure that is, in plain words."""

from collections import Counter
from typing import Literal

import numpy as np

from coterie.report.content import Block, Fact, Facts, Section, Words
from coterie.report.figures_in_words import in_words, interval_in_words, percent, plural
from coterie.report.honest import Honesty
from coterie.report.measures import Measured
from coterie.report.subject import Answers, Subject

__all__ = ["headline_of", "summary"]


def headline_of(
    subject: Subject, honesty: Honesty, on_rows: list[Measured], kept: list[Measured]
) -> tuple[str, Measured]:
    """Where the score that should be believed is from, and that score."""
    believed = kept if kept and honesty.seen is not False else on_rows
    where = honesty.source if believed is kept else "on these rows"
    wanted = "r2" if subject.classes is None else "accuracy"
    return where, next(own for own in believed if own.key == wanted)


def summary(subject: Subject, honesty: Honesty, on_rows: list[Measured], kept: list[Measured]) -> Section:
    believed = bool(kept) and honesty.seen is not False
    answers = honesty.answers if believed and honesty.answers is not None else subject.answers
    measures = {own.key: own for own in (kept if believed else on_rows)}
    where = honesty.source if believed else "on these rows"
    blocks: list[Block] = [Words(_sentence(subject, answers, measures, where))]
    tone: Literal["note", "warning"] = "note" if honesty.seen is False or believed else "warning"
    extra = f" Believe the scores {honesty.source} instead." if believed and honesty.seen is not None else ""
    blocks += [
        Facts(_scores(measures, where), large=True),
        Words(honesty.words + extra, tone),
        Facts((_rows(subject), _columns(subject), _target(subject), _model(subject))),
    ]
    return Section("summary", "Summary", tuple(blocks))


def _scores(measures: dict[str, Measured], where: str) -> tuple[Fact, ...]:
    wanted = ("accuracy", "roc_auc", "log_loss", "r2", "root_mean_squared_error", "mean_absolute_error")
    if "roc_auc" not in measures:
        wanted = ("accuracy", "balanced_accuracy", *wanted[2:])
    found = [measures[key] for key in wanted if key in measures]
    return tuple(
        Fact(
            own.label.split(" (")[0], in_words(own.value), f"{interval_in_words(own.low, own.high)}, {where}"
        )
        for own in found[:3]
    )


def _sentence(subject: Subject, answers: Answers, measures: dict[str, Measured], where: str) -> str:
    if subject.classes is None:
        own = measures["mean_absolute_error"]
        blind = float(np.abs(answers.truth - np.median(answers.truth)).mean())
        told = f"always saying {in_words(float(np.median(answers.truth)))} would be off by {in_words(blind)}"
        return (
            f"{where.capitalize()}, {subject.name} is off by {in_words(own.value)} on average "
            f"({interval_in_words(own.low, own.high)} with 95 % confidence); {told}. "
            f"{_verdict(own.value < blind, own.high < blind)}"
        )
    own = measures["accuracy"]
    shares = np.bincount(answers.truth, minlength=len(subject.classes)) / len(answers.truth)
    blind, most = float(shares.max()), subject.labels[int(shares.argmax())]
    return (
        f"{where.capitalize()}, {subject.name} is right about {percent(own.value)} of rows "
        f"({percent(own.low)} to {percent(own.high)} with 95 % confidence); always saying “{most}” would be right "
        f"about {percent(blind)}. {_verdict(own.value > blind, own.low > blind)}"
    )


def _verdict(better: bool, surely: bool) -> str:
    if surely:
        return "That is clearly better than not looking at the columns."
    return (
        "That is no clear gain over not looking at the columns."
        if better
        else "Not looking at the columns is as good."
    )


def _rows(subject: Subject) -> Fact:
    note = (
        f"{len(subject.rows):,} of them were drawn for this report"
        if subject.is_sampled
        else "all of them are used"
    )
    return Fact("rows", f"{subject.n_rows:,}", note)


def _columns(subject: Subject) -> Fact:
    table = subject.whole
    words = {"numeric": "of numbers", "ordered": "of ordered categories", "nominal": "of categories"}
    kinds: Counter[str] = Counter(
        "numeric" if table.matrix is not None else column.kind for column in table.columns
    )
    if table.matrix is not None:
        kinds = Counter({"numeric": table.n_columns})
    note = ", ".join(f"{kinds[kind]:,} {text}" for kind, text in words.items() if kinds[kind])
    return Fact("columns", f"{table.n_columns:,}", note)


def _target(subject: Subject) -> Fact:
    if subject.classes is None:
        low, middle, high = np.quantile(subject.whole_truth, [0.0, 0.5, 1.0]).tolist()
        return Fact("target", "a number", f"{in_words(low)} to {in_words(high)}, median {in_words(middle)}")
    counts = np.bincount(subject.whole_truth, minlength=len(subject.classes)) / subject.n_rows
    order = np.argsort(-counts, kind="stable")
    listed = [f"{subject.labels[place]} {percent(float(counts[place]))}" for place in order[:4]]
    more = f", {len(order) - 4} more" if len(order) > 4 else ""
    return Fact("target", plural(len(subject.classes), "class", "classes"), ", ".join(listed) + more)


def _model(subject: Subject) -> Fact:
    members = getattr(subject.model, "members_", None)
    if members is not None:
        with_weight = int((np.asarray(subject.model.weights_) > 0).sum())
        return Fact("model", subject.name, f"{plural(len(members), 'member')}, {with_weight} with weight")
    number = getattr(subject.model, "n_estimators_", None)
    if number is None:
        own = getattr(subject.model, "estimators_", None)
        number = len(own) if own is not None and hasattr(own, "__len__") else None
    return Fact(
        "model",
        subject.name,
        "" if number is None else f"{plural(int(number), 'member or round', 'members or rounds')}",
    )
