"""The leaderboard: a committee and all its members; of another model, the model alone."""

from typing import Any

from coterie.report.content import Block, Cell, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel
from coterie.report.metrics import ScoreEstimate

_MOST = 50


def leaderboard_section(evaluated: EvaluatedModel, where: str, headline: ScoreEstimate) -> Section:
    if hasattr(evaluated.model, "leaderboard"):
        return Section("leaderboard", "Leaderboard", _of_committee(evaluated.model))
    columns = ("model", "score", "CI low", "CI high")
    row: tuple[Cell, ...] = (evaluated.name, headline.value, headline.low, headline.high)
    note = Paragraph(f"The score is {headline.label}, {where}, with its 95 % confidence interval (CI).")
    return Section("leaderboard", "Leaderboard", (note, TableBlock(columns, (row,), interval=(1, 2, 3))))


def _of_committee(model: Any) -> tuple[Block, ...]:
    listing = model.leaderboard()
    columns = (
        "model",
        "score",
        "CI low",
        "CI high",
        "weight",
        "contribution",
        "fit (s)",
        "predict (s per 1,000)",
    )
    keys = ("name", "score", "low", "high", "weight", "contribution", "fit_time", "predict_time")
    rows = [tuple(row[key] for key in keys) for row in listing]
    n_unused = sum(1 for row in rows if row[4] == 0)
    text = (
        f"The score is {model.scoring_}, out of fold, with its 95 % confidence interval (CI); greater is better. "
        "Weights are chosen by greedy ensemble selection: members with weight 0 did not improve the committee. "
        "The contribution of a member is how much the score falls without it."
    )
    blocks: list[Block] = [
        Paragraph(text),
        TableBlock(columns, tuple(rows[:_MOST]), n_left_out=max(0, len(rows) - _MOST), interval=(1, 2, 3)),
    ]
    if n_unused:
        blocks.append(
            Paragraph(f"Members with weight 0, which predict does not use: {n_unused} of {len(rows) - 1}.")
        )
    not_fitted = [
        f"{name} ({why})" for group in (model.skipped_, model.dropped_) for name, why in group.items()
    ]
    if not_fitted:
        blocks.append(Paragraph(f"Not fitted: {'; '.join(not_fitted[:20])}.", "note"))
    if getattr(model, "interrupted_", False):
        blocks.append(
            Paragraph("The fit was interrupted: these are the members that were complete.", "warning")
        )
    return tuple(blocks)
