"""Where the boxes of a drawn tree go: as narrow as they can be, parents over the middle of their children.

Each branch is laid out on its own and remembers its outline: the leftmost and rightmost position on each
level below it. Two branches are moved together until their outlines touch (Reingold and Tilford, 1981).
"""

from dataclasses import dataclass

from coterie.trees.grown_tree import GrownTree


@dataclass
class PlacedNode:
    """A box: its node, its place (in box widths, from the left) and level, and its children among the boxes."""

    node: int
    x: float
    level: int
    is_cut: bool  # a split whose children are not drawn
    children: tuple[int, ...] = ()


@dataclass
class _Branch:
    left: list[float]  # outline on each level, relative to the branch's top
    right: list[float]
    shift: tuple[float, float] = (0.0, 0.0)  # of the two children, relative to the top


def place_nodes(tree: GrownTree, *, max_depth: int | None = None) -> list[PlacedNode]:
    """Boxes from the root down; a parent comes before its children."""
    boxes = _boxes(tree, max_depth)
    branches: list[_Branch] = [_Branch([0.0], [0.0]) for _ in boxes]
    for index in reversed(range(len(boxes))):
        if boxes[index].children:
            left, right = (branches[child] for child in boxes[index].children)
            branches[index] = _joined(left, right)
    for index, box in enumerate(boxes):
        for child, shift in zip(box.children, branches[index].shift, strict=False):
            boxes[child].x = box.x + shift
    leftmost = min(box.x for box in boxes)
    for box in boxes:
        box.x -= leftmost
    return boxes


def _boxes(tree: GrownTree, max_depth: int | None) -> list[PlacedNode]:
    boxes = [PlacedNode(0, 0.0, 0, is_cut=False)]
    for box in boxes:  # grows while it is read: level by level
        if tree.native.feature[box.node] < 0:
            continue
        if max_depth is not None and box.level >= max_depth:
            box.is_cut = True
            continue
        first = int(tree.native.left[box.node])
        box.children = (len(boxes), len(boxes) + 1)
        boxes += [PlacedNode(first + side, 0.0, box.level + 1, is_cut=False) for side in (0, 1)]
    return boxes


def _joined(left: _Branch, right: _Branch) -> _Branch:
    shared = min(len(left.left), len(right.left))
    apart = max(left.right[level] - right.left[level] for level in range(shared)) + 1.0
    half = apart / 2
    outline_left = [0.0] + [x - half for x in left.left] + [x + half for x in right.left[len(left.left) :]]
    outline_right = (
        [0.0] + [x + half for x in right.right] + [x - half for x in left.right[len(right.right) :]]
    )
    return _Branch(outline_left, outline_right, (-half, half))
