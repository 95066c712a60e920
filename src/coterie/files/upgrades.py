"""Files of earlier formats: one small function for each, which turns the nodes of one format into those of the next.

When the meaning of a node changes, `FORMAT` goes up by one, the function is added here under the old number, and a file
of the old format stays in `tests/files/golden` for good. A new attribute, class or parameter changes nothing.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["FORMAT", "UPGRADES", "upgraded"]

FORMAT = 3


def _from_1(nodes: Any) -> Any:
    """Format 2 has coded arrays, and trees as streams of numbers; plain ones mean what they meant."""
    return nodes


def _from_2(nodes: Any) -> Any:
    """Format 3 has other hashes (`container.py`); nodes mean what they meant."""
    return nodes


UPGRADES: dict[int, Callable[[Any], Any]] = {1: _from_1, 2: _from_2}


def upgraded(nodes: Any, written: int) -> Any:
    """The nodes as the newest format has them."""
    for number in range(written, FORMAT):
        nodes = UPGRADES[number](nodes)
    return nodes
