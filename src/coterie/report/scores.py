"""Scores with their intervals, on the rows of the report and, where they are known, out of fold or out of bag."""

from coterie.report.content import Cell, Section, Sheet, Words
from coterie.report.honest import Honesty
from coterie.report.measures import Measured

__all__ = ["scores"]


def scores(honesty: Honesty, on_rows: list[Measured], kept: list[Measured]) -> Section:
    columns: tuple[str, ...] = ("score", "better", "on these rows", "from", "to")
    if kept:
        columns = (*columns, honesty.source, "from ", "to ")
    rows = []
    for place, own in enumerate(on_rows):
        row: tuple[Cell, ...] = (
            own.label,
            "more" if own.more_is_better else "less",
            own.value,
            own.low,
            own.high,
        )
        if kept:
            row = (*row, kept[place].value, kept[place].low, kept[place].high)
        rows.append(row)
    caption = "Intervals hold the score 95 % of the time if rows are drawn anew (200 bootstraps of rows)."
    seen = {
        True: "fit saw these rows",
        False: "fit did not see these rows",
        None: "not known whether fit saw these rows",
    }
    note = f"On these rows: {seen[honesty.seen]}."
    if kept and honesty.answers is not None:
        note += (
            f" {honesty.source.capitalize()}: {len(honesty.answers.truth):,} rows of fit, each answered by parts "
            "of the model that had not seen it."
        )
    return Section("scores", "Scores", (Words(note), Sheet(columns, tuple(rows), caption, by_row=True)))
