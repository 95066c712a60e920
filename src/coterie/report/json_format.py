"""A report as plain Python values, and as JSON: the same numbers for programs."""

import json
import math
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
from coterie.report.metrics import ScoreEstimate

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
    return {"kind": "code", "text": block.text}


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
