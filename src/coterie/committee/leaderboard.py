"""The leaderboard of a committee: every score, interval and contribution from the same rows held out.

Scores are shown as they are read: an error is positive, and in the units of the target. The committee without one of
its members is chosen and scored as the committee itself is, fold by fold without the rows of the fold, so that the
two can be compared.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coterie._typing import FloatArray, RowArray
from coterie.committee.listing import Listing, in_few_digits
from coterie.committee.metrics import Metric
from coterie.committee.weights import OutOfFoldPredictions, prior_weight
from coterie.members.oof_score import Score
from coterie.metrics import METRICS, ShownMetric, shown_metric

_TWO_SIDED = 1.959964  # standard errors that hold 95 % of a normal distribution
_COMMITTEE = "committee"


@dataclass(frozen=True)
class MemberSummary:
    """A member by name, its weight, its times in seconds, and its size in bytes if that is known."""

    name: str
    weight: float
    fit_time: float
    predict_time: float
    size: int | None = None


@dataclass(frozen=True)
class CommitteeScores:
    """What a leaderboard is made from.

    Attributes
    ----------
    members : in the order of `oof`
    rows : the rows that everything is scored by
    score : that of the committee, by `metric`
    nested : predictions of a committee of some members, given theirs and their names; no row helped to choose its own
    prior : the name of the member that weights lean towards, or None
    """

    members: Sequence[MemberSummary]
    oof: OutOfFoldPredictions
    rows: RowArray
    metric: Metric
    score: Score
    nested: Callable[[OutOfFoldPredictions, list[str]], FloatArray]
    prior: str | None = None


@dataclass(frozen=True)
class LeftOutMembers:
    """Members that are not in the committee, by name, and why: some were not fitted, others failed."""

    skipped: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    def notes(self) -> list[str]:
        """A line for those that were not fitted, and one for each that failed.

        Examples
        --------
        >>> LeftOutMembers({"forest": "max_members=1 were fitted", "linear": "max_members=1 were fitted"}).notes()
        ['2 members not fitted: max_members=1 were fitted.']
        """
        lines = []
        if self.skipped:
            reasons = Counter(_without_numbers(why) for why in self.skipped.values())
            [(first, _)] = reasons.most_common(1)
            short = (
                first
                if len(reasons) == 1
                else ", ".join(f"{why} ({number})" for why, number in reasons.most_common())
            )
            n_skipped = len(self.skipped)
            lines.append(f"{n_skipped} {'member' if n_skipped == 1 else 'members'} not fitted: {short}.")
        lines += [f"{name} failed: {why}" for name, why in self.failed.items()]
        return lines

    def details(self) -> list[str]:
        """A line for each member that was not fitted."""
        return [f"{name} not fitted: {why}" for name, why in self.skipped.items()]


def _without_numbers(why: str) -> str:
    """The reason without its numbers."""
    if "it would take about" in why or why.startswith("time ran out"):
        return "time limit"
    return "memory limit" if "memory_limit" in why else why


class Leaderboard(Listing):
    """The committee, and below it its members, the best first.

    Parameters
    ----------
    rows, notes, shown, left_out : what the committee found

    Attributes
    ----------
    metric : str, what is scored
    greater_is_better : bool
    left_out : LeftOutMembers, those that were not fitted, and why
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]],
        notes: Sequence[str],
        shown: ShownMetric,
        left_out: LeftOutMembers,
    ) -> None:
        headings = {
            "name": "member",
            "score": shown.heading,
            "score_without": f"{shown.name} without it",
            "fit_time": "fit (s)",
            "predict_time": "predict (s/1,000)",
            "size": "size (bytes)",
        }
        super().__init__(rows, [*notes, *left_out.notes()], headings=headings, n_apart=1)
        self.metric, self.greater_is_better, self.left_out = shown.name, shown.greater_is_better, left_out


