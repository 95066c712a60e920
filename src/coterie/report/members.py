"""How sure the members are together, and how they differ."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics.diversity import Ambiguity, Diversity, ambiguity_of, diversity, diversity_of
from coterie.diagnostics.margins import margins
from coterie.diagnostics.votes.member_answers import MemberAnswers
from coterie.errors import CoterieError
from coterie.plots.chart import Axis, Chart, Line, Mark
from coterie.plots.diversity_display import DiversityDisplay, KappaErrorDisplay
from coterie.plots.margin_display import MarginDisplay
from coterie.report.content import Block, Cell, Figure, Section, Sheet, Words
from coterie.report.figures_in_words import in_words, percent
from coterie.report.honest import Honesty
from coterie.report.subject import Subject

__all__ = ["members", "sureness"]

_MOST_ROWS = 2_000
_MOST_STEPS = 300
_MOST_LISTED = 20
_ABOUT = {True: "about rows that fit saw", False: "about rows that fit did not see", None: "about these rows"}
_FEW = 12  # members that a matrix of pairs can be read for


def sureness(subject: Subject, honesty: Honesty) -> Section:
    """Margins: by how much the right class is ahead."""
    key, title = "margins", "Margins"
    if subject.classes is None or len(subject.classes) < 2:
        return Section(key, title, why_not="margins are for classes.")
    if hasattr(subject.model, "oof_proba_") and honesty.answers is not None:
        assert honesty.answers.proba is not None
        return Section(key, title, _of_committee(subject, honesty.answers.proba, honesty.answers.truth))
    oob = _knows_bags(subject, honesty)
    some = subject if oob else subject.some(_MOST_ROWS)  # rows out of bag are those of the whole table
    try:
        display = MarginDisplay.from_estimator(subject.model, some.X, some.y, oob=oob)
        found = margins(subject.model, some.X, some.y, oob=oob)
    except CoterieError as error:
        return Section(key, title, why_not=_reason(error))
    text = (
        "A margin is the share of the votes for the right class minus the largest share of another"
        f"{', out of bag' if oob else ''}. "
        f"{percent(float(found.error()[-1]))} of rows have none, or a negative one; the median is "
        f"{in_words(float(found.quantile(0.5)[-1]))}."
    )
    blocks: list[Block] = [Words(text)]
    if honesty.seen and not oob:
        blocks.append(Words("Fit saw these rows: margins of new rows are smaller.", "note"))
    return Section(
        key, title, (*blocks, Figure(display.chart(), "Left of zero are the rows that are wrong."))
    )


def _knows_bags(subject: Subject, honesty: Honesty) -> bool:
    """Whether margins can be asked of the members that did not draw a row."""
    if not honesty.seen or honesty.source != "out of bag" or subject.is_sampled:
        return False
    try:
        margins(subject.model, subject.X, subject.y, oob=True)
    except CoterieError:
        return False
    return True


def _of_committee(subject: Subject, proba: FloatArray, truth: AnyArray) -> tuple[Block, ...]:
    """Margins of probabilities out of fold, of the committee and of its members with weight."""
    own = _margin(proba, truth)
    model = subject.model
    shown = [
        place for place in np.argsort(-model.weights_, kind="stable").tolist() if model.weights_[place] > 0
    ]
    lines = [_steps("committee", own)]
    known = model._answers.known & np.isfinite(model._answers.predictions).all(axis=(0, 2))
    for place in shown[:4]:
        said = model._answers.predictions[place][known]
        lines.append(_steps(model.members_[place], _margin(said, model._truth.truth[known])))
    text = (
        f"A margin is the probability of the right class minus the largest of another, out of fold. "
        f"{percent(float((own <= 0).mean()))} of rows have none, or a negative one; the median is "
        f"{in_words(float(np.median(own)))}."
    )
    chart = Chart(
        f"Margins of {len(own):,} rows, out of fold",
        Axis("margin", -1.0, 1.0),
        Axis("share of rows with at most this margin", 0.0, 1.0),
        tuple(lines),
        (Mark(0.0),),
    )
    return Words(text), Figure(
        chart, "Left of zero are the rows that are wrong. A curve further right is surer."
    )


def _margin(proba: FloatArray, truth: AnyArray) -> FloatArray:
    rows = np.arange(len(truth))
    others = proba.copy()
    others[rows, truth] = -np.inf
    return np.asarray(proba[rows, truth] - others.max(axis=1))


def _steps(name: str, values: FloatArray) -> Line:
    at = np.quantile(values, np.linspace(0, 1, min(_MOST_STEPS, len(values))))
    shares = np.linspace(0, 1, len(at))
    return Line(name, np.concatenate([[-1.0], at, [1.0]]), np.concatenate([[0.0], shares, [1.0]]), steps=True)


def members(subject: Subject, honesty: Honesty) -> Section:
    """Diversity of classes, ambiguity of numbers."""
    key, title = "members", "Diversity of members"
    try:
        found, where = _found(subject, honesty)
    except CoterieError as error:
        return Section(key, title, why_not=_reason(error))
    blocks: list[Block] = [Words(f"{_sentence(found)} Asked {where}.")]
    if where == _ABOUT[True]:
        blocks.append(
            Words("Of rows that they know, members are too often right, and too much alike.", "note")
        )
    if len(found.names) <= _FEW:
        chart = DiversityDisplay(found).chart()
        blocks.append(Figure(chart, "Dark cells are members that err alike: one of them may be enough."))
    if isinstance(found, Diversity) and len(found.names) > 2:
        chart = KappaErrorDisplay(found).chart()
        blocks.append(
            Figure(
                chart, "A dot is a pair of members. Good pairs are low and to the left: right, and different."
            )
        )
    blocks.append(_sheet(found))
    return Section(key, title, tuple(blocks))


def _found(subject: Subject, honesty: Honesty) -> tuple[Diversity | Ambiguity, str]:
    model = subject.model
    if hasattr(model, "_answers") and hasattr(model, "members_") and len(model.members_) > 1:
        return _of_answers(subject, model), "about rows of fit, out of fold"
    some = subject.some(_MOST_ROWS)
    return diversity(model, some.X, some.y), _ABOUT[honesty.seen]


def _of_answers(subject: Subject, model: Any) -> Diversity | Ambiguity:
    """Of the members of a committee: what they said out of fold, with their weights."""
    rows = np.flatnonzero(model._answers.known & np.isfinite(model._answers.predictions).all(axis=(0, 2)))
    if len(rows) > _MOST_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, _MOST_ROWS).round().astype(np.intp)]
    asked = MemberAnswers(
        model._answers.predictions[:, rows], model.weights_, tuple(model.members_), subject.classes
    )
    truth, weight = model._truth.truth[rows], model._truth.weight[rows]
    if subject.classes is None:
        return ambiguity_of(asked, truth, weight / weight.sum(), float("nan"))
    return diversity_of(asked, truth, weight, float("nan"))


def _sentence(found: Diversity | Ambiguity) -> str:
    if isinstance(found, Diversity):
        return (
            f"{len(found.names)} members are wrong about {percent(float(found.member_errors.mean()))} of rows on "
            f"average, the best about {percent(float(found.member_errors.min()))}, and their vote about "
            f"{percent(found.vote_error)}. Two of them agree with a kappa of {in_words(found.mean('kappa'))}: "
            "1 is always, 0 no more than by chance."
        )
    return (
        f"The mean squared error of {len(found.names)} members is {in_words(found.average_error)} by weight; because "
        f"they differ by {in_words(found.ambiguity)}, that of their mean is {in_words(found.mean_error)}."
    )


def _sheet(found: Diversity | Ambiguity) -> Sheet:
    error = "share wrong" if isinstance(found, Diversity) else "mean squared error"
    alike = "kappa" if isinstance(found, Diversity) else "correlation of errors"
    order = np.lexsort((found.member_errors, -found.votes))[:_MOST_LISTED]
    rows: list[tuple[Cell, ...]] = []
    for place in order.tolist():
        twin = int(found.twin[place])
        rows.append(
            (
                found.names[place],
                float(found.votes[place]),
                float(found.member_errors[place]),
                float(found.drop_one[place]),
                found.names[twin] if twin >= 0 else "",
                float(found.redundancy[place]),
            )
        )
    columns = ("member", "weight", error, "error grows without it by", "most like", alike)
    hidden = len(found.names) - len(order)
    return Sheet(columns, tuple(rows), left_out=hidden, folded=len(rows) > _FEW)


def _reason(error: CoterieError) -> str:
    """Its first sentence."""
    return str(error).split("\n")[0].split(". ")[0].rstrip(".") + "."
