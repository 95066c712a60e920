"""Margins of the vote, and diversity of the members."""

import re
from dataclasses import replace

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics.diversity import Ambiguity, Diversity, ambiguity_of, diversity, diversity_of
from coterie.diagnostics.margins import margins
from coterie.errors import CoterieError
from coterie.members.member_predictions import HeldOutPredictions
from coterie.plots.chart import Axis, Chart, Line, Mark
from coterie.plots.members.member_displays import DiversityDisplay, KappaErrorDisplay, MarginDisplay
from coterie.report.content import Block, Cell, Figure, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel, Provenance
from coterie.report.forms.number_format import format_number, percent

_MOST_ROWS = 2_000
_MOST_KEPT_ROWS = 100_000  # of a committee: as many as its leaderboard has, or nearly
_MOST_STEPS = 300
_MOST_LISTED = 20
_ROWS = {True: "on training rows", False: "on rows that the model was not fitted to", None: "on these rows"}
_FEW = 12  # members that a matrix of pairs can be read for


def margins_section(evaluated: EvaluatedModel, provenance: Provenance) -> Section:
    """By how much the true class is ahead of the others."""
    key, title = "margins", "Margins"
    if evaluated.classes is None or len(evaluated.classes) < 2:
        return Section(key, title, reason="margins are defined for classification.")
    if hasattr(evaluated.model, "held_out_predictions") and provenance.predictions is not None:
        assert provenance.predictions.proba is not None
        return Section(
            key, title, _of_committee(evaluated, provenance.predictions.proba, provenance.predictions.y_true)
        )
    oob = _has_oob_margins(evaluated, provenance)
    some = (
        evaluated if oob else evaluated.subsample(_MOST_ROWS)
    )  # rows out of bag are those of the whole table
    try:
        display = MarginDisplay.from_estimator(evaluated.model, some.X, some.y, oob=oob)
        found = margins(evaluated.model, some.X, some.y, oob=oob)
    except CoterieError as error:
        return Section(key, title, reason=_reason(error))
    text = (
        "The margin of a row is the share of the votes for its true class minus the largest share of another class"
        f"{', out of bag' if oob else ''}. "
        f"{percent(float(found.error()[-1]))} of rows have a margin of at most 0; the median is "
        f"{format_number(float(found.quantile(0.5)[-1]))}."
    )
    blocks: list[Block] = [Paragraph(text)]
    if provenance.seen and not oob:
        blocks.append(Paragraph("These are training rows: margins of new rows are smaller.", "note"))
    return Section(key, title, (*blocks, Figure(display.chart(), "Rows left of zero are misclassified.")))


def _has_oob_margins(evaluated: EvaluatedModel, provenance: Provenance) -> bool:
    """Whether margins can be found from the members that did not draw a row."""
    if not provenance.seen or provenance.source != "out of bag" or evaluated.is_sampled:
        return False
    try:
        margins(evaluated.model, evaluated.X, evaluated.y, oob=True)
    except CoterieError:
        return False
    return True


def _of_committee(evaluated: EvaluatedModel, proba: FloatArray, y_true: AnyArray) -> tuple[Block, ...]:
    """Margins of out-of-fold probabilities, of the committee and of its members with the largest weights."""
    own = _margin(proba, y_true)
    model = evaluated.model
    shown = [
        place for place in np.argsort(-model.weights_, kind="stable").tolist() if model.weights_[place] > 0
    ]
    lines = [_steps("committee", own)]
    held_out: HeldOutPredictions = model.held_out_predictions()
    for place in shown[:4]:
        members_margin = _margin(held_out.members.values[place], held_out.truth)
        lines.append(_steps(model.members_[place], members_margin))
    text = (
        "The margin of a row is the probability of its true class minus the largest of another class, out of fold. "
        f"{percent(float((own <= 0).mean()))} of rows have a margin of at most 0; the median is "
        f"{format_number(float(np.median(own)))}."
    )
    chart = Chart(
        f"Margins of {len(own):,} rows, out of fold",
        Axis("margin", -1.0, 1.0),
        Axis("share of rows with at most this margin", 0.0, 1.0),
        tuple(lines),
        (Mark(0.0),),
    )
    return Paragraph(text), Figure(
        chart, "Rows left of zero are misclassified. A curve further right is more confident."
    )


def _margin(proba: FloatArray, y_true: AnyArray) -> FloatArray:
    rows = np.arange(len(y_true))
    others = proba.copy()
    others[rows, y_true] = -np.inf
    return np.asarray(proba[rows, y_true] - others.max(axis=1))


def _steps(name: str, values: FloatArray) -> Line:
    at = np.quantile(values, np.linspace(0, 1, min(_MOST_STEPS, len(values))))
    shares = np.linspace(0, 1, len(at))
    return Line(name, np.concatenate([[-1.0], at, [1.0]]), np.concatenate([[0.0], shares, [1.0]]), steps=True)


