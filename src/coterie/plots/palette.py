"""Colours that stay apart for most kinds of colour vision (Okabe and Ito), and dashes for print without colour."""

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_DASHES: tuple[tuple[int, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3))

INK = "#1d2329"
AXIS = "#5b6570"
GRID = "#e3e7eb"
PAPER = "#ffffff"
FAINT = "#9aa5b1"
DENSITY = "#d5dbe1"

_RAMP = ((0x00, 0x72, 0xB2), (0xA0, 0x6A, 0xA0), (0xD5, 0x5E, 0x00))
_MORE, _LESS = (0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00)  # blue and vermilion of the colours above


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


_SHAPES = ("circle", "square", "triangle", "diamond", "cross")


def shape_of(place: int) -> str:
    """The shape of a point with an outline, by its place in the legend.

    Examples
    --------
    >>> shape_of(0), shape_of(1)
    ('circle', 'square')
    """
    return _SHAPES[place % len(_SHAPES)]


def shade_of(value: float, low: float, high: float) -> str:
    """The colour of a number: white to blue, or vermilion through white at zero to blue where numbers have two signs.

    Examples
    --------
    >>> shade_of(0.0, -1, 1), shade_of(1.0, 0, 1), shade_of(-1.0, -1, 1)
    ('#ffffff', '#0072b2', '#d55e00')
    """
    if low < 0:
        share, end = value / max(-low, high), _MORE if value >= 0 else _LESS
    else:
        share, end = (value - low) / (high - low), _MORE
    share = min(1.0, abs(share))
    return "#" + "".join(f"{round(255 + share * (part - 255)):02x}" for part in end)


def shades(low: float, high: float) -> list[str]:
    """The colours from the lowest number to the highest, in a few steps."""
    return [shade_of(low + (high - low) * step / 16, low, high) for step in range(17)]


def ramp_of(share: float) -> str:
    """The colour of a share from 0 to 1: blue through violet to orange; grey for NaN.

    Examples
    --------
    >>> ramp_of(0.0), ramp_of(1.0), ramp_of(float("nan"))
    ('#0072b2', '#d55e00', '#9aa5b1')
    """
    if share != share:
        return FAINT
    place = min(1.0, max(0.0, share)) * (len(_RAMP) - 1)
    first = min(int(place), len(_RAMP) - 2)
    ends = zip(_RAMP[first], _RAMP[first + 1], strict=True)
    return "#" + "".join(f"{round(low + (place - first) * (high - low)):02x}" for low, high in ends)


def ramp() -> list[str]:
    """The colours of shares in a few steps, from 0 to 1."""
    return [ramp_of(step / 16) for step in range(17)]


def text_colour_on(value: float, low: float, high: float) -> str:
    """A text colour that can be read on the colour of a number: white on the dark ones."""
    size = abs(value) / max(-low, high) if low < 0 else (value - low) / (high - low)
    return PAPER if size > 0.6 else INK
