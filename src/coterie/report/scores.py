"""Metrics with their intervals, on the rows of the report and, where they are known, out of fold or out of bag; and the
leaderboard: a committee and all its members, of another model the model alone.
"""

from typing import Any

from coterie.report.content import Block, Cell, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel
from coterie.report.metrics import ScoreEstimate
from coterie.report.provenance import Provenance


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
