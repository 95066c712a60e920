"""A small table of results: rows that are dicts, and ways to look at them."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, overload

from coterie._optional import need


class Listing(Sequence[dict[str, Any]]):
    """Rows with the same keys, in order.

    Parameters
    ----------
    rows : list of dict
    notes : list of str, sentences below the table

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

    def __init__(self, rows: Sequence[dict[str, Any]], notes: Sequence[str] = ()) -> None:
        self._rows = [dict(row) for row in rows]
        self.notes = list(notes)

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
        return Listing(self._rows[place]) if isinstance(place, slice) else self._rows[place]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def column(self, name: str) -> list[Any]:
        """The values of one column."""
        return [row[name] for row in self._rows]

    def to_frame(self) -> Any:
        """The same as a data frame of pandas."""
        return need("pandas", purpose="A data frame of results").DataFrame(self._rows)

    def __repr__(self) -> str:
        cells = [self.columns] + [[_cell(value) for value in row.values()] for row in self._rows]
        texts = [isinstance(value, str) for value in self._rows[0].values()] if self._rows else []
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if is_text else cell.rjust(width)
                for cell, width, is_text in zip(line, widths, texts, strict=True)
            ).rstrip()
            for line in cells
        ]
        return "\n".join(lines + self.notes)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
            for row in self._rows
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
