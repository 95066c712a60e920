"""The summary: how well the model predicts, against a baseline, and what the data and the model are; scores with their
intervals, and the leaderboard.
"""

from collections import Counter
from typing import Literal

import numpy as np

from coterie.members.decision_rule import DecisionRule
from coterie.report.content import Block, Cell, Fact, Facts, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel, Predictions, Provenance
from coterie.report.forms.number_format import format_interval, format_number, percent, plural
from coterie.report.scores.metrics import ScoreEstimate


def headline_of(
    evaluated: EvaluatedModel,
    provenance: Provenance,
    on_rows: list[ScoreEstimate],
    out_of_sample: list[ScoreEstimate],
) -> tuple[str, ScoreEstimate]:
    """The source of the score to rely on, and that score."""
    reliable = out_of_sample if out_of_sample and provenance.seen is not False else on_rows
    where = provenance.source if reliable is out_of_sample else "on these rows"
    wanted = "r2" if evaluated.classes is None else "accuracy"
    return where, next(own for own in reliable if own.key == wanted)


def summary_section(
    evaluated: EvaluatedModel,
    provenance: Provenance,
    on_rows: list[ScoreEstimate],
    out_of_sample: list[ScoreEstimate],
) -> Section:
    relies_on_kept = bool(out_of_sample) and provenance.seen is not False
    predictions = (
        provenance.predictions
        if relies_on_kept and provenance.predictions is not None
        else evaluated.predictions
    )
    metrics = {own.key: own for own in (out_of_sample if relies_on_kept else on_rows)}
    where = provenance.source if relies_on_kept else "on these rows"
    blocks: list[Block] = [Paragraph(_sentence(evaluated, predictions, metrics, where))]
    tone: Literal["note", "warning"] = "note" if provenance.seen is False or relies_on_kept else "warning"
    extra = (
        f" Rely on the {provenance.source.replace(' ', '-')} scores instead."
        if relies_on_kept and provenance.seen is not None
        else ""
    )
    blocks += [
        Facts(_scores(metrics, where), large=True),
        Paragraph(provenance.description + extra, tone),
        Facts((_rows(evaluated), _columns(evaluated), _target(evaluated), _model(evaluated))),
    ]
    rule = getattr(evaluated.model, "decision_", None)
    if isinstance(rule, DecisionRule) and evaluated.classes is not None:
        blocks.append(Paragraph(f"{_capitalised(rule.describe(evaluated.classes))}."))
    return Section("summary", "Summary", tuple(blocks))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _scores(metrics: dict[str, ScoreEstimate], where: str) -> tuple[Fact, ...]:
    wanted = ("accuracy", "auc", "log_loss", "r2", "rmse", "mae")
    if "auc" not in metrics:
        wanted = ("accuracy", "balanced_accuracy", *wanted[2:])
    found = [metrics[key] for key in wanted if key in metrics]
    return tuple(
        Fact(
            own.label.split(" (")[0],
            format_number(own.value),
            f"{format_interval(own.low, own.high)}, {where}",
        )
        for own in found[:3]
    )


def _sentence(
    evaluated: EvaluatedModel, predictions: Predictions, metrics: dict[str, ScoreEstimate], where: str
) -> str:
    if evaluated.classes is None:
        own = metrics["mae"]
        median = float(np.median(predictions.y_true))
        baseline = float(np.abs(predictions.y_true - median).mean())
        return (
            f"{where.capitalize()}, the mean absolute error of {evaluated.name} is {format_number(own.value)} (95 % "
            f"confidence interval {format_interval(own.low, own.high)}); always predicting the median, "
            f"{format_number(median)}, has an error of {format_number(baseline)}. "
            f"{_compared_with_baseline(own.value < baseline, own.high < baseline)}"
        )
    if len(evaluated.classes) == 2 and "auc" in metrics and _is_rare(predictions):
        return _sentence_of_rare_class(evaluated, predictions, metrics["auc"], where)
    own = metrics["accuracy"]
    shares = np.bincount(predictions.y_true, minlength=len(evaluated.classes)) / len(predictions.y_true)
    baseline, most_frequent = float(shares.max()), evaluated.labels[int(shares.argmax())]
    return (
        f"{where.capitalize()}, the accuracy of {evaluated.name} is {percent(own.value)} (95 % confidence interval "
        f"{percent(own.low)} to {percent(own.high)}); always predicting “{most_frequent}” has an accuracy of "
        f"{percent(baseline)}. {_compared_with_baseline(own.value > baseline, own.low > baseline)}"
    )


_RARE = 0.15


