"""The leaderboard: the committee and its members with the scores on the same rows; one row for another model."""

from typing import Any

from coterie.metrics import METRICS, shown_metric
from coterie.report.content import Block, Cell, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel
from coterie.report.scores.metrics import ScoreEstimate

_MOST = 50
_MOST_REASONS = 3


def leaderboard_section(evaluated: EvaluatedModel, where: str, headline: ScoreEstimate) -> Section:
    if hasattr(evaluated.model, "leaderboard"):
        return Section("leaderboard", "Leaderboard", _of_committee(evaluated.model))
    arrow = METRICS[headline.key].arrow
    columns = ("model", f"{headline.key} {arrow}", "CI low", "CI high")
    row: tuple[Cell, ...] = (evaluated.name, headline.value, headline.low, headline.high)
    note = Paragraph(f"The score is {headline.label}, {where}, with its 95 % confidence interval (CI).")
    return Section("leaderboard", "Leaderboard", (note, TableBlock(columns, (row,), interval=(1, 2, 3))))


def _of_committee(model: Any) -> tuple[Block, ...]:
    shown = shown_metric(model.scoring_)
    listing = list(model.leaderboard())
    keys = ("name", "score", "low", "high", "weight", "contribution", "fit_time", "predict_time", "size")
    columns = (
        "model",
        shown.heading,
        "CI low",
        "CI high",
        "weight",
        "contribution",
        "fit (s)",
        "predict (s per 1,000)",
        "size (MB)",
    )
    listing = [row | {"size": None if row["size"] is None else row["size"] / 1e6} for row in listing]
    rows = [tuple(row[key] for key in keys) for row in listing]
    n_unused = sum(1 for row in rows if row[4] == 0)
    worse = "falls" if shown.greater_is_better else "rises"
    text = (
        f"The score is {shown.name}, out of fold, with its 95 % confidence interval (CI); {shown.direction}. "
        f"The contribution of a member is by how much {shown.name} {worse} without it: a negative number says that the "
        "others would do better alone, as may happen by chance. Times are seconds of the fit, and of a prediction for "
        "1,000 rows; the size is that of the models of all folds."
    )
    if n_unused:
        have = "has" if n_unused == 1 else "have"
        text += f" {n_unused} of {len(rows) - 1} members {have} weight 0 and no part in predictions."
    blocks: list[Block] = [
        Paragraph(text),
        TableBlock(columns, tuple(rows[:_MOST]), n_left_out=max(0, len(rows) - _MOST), interval=(1, 2, 3)),
    ]
    not_fitted = [
        f"{name} ({why})" for group in (model.skipped_, model.dropped_) for name, why in group.items()
    ]
    if not_fitted:
        blocks.append(Paragraph(f"Not fitted: {_in_short(not_fitted)}.", "note"))
    if getattr(model, "interrupted_", False):
        blocks.append(
            Paragraph("The fit was interrupted: these are the members that were complete.", "warning")
        )
    return tuple(blocks)


def _in_short(not_fitted: list[str]) -> str:
    more = len(not_fitted) - _MOST_REASONS
    return "; ".join(not_fitted[:_MOST_REASONS]) + (f"; and {more} more" if more > 0 else "")