def diversity_section(evaluated: EvaluatedModel, provenance: Provenance) -> Section:
    """Diversity of classifiers, ambiguity of regressors."""
    key, title = "diversity", "Diversity of members"
    try:
        found, where = _measured_diversity(evaluated, provenance)
    except CoterieError as error:
        return Section(key, title, reason=_reason(error))
    blocks: list[Block] = [Paragraph(f"{_sentence(found)} Measured {where}.")]
    if where == _ROWS[True]:
        blocks.append(
            Paragraph("On training rows, members are more accurate and more alike than on new rows.", "note")
        )
    if len(found.names) <= _FEW:
        chart = DiversityDisplay(found).chart()
        blocks.append(
            Figure(
                chart,
                "Dark cells are pairs of members that make similar errors: one of the two may be enough.",
            )
        )
    if isinstance(found, Diversity) and len(found.names) > 2:
        chart = KappaErrorDisplay(found).chart()
        blocks.append(
            Figure(
                chart,
                "Each dot is a pair of members. Good pairs are low and to the left: accurate and different.",
            )
        )
    contributions = None
    if hasattr(evaluated.model, "leaderboard"):
        contributions = {row["name"]: row["contribution"] for row in evaluated.model.leaderboard()}
    blocks.append(_member_table(found, contributions))
    return Section(key, title, tuple(blocks))


def _measured_diversity(
    evaluated: EvaluatedModel, provenance: Provenance
) -> tuple[Diversity | Ambiguity, str]:
    model = evaluated.model
    if hasattr(model, "held_out_predictions") and len(model.members_) > 1:
        return _out_of_fold_diversity(model.held_out_predictions()), "on training rows, out of fold"
    some = evaluated.subsample(_MOST_ROWS)
    return diversity(model, some.X, some.y), _ROWS[provenance.seen]


def _out_of_fold_diversity(known: HeldOutPredictions) -> Diversity | Ambiguity:
    """Of the members of a committee: what they predicted out of fold, with their weights."""
    n_rows = len(known.truth)
    rows = np.arange(n_rows)
    if n_rows > _MOST_KEPT_ROWS:
        rows = np.linspace(0, n_rows - 1, _MOST_KEPT_ROWS).round().astype(np.intp)
    members = replace(known.members, values=known.members.values[:, rows])
    truth, weight = known.truth[rows], known.weight[rows]
    if not members.classes:
        return ambiguity_of(members, truth, weight / weight.sum(), float("nan"))
    return diversity_of(members, truth, weight, float("nan"))


def _sentence(found: Diversity | Ambiguity) -> str:
    if isinstance(found, Diversity):
        return (
            f"The {len(found.names)} members are wrong about {percent(float(found.member_errors.mean()))} of rows on "
            f"average, the best of them about {percent(float(found.member_errors.min()))}, and their vote about "
            f"{percent(found.vote_error)}. Their mean pairwise kappa is {format_number(found.mean('kappa'))}: 1 means "
            "that two members always agree, 0 that they agree no more than by chance."
        )
    return (
        f"The weighted average of the mean squared errors of {len(found.names)} members is "
        f"{format_number(found.average_error)}. Their ambiguity (the variance between members) is "
        f"{format_number(found.ambiguity)}, so the mean squared error of their mean prediction is "
        f"{format_number(found.mean_error)}: its root is {format_number(float(np.sqrt(found.mean_error)))}."
    )


def _member_table(found: Diversity | Ambiguity, contributions: dict[str, float] | None) -> TableBlock:
    """By how much the error grows without a member; for a committee what its leaderboard says about this."""
    is_regression = isinstance(found, Ambiguity)
    error = "root mean squared error" if is_regression else "error rate"
    alike = "correlation of errors" if is_regression else "kappa"
    without = "error increase without it" if contributions is None else "contribution"
    order = np.lexsort((found.member_errors, -found.votes))[:_MOST_LISTED]
    rows: list[tuple[Cell, ...]] = []
    for place in order.tolist():
        twin, own = int(found.twin[place]), float(found.member_errors[place])
        name = found.names[place]
        rows.append(
            (
                name,
                float(found.votes[place]),
                float(np.sqrt(own)) if is_regression else own,
                _increase(found, place) if contributions is None else contributions.get(name),
                found.names[twin] if twin >= 0 else "",
                float(found.redundancy[place]),
            )
        )
    columns = ("member", "weight", error, without, "most similar member", alike)
    hidden = len(found.names) - len(order)
    return TableBlock(columns, tuple(rows), n_left_out=hidden, folded=len(rows) > _FEW)


def _increase(found: Diversity | Ambiguity, place: int) -> float:
    """In the same unit as the error beside it."""
    change = float(found.drop_one[place])
    if isinstance(found, Diversity):
        return change
    return float(np.sqrt(max(0.0, found.mean_error + change)) - np.sqrt(found.mean_error))


def _reason(error: CoterieError) -> str:
    """Its first sentence, about the class of the model rather than all of its parameters."""
    text = re.sub(r"^(\w+)\(.*\)(?= has| is| predicts)", r"\1", str(error).split("\n")[0])
    return re.split(r"(?<!\.)\. (?=[A-Z])", text)[0].rstrip(".") + "."
