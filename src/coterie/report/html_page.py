"""A report as one page: style, scripts, charts and text in one file that loads nothing."""

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

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
from coterie.report.specification import CONFIG, specification

_SCRIPTS = ("vega.min.js", "vega-interpreter.min.js", "vega-lite.min.js")
_LEAST_SCALE = 0.65  # of a drawing; its letters are 12 px high
_KINDS = {
    Paragraph: "paragraph",
    Facts: "facts",
    TableBlock: "table",
    Figure: "figure",
    ConfusionMatrix: "confusion_matrix",
    ThresholdCounts: "thresholds",
    Drawings: "drawings",
    Code: "code",
}


@cache
def vendored(file: str) -> str:
    """A script that is kept beside this module, as it was published."""
    return (files("coterie.report") / "vendor" / file).read_text(encoding="utf-8")


def html_of(report: Any) -> str:
    """The page. The same report gives the same bytes."""
    charts: list[dict[str, Any]] = []
    sections = [_section(section, charts) for section in report.shown]
    scripts = [_embedded(vendored(name)) for name in _SCRIPTS]
    own = _environment().get_template("report.js").render()
    allowed = " ".join(_hash_of(script) for script in [*scripts, own])
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            sections=sections,
            policy=(
                f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
                "connect-src 'none'; base-uri 'none'; form-action 'none'"
            ),
            scripts=[Markup(script) for script in [*scripts, own]],
            style=Markup(_environment().get_template("report.css").render()),
            data=Markup(_as_data({"config": CONFIG, "charts": charts})),
        )
    )


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("coterie.report"),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    found.filters["tied"] = _tied
    return found


def _tied(text: str) -> str:
    """A number and its sign stay on one line."""
    return re.sub(r"(?<=\d) (?=%)", "\u00a0", text)


def _embedded(script: str) -> str:
    """Without the address of a source map, which browsers may request, and with nothing that ends a script."""
    script = re.sub(r"\n//# sourceMappingURL=\S+\s*$", "", script)
    return re.sub(r"</(script)", r"<\\/\1", script, flags=re.IGNORECASE)


def _hash_of(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _as_data(value: Any) -> str:
    """JSON inside of a page: nothing in it can end the element or begin a comment."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _section(section: Section, charts: list[dict[str, Any]]) -> dict[str, Any]:
    """Blocks with what the template needs; charts that follow each other stand side by side."""
    groups: list[dict[str, Any]] = []
    for kind, blocks in groupby(section.blocks, key=lambda block: _KINDS[type(block)]):
        together = list(blocks)
        parts = [together] if kind == "figure" else [[block] for block in together]
        groups += [{"kind": kind, "blocks": [_block(block, charts) for block in part]} for part in parts]
    return {"key": section.key, "title": section.title, "groups": groups}


def _block(block: Block, charts: list[dict[str, Any]]) -> dict[str, Any]:
    if isinstance(block, Figure):
        charts.append(specification(block.chart))
        description = ". ".join(text.rstrip(".") for text in (block.chart.title, block.caption) if text)
        return {
            "number": len(charts) - 1,
            "title": block.chart.title,
            "caption": block.caption,
            "description": description,
        }
    if isinstance(block, TableBlock):
        return {"table": block, "rows": block.formatted(), **_drawn_intervals(block), **_alignment(block)}
    if isinstance(block, ConfusionMatrix):
        total = block.counts.sum(axis=1, keepdims=True).clip(min=1)
        return {
            "matrix": block,
            "shares": (block.counts / total).round(3).tolist(),
            "counts": block.counts.tolist(),
        }
    if isinstance(block, ThresholdCounts):
        data = _as_data({name: value for name, value in vars(block).items() if name != "positive_class"})
        return {"positive_class": block.positive_class, "data": Markup(data)}
    if isinstance(block, Drawings):
        svgs = [Markup(_without_size(svg)) for svg in block.svgs]
        return {"drawings": list(zip(block.titles, svgs, strict=True))}
    return {"block": block}


def _without_size(svg: str) -> str:
    """A drawing as wide as the page, but never so small that it cannot be read, nor larger than it is."""

    def styled(found: re.Match[str]) -> str:
        width = int(found[2])
        return f'<svg {found[1]}style="max-width:{width}px;min-width:{round(_LEAST_SCALE * width)}px"'

    return re.sub(r'<svg ([^>]*?)width="(\d+)" height="\d+"', styled, svg, count=1)


def _alignment(table: TableBlock) -> dict[str, Any]:
    def is_number(place: int) -> bool:
        cells = [row[place] for row in table.rows]
        texts = [cell for cell in cells if isinstance(cell, str)]
        return all(text.endswith(" %") for text in texts) and any(cell is not None for cell in cells)

    return {"numbers": [place > 0 and is_number(place) for place in range(len(table.columns))]}


def _drawn_intervals(table: TableBlock) -> dict[str, Any]:
    """For each row where its interval begins, how wide it is and where its value lies, in shares of the widest."""
    if table.interval is None:
        return {"ranges": None}
    numbers = [[float(row[place]) for place in table.interval] for row in table.rows]  # type: ignore[arg-type]
    ends = [end for own in numbers for end in own if end == end]
    low, high = min(ends), max(ends)
    size = (high - low) or 1.0
    ranges = []
    for value, left, right in numbers:
        if left != left or right != right:
            left = right = value
        ranges.append(
            [
                round(100 * share, 2)
                for share in ((left - low) / size, (right - left) / size, (value - low) / size)
            ]
        )
    return {"ranges": ranges}
