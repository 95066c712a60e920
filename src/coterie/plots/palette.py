"""Colours that stay apart for most kinds of colour vision (Okabe and Ito), and dashes for print without colour."""

__all__ = ["AXIS", "GRID", "INK", "PAPER", "colour_of", "dashes_of"]

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_DASHES: tuple[tuple[int, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3))

INK = "#1d2329"
AXIS = "#5b6570"
GRID = "#e3e7eb"
PAPER = "#ffffff"


def colour_of(place: int) -> str:
    """The colour of a line, by its place among the lines; after seven they begin anew.

    Examples
    --------
    >>> colour_of(0), colour_of(0) == colour_of(7)
    ('#0072b2', True)
    """
    return _COLOURS[place % len(_COLOURS)]


def dashes_of(place: int) -> tuple[int, ...]:
    """Lengths of dashes and gaps of a line, by its place; none for a line without gaps.

    Examples
    --------
    >>> dashes_of(0), dashes_of(1)
    ((), (6, 3))
    """
    return _DASHES[place % len(_DASHES)]
