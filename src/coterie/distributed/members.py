"""Which rows each member has: slices of about the same length, made of whole and cut partitions."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Piece:
    """Rows [begin, end) of one partition."""

    partition: int
    begin: int
    end: int


@dataclass(frozen=True)
class MemberRows:
    """The rows of one member, and its rows of the eval set."""

    first_row: int
    n_rows: int
    pieces: tuple[Piece, ...]
    eval_rows: slice


def divide(lengths: list[int], n_members: int, n_eval: int = 0) -> list[MemberRows]:
    """Slices that differ by one row at most; members that would have none are left out.

    Examples
    --------
    >>> [(own.first_row, own.n_rows, len(own.pieces)) for own in divide([5, 0, 4], 2)]
    [(0, 4, 1), (4, 5, 2)]
    """
    total = sum(lengths)
    n_members = max(1, min(n_members, total))
    edges = [total * place // n_members for place in range(n_members + 1)]
    eval_edges = [n_eval * place // n_members for place in range(n_members + 1)]
    starts = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    found = []
    for place in range(n_members):
        first, last = edges[place], edges[place + 1]
        pieces = tuple(
            Piece(number, max(first, start) - start, min(last, start + length) - start)
            for number, (start, length) in enumerate(zip(starts, lengths, strict=False))
            if length and start < last and start + length > first
        )
        found.append(MemberRows(first, last - first, pieces, slice(eval_edges[place], eval_edges[place + 1])))
    return found