def leaderboard_of(scores: CommitteeScores, notes: Sequence[str], left_out: LeftOutMembers) -> Leaderboard:
    """A row for the committee, and one for each member, the best first."""
    metric, shown = scores.metric, shown_metric(scores.metric.name)
    targets = scores.oof.rows.take(scores.rows)
    own = [metric.score(each[scores.rows], targets) for each in scores.oof.predictions]
    rows = []
    for place in sorted(range(len(own)), key=lambda place: -own[place].value):
        member = scores.members[place]
        without = _score_without(place, scores) if member.weight > 0 else scores.score.value
        rows.append(_row(member, own[place], shown, without, shown.loss(scores.score.value, without)))
    committee = MemberSummary(
        _COMMITTEE,
        1.0,
        sum(member.fit_time for member in scores.members),
        sum(member.predict_time for member in scores.members if member.weight > 0),
        _sum([member.size for member in scores.members if member.weight > 0]),
    )
    first = _row(committee, scores.score, shown, None, None)
    about = [*_explanations(shown), *_remarks(first, rows, shown, scores), *notes]
    return Leaderboard([first, *rows], about, shown, left_out)


def _score_without(place: int, scores: CommitteeScores) -> float:
    """The score of a committee of all other members, chosen by the same rules."""
    names = [each.name for number, each in enumerate(scores.members) if number != place]
    if not names:
        return float("nan")
    nested = scores.nested(scores.oof.without(place), names)
    return scores.metric.value(nested[scores.rows], scores.oof.rows.take(scores.rows))


def _row(
    member: MemberSummary,
    score: Score,
    shown: ShownMetric,
    without: float | None,
    contribution: float | None,
) -> dict[str, Any]:
    low, high = shown.ends(score.value, _TWO_SIDED * score.error)
    return {
        "name": member.name,
        "score": shown.value(score.value),
        "low": low,
        "high": high,
        "weight": member.weight,
        "score_without": None if without is None else shown.value(without),
        "contribution": contribution,
        "fit_time": member.fit_time,
        "predict_time": member.predict_time,
        "size": member.size,
    }


def _sum(sizes: Sequence[int | None]) -> int | None:
    """The sum, None if one is not known."""
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _explanations(shown: ShownMetric) -> list[str]:
    """What the columns mean."""
    known = METRICS.get(shown.name)
    units = ", in the units of the target" if known is not None and known.unit == "target" else ""
    return [
        f"{shown.heading}: {shown.direction}{units}; measured out of fold. low and high: a 95 % confidence interval.",
        "committee: the weighted mean of the members, which is what predicts. Its score is nested: each fold is scored "
        "by weights that were chosen without it.",
        f"contribution: by how much {shown.name} is worse if the committee is chosen without the member; below 0 it is "
        "better. Members of weight 0 are not used.",
    ]


def _remarks(
    committee: dict[str, Any], rows: Sequence[dict[str, Any]], shown: ShownMetric, scores: CommitteeScores
) -> list[str]:
    """What may surprise: a member that is better than the committee, and a contribution below 0."""
    lines = []
    best = rows[0]
    ahead = (
        best["score"] - committee["score"] if shown.greater_is_better else committee["score"] - best["score"]
    )
    if ahead > 0:
        close = best["low"] <= committee["score"] <= best["high"]
        remark = ", which may be chance: its interval holds the score of the committee" if close else ""
        lines.append(f"{best['name']} alone is better than the committee by {in_few_digits(ahead)}{remark}.")
    return lines + _about_negative(committee, rows, scores)


def _about_negative(
    committee: dict[str, Any], rows: Sequence[dict[str, Any]], scores: CommitteeScores
) -> list[str]:
    """Why a member has weight without which the committee scores better."""
    found = [row for row in rows if row["weight"] > 0 and row["contribution"] < 0]
    if not found:
        return []
    half_width = (committee["high"] - committee["low"]) / 2
    least = prior_weight(float(scores.oof.rows.weight[scores.oof.known].sum()))
    chosen = [row for row in found if row["name"] != scores.prior or row["weight"] > 1.5 * least]
    lines = []
    if chosen:
        small = all(-row["contribution"] < half_width / 2 for row in chosen)
        lines.append(
            f"contribution below 0: {', '.join(row['name'] for row in chosen)}. These weights helped on the rows that "
            "they were chosen by, and not on the folds held out from the choice"
            + ("; differences so small beside the interval are mostly chance." if small else ".")
        )
    if len(chosen) < len(found):
        lines.append(
            f"{scores.prior} gets a weight of at least {least:.2g} here, although its contribution is below 0: on few "
            "rows weights lean towards the member that is best on most tables."
        )
    return lines
