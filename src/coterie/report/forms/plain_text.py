"""A report as text for a terminal, as Markdown, and as plain Python values and JSON for programs.

Of a chart, text and Markdown hold its title and caption.
"""

import json
import math
import re
from textwrap import fill
from typing import Any

import numpy as np

from coterie.plots.chart import Chart
from coterie.report.content import (
    Block,
    Code,
    ConfusionMatrix,
    Drawings,
    Facts,
    Figure,
    Paragraph,
    Section,
    TableBlock,
    ThresholdCounts,
)
from coterie.report.scores.metrics import ScoreEstimate

_WIDTH = 100
_MOST_ROWS = 20
_WIDEST = 40


def text_of(report: Any) -> str:
    lines = [report.title, "=" * min(_WIDTH, len(report.title)), ""]
    for section in report.shown:
        lines += [section.title, "-" * len(section.title), ""]
        for block in section.blocks:
            lines += _text(block)
    if report.left_out:
        lines += ["Not in this report", "------------------", ""]
        lines += [
            fill(f"{own.title}: {own.reason}", _WIDTH, subsequent_indent="  ") for own in report.left_out
        ]
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _text(block: Block) -> list[str]:
    if isinstance(block, Paragraph):
        mark = "! " if block.tone == "warning" else ""
        return [_wrapped(mark + block.text), ""]
    if isinstance(block, Facts):
        width = max(len(own.label) for own in block.facts)
        return [
            *(
                f"  {own.label:<{width}}  {own.value}" + (f"  ({own.note})" if own.note else "")
                for own in block.facts
            ),
            "",
        ]
    if isinstance(block, TableBlock):
        return [
            *_table(block, block.n_left_out),
            "",
            *([_wrapped(block.caption), ""] if block.caption else []),
        ]
    if isinstance(block, ConfusionMatrix):
        return [*_table(_as_table(block, "true \\ predicted"), 0), ""]
    if isinstance(block, Figure):
        return [_wrapped(f"[{_chart_line(block)}]"), ""]
    if isinstance(block, Drawings | ThresholdCounts):
        return []
    assert isinstance(block, Code)
    return [*(f"    {line}" for line in block.text.split("\n")), ""]


def _chart_line(figure: Figure) -> str:
    return f"Chart: {figure.chart.title}." + (f" {figure.caption}" if figure.caption else "")


def _as_table(block: ConfusionMatrix, corner: str) -> TableBlock:
    rows = [(label, *row) for label, row in zip(block.labels, block.counts.tolist(), strict=True)]
    return TableBlock((corner, *block.labels), tuple(rows))


def _table(table: TableBlock, n_left_out: int) -> list[str]:
    columns = range(len(table.columns))
    numbers = [all(not isinstance(row[place], str) for row in table.rows) for place in columns]
    cells = [[_cell(name) for name in table.columns], *_formatted(table)]
    widths = [max(len(row[place]) for row in cells) for place in columns]
    lines = [
        "  "
        + "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        )
        for row in cells
    ]
    hidden = n_left_out + max(0, len(table.rows) - _MOST_ROWS)
    return lines + ([f"  … and {hidden:,} more"] if hidden else [])


def _formatted(table: TableBlock) -> list[list[str]]:
    return [[_cell(cell) for cell in row] for row in table.formatted()[:_MOST_ROWS]]


def _cell(text: str) -> str:
    text = _one_line(text)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _wrapped(text: str) -> str:
    """Lines of a paragraph; a number and its per cent sign stay together."""
    tied = re.sub(r"(?<=\d) (?=%)", "\u00a0", _one_line(text))
    return fill(tied, _WIDTH).replace("\u00a0", " ")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def markdown_of(report: Any) -> str:
    lines = [f"# {escaped(report.title)}", ""]
    for section in report.shown:
        lines += [f"## {section.title}", ""]
        for block in section.blocks:
            lines += _markdown(block)
    if report.left_out:
        lines += ["## Not in this report", ""]
        lines += [f"- {own.title}: {escaped(own.reason)}" for own in report.left_out]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(block: Block) -> list[str]:
    if isinstance(block, Paragraph):
        text = escaped(block.text)
        return [f"**{text}**" if block.tone == "warning" else text, ""]
    if isinstance(block, Facts):
        notes = [f" ({escaped(own.note)})" if own.note else "" for own in block.facts]
        facts = zip(block.facts, notes, strict=True)
        return [*(f"- {escaped(own.label)}: **{escaped(own.value)}**{note}" for own, note in facts), ""]
    if isinstance(block, TableBlock):
        hidden = block.n_left_out + max(0, len(block.rows) - _MOST_ROWS)
        more = [f"… and {hidden:,} more", ""] if hidden else []
        return [*_piped(block), "", *more, *([escaped(block.caption), ""] if block.caption else [])]
    if isinstance(block, Figure):
        return [f"*{escaped(_chart_line(block))}*", ""]
    if isinstance(block, ConfusionMatrix):
        return [*_piped(_as_table(block, "true / predicted")), ""]
    if isinstance(block, Code):
        return [f"```{block.language}", block.text.replace("```", "` ` `"), "```", ""]
    return []


