"""A tree as indented text."""

from coterie.trees.grown_tree import GrownTree
from coterie.trees.words import TreeWords


def write_tree(tree: GrownTree, words: TreeWords, *, max_depth: int | None = None) -> str:
    """One line per node; under a split, first the rows for which its condition holds, then the others."""
    lines = []
    stack = [(0, 0)]
    while stack:
        node, depth = stack.pop()
        indent = "  " * depth
        if tree.native.feature[node] < 0:
            lines.append(f"{indent}leaf {words.prediction(tree, node)} ({words.rows(tree, node)})")
        elif max_depth is not None and depth >= max_depth:
            n_leaves = _leaves_below(tree, node)
            lines.append(f"{indent}... {n_leaves} leaves ({words.rows(tree, node)})")
        else:
            lines.append(indent + words.split(tree, node))
            left = int(tree.native.left[node])
            stack += [(left + 1, depth + 1), (left, depth + 1)]
    return "\n".join(lines) + "\n"


def _leaves_below(tree: GrownTree, node: int) -> int:
    level, n_leaves = [node], 0
    while level:
        splits = [below for below in level if tree.native.feature[below] >= 0]
        n_leaves += len(level) - len(splits)
        level = [int(tree.native.left[split]) + side for split in splits for side in (0, 1)]
    return n_leaves
