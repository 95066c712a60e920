"""Small tables of results: rows that are dicts, and ways to look at them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, overload

from coterie._optional import need


class Listing(Sequence[dict[str, Any]]):
    """Rows with the same keys, in order.

    Parameters
    ----------
    rows : list of dict
    notes : list of str, sentences below the table
        Default (): nothing to add.
    headings : what is above a column, by its key; None is the key itself
        Default None: keys that are words of the field need no heading.
    n_apart : how many rows at the top are set apart by a line
        Default 0: all rows are of one kind.

    Examples
    --------
    >>> listing = Listing([{"name": "forest", "score": 0.91234}, {"name": "linear", "score": 0.9}])
    >>> listing
    name      score
    forest  0.91234
    linear      0.9
    >>> listing[0]["name"], listing.columns
    ('forest', ['name', 'score'])
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]],
        notes: Sequence[str] = (),
        *,
        headings: Mapping[str, str] | None = None,
        n_apart: int = 0,
    ) -> None:
        self._rows = [dict(row) for row in rows]
        self.notes = list(notes)
        self._headings, self._n_apart = dict(headings or {}), n_apart

    @property
    def columns(self) -> list[str]:
        """The keys of the rows."""
        return list(self._rows[0]) if self._rows else []

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> "Listing": ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return Listing(self._rows[place], headings=self._headings)
        return self._rows[place]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def column(self, name: str) -> list[Any]:
        """The values of one column."""
        return [row[name] for row in self._rows]

    def to_frame(self) -> Any:
        """The same as a data frame of pandas."""
        return need("pandas", purpose="A data frame of results").DataFrame(self._rows)

    def _shown_headings(self) -> list[str]:
        return [self._headings.get(name, name) for name in self.columns]

    def __repr__(self) -> str:
        cells = [self._shown_headings()] + [[_cell(value) for value in row.values()] for row in self._rows]
        texts = [isinstance(value, str) for value in self._rows[0].values()] if self._rows else []
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if is_text else cell.rjust(width)
                for cell, width, is_text in zip(line, widths, texts, strict=True)
            ).rstrip()
            for line in cells
        ]
        if self._n_apart:
            lines.insert(1 + self._n_apart, "-" * max(map(len, lines)))
        return "\n".join(lines + self.notes)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self._shown_headings())
        body = [
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
            for row in self._rows
        ]
        apart = "".join(body[: self._n_apart])
        parts = [f"<tbody>{apart}</tbody>"] if apart else []
        parts.append(f"<tbody>{''.join(body[self._n_apart :])}</tbody>")
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table><thead><tr>{head}</tr></thead>{''.join(parts)}</table>{notes}"


_LARGE = 1e5  # numbers that have no digits behind the point worth a look
_TINY = 1e-5


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, float):
        return str(value)
    if _LARGE <= abs(value) < 1e15:
        return f"{value:,.0f}"
    if _TINY < abs(value) < 1e-3:
        return f"{value:.6f}"
    return f"{value + 0.0:.5g}"


def in_few_digits(value: float) -> str:
    """A number in a sentence.

    Examples
    --------
    >>> in_few_digits(1234567.8), in_few_digits(0.0301234), in_few_digits(float("nan"))
    ('1,234,568', '0.0301', 'nan')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