def _piped(table: TableBlock) -> list[str]:
    head = "| " + " | ".join(escaped(name.strip()) for name in table.columns) + " |"
    line = "|" + "|".join("---" for _ in table.columns) + "|"
    return [head, line, *("| " + " | ".join(map(escaped, row)) + " |" for row in _formatted(table))]


def escaped(text: str) -> str:
    """Nothing in a name is markup."""
    text = _one_line(text).replace("\\", "\\\\")
    for sign in "|*_`[]#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


FORMAT = 2


def dict_of(report: Any) -> dict[str, Any]:
    """Dicts, lists, text, numbers, booleans and None; what is no number is None."""
    return {
        "format": FORMAT,
        "title": report.title,
        "model": report.model,
        "task": report.task,
        "seen": report.seen,
        "out_of_sample_source": report.out_of_sample_source or None,
        "scores": {own.key: _score(own) for own in report.scores},
        "out_of_sample_scores": {own.key: _score(own) for own in report.out_of_sample_scores},
        "sections": [_section(section) for section in report.shown],
        "left_out": [
            {"key": section.key, "title": section.title, "reason": section.reason}
            for section in report.left_out
        ],
    }


def json_of(report: Any) -> str:
    return json.dumps(dict_of(report), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _score(own: ScoreEstimate) -> dict[str, Any]:
    return {
        "label": own.label,
        "value": _number(own.value),
        "low": _number(own.low),
        "high": _number(own.high),
        "greater_is_better": own.greater_is_better,
    }


def _section(section: Section) -> dict[str, Any]:
    return {"key": section.key, "title": section.title, "blocks": [_block(block) for block in section.blocks]}


def _block(block: Block) -> dict[str, Any]:
    if isinstance(block, Paragraph):
        return {"kind": "paragraph", "tone": block.tone, "text": block.text}
    if isinstance(block, Facts):
        facts = [{"label": own.label, "value": own.value, "note": own.note} for own in block.facts]
        return {"kind": "facts", "facts": facts}
    if isinstance(block, TableBlock):
        rows = [[_number(cell) for cell in row] for row in block.rows]
        columns = [name.strip() for name in block.columns]
        return {
            "kind": "table",
            "columns": columns,
            "rows": rows,
            "caption": block.caption,
            "n_left_out": block.n_left_out,
        }
    if isinstance(block, Figure):
        return {"kind": "chart", "caption": block.caption, **_chart(block.chart)}
    if isinstance(block, ConfusionMatrix):
        labels = list(block.labels)
        return {
            "kind": "confusion_matrix",
            "labels": labels,
            "counts": block.counts.tolist(),
            "caption": block.caption,
        }
    if isinstance(block, ThresholdCounts):
        return {"kind": "thresholds", **{name: _listed(value) for name, value in vars(block).items()}}
    if isinstance(block, Drawings):
        return {"kind": "drawings", "titles": list(block.titles)}
    assert isinstance(block, Code)
    return {"kind": "code", "language": block.language, "text": block.text}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _chart(chart: Chart) -> dict[str, Any]:
    found: dict[str, Any] = {"title": chart.title, "x": chart.x.label, "y": chart.y.label}
    if chart.y.names:
        found["names"] = list(chart.y.names)
    elif chart.x.names:
        found["names"] = list(chart.x.names)
    if chart.lines:
        found["lines"] = [_series(line) for line in chart.lines if not line.faint]
    if chart.points:
        found["points"] = [_series(points) for points in chart.points]
    if chart.bars:
        found["bars"] = [
            {
                "length": _numbers(bars.length),
                "spread": None if bars.spread is None else _numbers(bars.spread),
            }
            for bars in chart.bars
        ]
    if chart.heatmap is not None:
        found["heatmap"] = [_numbers(row) for row in chart.heatmap.values]
    return found


def _series(own: Any) -> dict[str, Any]:
    found = {"label": own.label, "x": _numbers(own.x), "y": _numbers(own.y)}
    if own.low is not None and own.high is not None:
        found |= {"low": _numbers(own.low), "high": _numbers(own.high)}
    return found


def _numbers(values: Any) -> list[Any]:
    return [_number(float(f"{value:.6g}")) for value in np.asarray(values, dtype=np.float64).tolist()]


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
