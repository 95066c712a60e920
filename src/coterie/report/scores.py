"""Metrics with their intervals, on the rows of the report and, where they are known, out of fold or out of bag."""

from coterie.report.content import Cell, Paragraph, Section, TableBlock
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
