"""A tree as a picture: an SVG written by hand, without other packages."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from coterie.trees.grown_tree import GrownTree
from coterie.trees.layout import PlacedNode, place_nodes
from coterie.trees.words import TreeWords

# Hues that stay apart for most kinds of colour vision (after Okabe and Ito), then repeated.
_HUES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a6d00", "#7b5ea7"]
_LOW, _HIGH = "#f4f7fb", "#3b6ea8"
_LINE_HEIGHT, _CHAR_WIDTH, _PADDING = 16, 7.3, 10
_GAP_X, _GAP_Y = 16, 52
_STROKE, _PATH = 'stroke="#5b6570"', 'stroke="#111111" stroke-width="3"'
_MOST_CHARS = 42


@dataclass(frozen=True)
class TreeDrawing:
    """A drawn tree. Notebooks show it; `str` gives the SVG, `save` writes it.

    Examples
    --------
    >>> drawing = TreeDrawing("<svg xmlns='http://www.w3.org/2000/svg'/>")
    >>> str(drawing)[:4]
    '<svg'
    """

    svg: str

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"TreeDrawing(<svg of {len(self.svg):,} characters>)"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the drawing to an .svg file."""
        Path(path).write_text(self.svg, encoding="utf-8")


@dataclass(frozen=True)
class _Sheet:
    """The measures of one drawing, in pixels."""

    box_width: float
    box_height: float

    def left(self, box: PlacedNode) -> float:
        return _PADDING + box.x * (self.box_width + _GAP_X)

    def middle(self, box: PlacedNode) -> float:
        return self.left(box) + self.box_width / 2

    def top(self, box: PlacedNode) -> float:
        return _PADDING + box.level * (self.box_height + _GAP_Y)


def draw_tree(
    tree: GrownTree,
    words: TreeWords,
    *,
    max_depth: int | None = None,
    path: Collection[int] = (),
) -> TreeDrawing:
    """Draw a tree from the top down: yes to the left, no to the right; thick lines around the nodes of `path`."""
    boxes = place_nodes(tree, max_depth=max_depth)
    labels = [_lines(tree, words, box) for box in boxes]
    longest = max(len(line) for lines in labels for line in lines)
    sheet = _Sheet(longest * _CHAR_WIDTH + 2 * _PADDING, 3 * _LINE_HEIGHT + _PADDING)
    colours = _colours(tree, words, boxes)
    parts = [_edges(tree, words, sheet, boxes, box, path) for box in boxes if box.children]
    parts += [
        _box(tree, words, sheet, *drawn, on_path=drawn[0].node in path)
        for drawn in zip(boxes, labels, colours, strict=True)
    ]
    width = max(sheet.left(box) for box in boxes) + sheet.box_width + _PADDING
    height = max(sheet.top(box) for box in boxes) + sheet.box_height + _PADDING
    title = f"Decision tree with {tree.n_leaves} leaves"
    return TreeDrawing(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}" role="img" aria-label="{title}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="12"><title>{title}</title>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _lines(tree: GrownTree, words: TreeWords, box: PlacedNode) -> list[str]:
    """Three lines: the condition or the prediction, how many rows, how mixed they are."""
    is_leaf = not box.children
    head = words.prediction(tree, box.node) if is_leaf else words.split(tree, box.node)
    second = words.rows(tree, box.node) + ("" if is_leaf else f": {words.prediction(tree, box.node)}")
    third = words.impurity(tree, box.node) + (" …" if box.is_cut else "")
    return [_short(head), _short(second), _short(third)]


def _short(line: str) -> str:
    return line if len(line) <= _MOST_CHARS else line[: _MOST_CHARS - 1] + "…"


def _box(
    tree: GrownTree,
    words: TreeWords,
    sheet: _Sheet,
    box: PlacedNode,
    lines: list[str],
    colour: tuple[str, str],
    *,
    on_path: bool,
) -> str:
    fill, ink = colour
    x, y = sheet.left(box), sheet.top(box)
    full = words.prediction(tree, box.node) if not box.children else words.split(tree, box.node)
    round_corners = 4 if box.children else 14
    stroke = _PATH if on_path else _STROKE
    text = "".join(
        f'<text x="{sheet.middle(box):.1f}" y="{y + 18 + i * _LINE_HEIGHT:.1f}" text-anchor="middle" fill="{ink}" '
        f'font-weight="{weight}">{escape(line)}</text>'
        for i, (line, weight) in enumerate(zip(lines, ("bold", "normal", "normal"), strict=True))
    )
    return (
        f'<g><title>{escape(full)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{sheet.box_width:.1f}" '
        f'height="{sheet.box_height:.1f}" rx="{round_corners}" fill="{fill}" {stroke}/>{text}</g>'
    )


def _edges(
    tree: GrownTree,
    words: TreeWords,
    sheet: _Sheet,
    boxes: list[PlacedNode],
    box: PlacedNode,
    path: Collection[int],
) -> str:
    missing = words.missing_side(tree, box.node)
    x1, y1 = sheet.middle(box), sheet.top(box) + sheet.box_height
    parts = []
    for side, word, child in zip(("left", "right"), ("yes", "no"), box.children, strict=True):
        x2, y2 = sheet.middle(boxes[child]), sheet.top(boxes[child])
        bend = (y1 + y2) / 2
        dashes = ' stroke-dasharray="5 3"' if side == missing else ""
        stroke = _PATH if boxes[child].node in path else 'stroke="#8a949e"'
        label = word + (", missing" if side == missing else "")
        anchor, off = ("end", -6) if side == "left" else ("start", 6)
        parts.append(
            f'<path d="M{x1:.1f},{y1:.1f} C{x1:.1f},{bend:.1f} {x2:.1f},{bend:.1f} {x2:.1f},{y2:.1f}" '
            f'fill="none" {stroke}{dashes}/>'
            f'<text x="{x2 + off:.1f}" y="{y2 - 8:.1f}" text-anchor="{anchor}" font-size="11" '
            f'fill="#5b6570">{label}</text>'
        )
    return "".join(parts)


def _colours(tree: GrownTree, words: TreeWords, boxes: list[PlacedNode]) -> list[tuple[str, str]]:
    """Fill and ink of each box, from the first output."""
    values = tree.by_output(np.asarray(tree.native.value))[0][[box.node for box in boxes]]
    if words.classes is None:
        low, high = values.min(), values.max()
        strength = (values[:, 0] - low) / (high - low) if high > low else np.zeros(len(values))
        return [_shade(_LOW, _HIGH, float(s)) for s in strength]
    chance = 1.0 / values.shape[1]
    best = values.argmax(axis=1)
    purity = (values.max(axis=1) - chance) / (1.0 - chance) if chance < 1 else np.ones(len(values))
    return [
        _shade("#ffffff", _HUES[k % len(_HUES)], 0.12 + 0.6 * max(0.0, float(p)))
        for k, p in zip(best, purity, strict=True)
    ]


def _shade(light: str, dark: str, strength: float) -> tuple[str, str]:
    """A colour between two, and an ink that can be read on it."""
    low, high = (np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) for colour in (light, dark))
    mixed = low + strength * (high - low)
    luminance = float(mixed @ [0.299, 0.587, 0.114])
    red, green, blue = (round(float(part)) for part in mixed)
    return f"#{red:02x}{green:02x}{blue:02x}", "#1d2329" if luminance > 140 else "#ffffff"
