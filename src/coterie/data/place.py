"""Where in the input something is: an argument, a column of a table, a row. Errors name it, and carry it as fields."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Place:
    """An argument of `fit` or `predict`, or a part of it.

    Examples
    --------
    >>> str(Place("X", "town")), str(Place("y", row=3))
    ("column 'town'", 'y, row 3')
    """

    argument: str
    column: str | None = None
    row: int | None = None

    def __str__(self) -> str:
        whole = self.argument if self.column is None else f"column {self.column!r}"
        return whole if self.row is None else f"{whole}, row {self.row}"

    @property
    def fields(self) -> dict[str, Any]:
        """The place as the fields of an error."""
        return {"parameter": self.argument, "column": self.column, "row": self.row}
