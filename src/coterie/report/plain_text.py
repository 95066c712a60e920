"""A report as text for a terminal, and as Markdown. Charts become a line that says that they are in the other forms."""

from textwrap import fill
from typing import Any

from coterie.report.content import Block, Code, Drawings, Facts, Figure, Matrix, Sheet, Thresholds, Words

__all__ = ["markdown_of", "text_of"]

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
            fill(f"{own.title}: {own.why_not}", _WIDTH, subsequent_indent="  ") for own in report.left_out
        ]
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _text(block: Block) -> list[str]:
    if isinstance(block, Words):
        mark = "! " if block.tone == "warning" else ""
        return [fill(_one_line(mark + block.text), _WIDTH), ""]
    if isinstance(block, Facts):
        width = max(len(own.label) for own in block.facts)
        return [
            *(
                f"  {own.label:<{width}}  {own.value}" + (f"  ({own.note})" if own.note else "")
                for own in block.facts
            ),
            "",
        ]
    if isinstance(block, Sheet):
        return [*_table(block, block.left_out), ""]
    if isinstance(block, Matrix):
        return [*_table(_counted(block, "true \\ said"), 0), ""]
    if isinstance(block, Figure | Drawings | Thresholds):
        return []
    assert isinstance(block, Code)
    return [*(f"    {line}" for line in block.text.split("\n")), ""]


def _counted(block: Matrix, corner: str) -> Sheet:
    rows = [(label, *row) for label, row in zip(block.labels, block.counts.tolist(), strict=True)]
    return Sheet((corner, *block.labels), tuple(rows))


def _table(sheet: Sheet, left_out: int) -> list[str]:
    columns = range(len(sheet.columns))
    numbers = [all(not isinstance(row[place], str) for row in sheet.rows) for place in columns]
    cells = [[_cell(name) for name in sheet.columns], *_said(sheet)]
    widths = [max(len(row[place]) for row in cells) for place in columns]
    lines = [
        "  "
        + "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        )
        for row in cells
    ]
    hidden = left_out + max(0, len(sheet.rows) - _MOST_ROWS)
    return lines + ([f"  … and {hidden:,} more"] if hidden else [])


def _said(sheet: Sheet) -> list[list[str]]:
    return [[_cell(cell) for cell in row] for row in sheet.in_words()[:_MOST_ROWS]]


def _cell(text: str) -> str:
    text = _one_line(text)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def markdown_of(report: Any) -> str:
    lines = [f"# {_safe(report.title)}", ""]
    for section in report.shown:
        lines += [f"## {section.title}", ""]
        for block in section.blocks:
            lines += _markdown(block)
    if report.left_out:
        lines += ["## Not in this report", ""]
        lines += [f"- {own.title}: {_safe(own.why_not)}" for own in report.left_out]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(block: Block) -> list[str]:
    if isinstance(block, Words):
        text = _safe(block.text)
        return [f"**{text}**" if block.tone == "warning" else text, ""]
    if isinstance(block, Facts):
        notes = [f" ({_safe(own.note)})" if own.note else "" for own in block.facts]
        facts = zip(block.facts, notes, strict=True)
        return [*(f"- {_safe(own.label)}: **{_safe(own.value)}**{note}" for own, note in facts), ""]
    if isinstance(block, Sheet):
        hidden = block.left_out + max(0, len(block.rows) - _MOST_ROWS)
        more = [f"… and {hidden:,} more", ""] if hidden else []
        return [*_piped(block), "", *more]
    if isinstance(block, Matrix):
        return [*_piped(_counted(block, "true / said")), ""]
    if isinstance(block, Code):
        return ["```python", block.text.replace("```", "` ` `"), "```", ""]
    return []


def _piped(sheet: Sheet) -> list[str]:
    head = "| " + " | ".join(_safe(name.strip()) for name in sheet.columns) + " |"
    line = "|" + "|".join("---" for _ in sheet.columns) + "|"
    return [head, line, *("| " + " | ".join(map(_safe, row)) + " |" for row in _said(sheet))]


def _safe(text: str) -> str:
    """Nothing in a name is markup."""
    text = _one_line(text).replace("\\", "\\\\")
    for sign in "|*_`[]#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
