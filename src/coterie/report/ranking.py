"""The leaderboard: all members of a committee beside the whole; of another model, the model alone."""

from typing import Any

from coterie.report.content import Block, Cell, Section, Sheet, Words
from coterie.report.measures import Measured
from coterie.report.subject import Subject

__all__ = ["ranking"]

_MOST = 50


def ranking(subject: Subject, where: str, headline: Measured) -> Section:
    if hasattr(subject.model, "leaderboard"):
        return Section("leaderboard", "Leaderboard", _of_committee(subject.model))
    columns = ("model", "score", "from", "to")
    row: tuple[Cell, ...] = (subject.name, headline.value, headline.low, headline.high)
    note = Words(f"The score is {headline.label}, {where}. There is one model, so there is one row.")
    return Section("leaderboard", "Leaderboard", (note, Sheet(columns, (row,), interval=(1, 2, 3))))


def _of_committee(model: Any) -> tuple[Block, ...]:
    listing = model.leaderboard()
    columns = ("model", "score", "from", "to", "weight", "contribution", "fit (s)", "predict (s per 1,000)")
    keys = ("name", "score", "low", "high", "weight", "contribution", "fit_time", "predict_time")
    rows = [tuple(row[key] for key in keys) for row in listing]
    unused = sum(1 for row in rows if row[4] == 0)
    text = (
        f"The score is {model.scoring_}, out of fold; greater is better. Weights were found greedily: a member without "
        "weight predicts nothing that the others do not predict better. A member's contribution is lost without it."
    )
    blocks: list[Block] = [
        Words(text),
        Sheet(columns, tuple(rows[:_MOST]), left_out=max(0, len(rows) - _MOST), interval=(1, 2, 3)),
    ]
    if unused:
        blocks.append(
            Words(f"{unused} of {len(rows) - 1} members have no weight, and are not asked by predict.")
        )
    gone = [f"{name} ({why})" for group in (model.skipped_, model.dropped_) for name, why in group.items()]
    if gone:
        blocks.append(Words(f"Not fitted: {'; '.join(gone[:20])}.", "note"))
    if getattr(model, "interrupted_", False):
        blocks.append(Words("The fit was interrupted: these are the members that were complete.", "warning"))
    return tuple(blocks)