def _is_rare(predictions: Predictions) -> bool:
    """Whether accuracy says little, because nearly all rows are of one class."""
    share = float((predictions.y_true == 1).mean())
    return 0 < min(share, 1 - share) < _RARE


def _sentence_of_rare_class(
    evaluated: EvaluatedModel, predictions: Predictions, own: ScoreEstimate, where: str
) -> str:
    rare = int((predictions.y_true == 1).mean() < 0.5)
    share = float((predictions.y_true == rare).mean())
    return (
        f"{where.capitalize()}, the area under the ROC curve of {evaluated.name} is {format_number(own.value)} (95 % "
        f"confidence interval {format_interval(own.low, own.high)}); guessing has 0.5. Only {percent(share)} of rows "
        f"are “{evaluated.labels[rare]}”, so accuracy says little. "
        f"{_compared_with_baseline(own.value > 0.5, own.low > 0.5)}"
    )


def _compared_with_baseline(better: bool, clearly: bool) -> str:
    if clearly:
        return "The model is clearly better than this baseline."
    if better:
        return "The model is not clearly better than this baseline."
    return "The model is no better than this baseline."


def _rows(evaluated: EvaluatedModel) -> Fact:
    note = f"a random sample of {len(evaluated.rows):,} is used" if evaluated.is_sampled else "all are used"
    return Fact("rows", f"{evaluated.n_rows:,}", note)


def _columns(evaluated: EvaluatedModel) -> Fact:
    table = evaluated.table
    kinds: Counter[str] = Counter(evaluated.kind_name(place) for place in range(table.n_columns))
    note = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    return Fact("columns", f"{table.n_columns:,}", note)


def _target(evaluated: EvaluatedModel) -> Fact:
    if evaluated.classes is None:
        ends = [0.0, 0.5, 1.0] if evaluated.shows_rows else [0.05, 0.5, 0.95]
        low, middle, high = np.quantile(evaluated.all_y_true, ends).tolist()
        return Fact(
            "target",
            "numeric",
            f"{format_number(low)} to {format_number(high)}{'' if evaluated.shows_rows else ' for nine of ten rows'}, "
            f"median {format_number(middle)}",
        )
    counts = np.bincount(evaluated.all_y_true, minlength=len(evaluated.classes)) / evaluated.n_rows
    order = np.argsort(-counts, kind="stable")
    listed = [f"{evaluated.labels[place]} {percent(float(counts[place]))}" for place in order[:4]]
    more = f", {len(order) - 4} more" if len(order) > 4 else ""
    return Fact("target", plural(len(evaluated.classes), "class", "classes"), ", ".join(listed) + more)


def _model(evaluated: EvaluatedModel) -> Fact:
    members = getattr(evaluated.model, "members_", None)
    if members is not None:
        with_weight = int((np.asarray(evaluated.model.weights_) > 0).sum())
        return Fact(
            "model", evaluated.name, f"{plural(len(members), 'member')}, {with_weight} with a weight above 0"
        )
    number = getattr(evaluated.model, "n_estimators_", None)
    if number is None:
        own = getattr(evaluated.model, "estimators_", None)
        number = len(own) if own is not None and hasattr(own, "__len__") else None
    return Fact(
        "model",
        evaluated.name,
        "" if number is None else f"{plural(int(number), 'estimator')}",
    )


def scores_section(
    provenance: Provenance, on_rows: list[ScoreEstimate], out_of_sample: list[ScoreEstimate]
) -> Section:
    columns: tuple[str, ...] = ("metric", "better", "on these rows", "CI low", "CI high")
    if out_of_sample:
        columns = (*columns, provenance.source, "CI low ", "CI high ")
    rows = []
    for place, own in enumerate(on_rows):
        row: tuple[Cell, ...] = (
            own.label,
            "higher" if own.greater_is_better else "lower",
            own.value,
            own.low,
            own.high,
        )
        if out_of_sample:
            row = (*row, out_of_sample[place].value, out_of_sample[place].low, out_of_sample[place].high)
        rows.append(row)
    caption = (
        "CI: 95 % confidence interval, from 200 bootstrap samples of the rows; the model stays the same."
    )
    fitted = {
        True: "the model was fitted to them",
        False: "the model was not fitted to them",
        None: "it is not known whether the model was fitted to them",
    }
    note = f"On these rows: {fitted[provenance.seen]}."
    if out_of_sample and provenance.predictions is not None:
        note += (
            f" {provenance.source.capitalize()}: {len(provenance.predictions.y_true):,} training rows, each predicted "
            "by members that were not fitted to it."
        )
    return Section(
        "scores", "Scores", (Paragraph(note), TableBlock(columns, tuple(rows), caption, by_row=True))
    )
