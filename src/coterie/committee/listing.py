"""Small tables of results: rows that are dicts, ways to look at them, and the leaderboard of a committee."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, overload

import numpy as np

from coterie._optional import need
from coterie._typing import FloatArray
from coterie.committee.metrics import Metric
from coterie.committee.weights import OutOfFoldPredictions
from coterie.members.oof_score import Score


class Listing(Sequence[dict[str, Any]]):
    """Rows with the same keys, in order.

    Parameters
    ----------
    rows : list of dict
    notes : list of str, sentences below the table

    Examples
    --------
    >>> listing = Listing([{"name": "forest", "score": 0.91234}, {"name": "linear", "score": 0.9}])
    >>> listing
    name      score
    forest  0.91234
    linear      0.9
    >>> listing[0]["name"], listing.columns
    ('forest', ['name', 'score'])
    """

    def __init__(self, rows: Sequence[dict[str, Any]], notes: Sequence[str] = ()) -> None:
        self._rows = [dict(row) for row in rows]
        self.notes = list(notes)

    @property
    def columns(self) -> list[str]:
        """The keys of the rows."""
        return list(self._rows[0]) if self._rows else []

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> "Listing": ...

    def __getitem__(self, place: int | slice) -> Any:
        return Listing(self._rows[place]) if isinstance(place, slice) else self._rows[place]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def column(self, name: str) -> list[Any]:
        """The values of one column."""
        return [row[name] for row in self._rows]

    def to_frame(self) -> Any:
        """The same as a data frame of pandas."""
        return need("pandas", purpose="A data frame of results").DataFrame(self._rows)

    def __repr__(self) -> str:
        cells = [self.columns] + [[_cell(value) for value in row.values()] for row in self._rows]
        texts = [isinstance(value, str) for value in self._rows[0].values()] if self._rows else []
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if is_text else cell.rjust(width)
                for cell, width, is_text in zip(line, widths, texts, strict=True)
            ).rstrip()
            for line in cells
        ]
        return "\n".join(lines + self.notes)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
            for row in self._rows
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


_TWO_SIDED = 1.959964  # standard errors that hold 95 % of a normal distribution


@dataclass(frozen=True)
class MemberSummary:
    """A member by name, its weight, and its times in seconds."""

    name: str
    weight: float
    fit_time: float
    predict_time: float


def leaderboard_of(
    members: Sequence[MemberSummary],
    oof: OutOfFoldPredictions,
    metric: Metric,
    score: Score,
    choose: Callable[[OutOfFoldPredictions, list[str]], FloatArray],
    notes: Sequence[str],
) -> Listing:
    """Rows for the committee and for each member, the best first.

    Parameters
    ----------
    members : in the order of `oof`
    score : that of the committee
    choose : the weights of a committee of some members, given their predictions and names
    """
    whole = _value(metric, oof, np.array([member.weight for member in members]))
    rows = []
    for place, member in enumerate(members):
        own = metric.score(oof.predictions[place][oof.known], oof.rows.take(oof.known))
        without = whole
        if member.weight > 0:
            others = oof.without(place)
            names = [each.name for each in members if each.name != member.name]
            without = _value(metric, others, choose(others, names)) if names else float("nan")
        rows.append(_row(member, own, without, whole - without))
    rows.sort(key=lambda row: -row["score"])
    committee = MemberSummary(
        "committee",
        1.0,
        sum(member.fit_time for member in members),
        sum(member.predict_time for member in members if member.weight > 0),
    )
    first = f"score: {metric.name}, greater is better; low and high hold it 95 % of the time."
    return Listing([_row(committee, score, None, None), *rows], [first, *notes])


def _value(metric: Metric, oof: OutOfFoldPredictions, weights: FloatArray) -> float:
    mixed = np.tensordot(weights, oof.predictions[:, oof.known], axes=1)
    return metric.value(mixed, oof.rows.take(oof.known))


def _row(
    member: MemberSummary, score: Score, without: float | None, contribution: float | None
) -> dict[str, Any]:
    return {
        "name": member.name,
        "score": score.value,
        "low": score.value - _TWO_SIDED * score.error,
        "high": score.value + _TWO_SIDED * score.error,
        "weight": member.weight,
        "score_without": without,
        "contribution": contribution,
        "fit_time": member.fit_time,
        "predict_time": member.predict_time,
    }
