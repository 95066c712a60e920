"""Numbers as text: few digits, thousands separated, in the same format within a column."""

import math
from collections.abc import Sequence
from typing import TypeAlias

Cell: TypeAlias = str | float | int | None


def format_number(value: float) -> str:
    """A number with three or four significant digits.

    Examples
    --------
    >>> [format_number(value) for value in (0.123456, 0.0012345, 1234567.0, 12.0, -0.00001234, float("nan"))]
    ['0.1235', '0.00123', '1,234,567', '12', '-1.23e-05', '–']
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    size = abs(value)
    if size < 1e-4 or size >= 1e12:
        return f"{value:.2e}"
    if size >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.{_decimals(size)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimals(size: float) -> int:
    """Digits after the point for numbers of about this size."""
    if size >= 1:
        return max(0, 3 - math.floor(math.log10(size)))
    return 4 if size >= 0.01 else 2 - math.floor(math.log10(size))


def percent(share: float) -> str:
    """A share as a percentage.

    Examples
    --------
    >>> percent(0.8734), percent(0.00042), percent(1.0)
    ('87.3 %', '0.04 %', '100 %')
    """
    if not math.isfinite(share):
        return "–"
    digits = 2 if 0 < abs(share) < 0.005 else 1
    text = f"{100 * share:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def format_interval(low: float, high: float) -> str:
    """An interval as text.

    Examples
    --------
    >>> format_interval(0.81, 0.87)
    '0.81 to 0.87'
    """
    return f"{format_number(low)} to {format_number(high)}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """A number and what is counted.

    Examples
    --------
    >>> plural(1, "row"), plural(1200, "row"), plural(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def format_column(cells: Sequence[Cell]) -> list[str]:
    """The cells of a column as text; all numbers have as many decimals as the largest of them needs.

    Examples
    --------
    >>> format_column([0.97, 0.5, None, 0.00012]), format_column([12.5, 300.0]), format_column(["a", 3])
    (['0.9700', '0.5000', '', '0.0001'], ['12.5', '300.0'], ['a', '3'])
    >>> format_column([120.0, -0.01])
    ['120.0', '0.0']
    """
    sizes = [abs(cell) for cell in cells if isinstance(cell, float) and math.isfinite(cell)]
    largest = max(sizes, default=0.0)
    whole = all(size == round(size) for size in sizes)
    decimals = 0 if whole else _decimals(largest)
    plain = 1e-4 <= largest < 1e12
    return [
        _without_minus_zero(f"{cell:,.{decimals}f}")
        if isinstance(cell, float) and math.isfinite(cell) and plain
        else _cell(cell)
        for cell in cells
    ]


def _without_minus_zero(text: str) -> str:
    """A small negative number is rounded to 0, which has no sign."""
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool | str):
        return str(cell)
    return f"{cell:,}" if isinstance(cell, int) else format_number(cell)
