"""The members that a committee tries, in the order in which it tries them.

The order is data (`portfolio_order.py`), and so is what names stand for (`configurations.py`). Members of other
libraries take part if they are named.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from coterie._params import EstimatorLike, unexpected
from coterie._typing import Task
from coterie.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.committee.candidates.configurations import CONFIGURATIONS, configuration_of, names_for
from coterie.committee.candidates.entry import Entry, Shape
from coterie.committee.candidates.member_families import FEW_ROWS, entry_of
from coterie.committee.candidates.portfolio_order import ordered
from coterie.committee.libraries import LIBRARIES, library_member
from coterie.errors import InvalidParameter

__all__ = [
    "NAMES",
    "Entry",
    "PortfolioLike",
    "Shape",
    "entry_named",
    "is_for",
    "patience_of",
    "portfolio_of",
    "prior_member",
    "variation_of",
]

NAMES = tuple(CONFIGURATIONS)


class PortfolioLike:
    """What `portfolio` may be."""

    def accepts(self, value: object) -> bool:
        if isinstance(value, str):
            return value == "auto"
        return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_entry, value))

    def describe(self) -> str:
        return "'auto' or a non-empty list of names of its members and (string, estimator) tuples"


def _is_entry(item: Any) -> bool:
    if isinstance(item, str):
        return True
    if not isinstance(item, list | tuple) or len(item) != 2:
        return False
    return isinstance(item[0], str) and EstimatorLike().accepts(item[1])


def portfolio_of(given: Any, task: Task, shape: Shape, *, by_time: bool = False) -> list[Entry]:
    """The entries that `portfolio` stands for; `by_time` says that rows have an order in time.

    Examples
    --------
    >>> [entry.name for entry in portfolio_of(["forest", "linear~1"], "regression", Shape(80, 20, 3))]
    ['forest', 'linear~1']
    """
    if isinstance(given, str):
        names = ordered(names_for(task), shape)
        entries = [entry_named(name, task, shape) for name in names if is_for(name, shape)]
    else:
        entries = [
            entry_named(item, task, shape) if isinstance(item, str) else Entry(*item) for item in given
        ]
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        raise unexpected("portfolio", given, "a name of its own for each member")
    return [_in_time(entry) for entry in entries] if by_time else entries


def entry_named(name: str, task: Task, shape: Shape) -> Entry:
    """The entry of a configuration, of a variation of one, or of another library."""
    if name in LIBRARIES:
        return Entry(name, library_member(name, task), informs_forecast=False)
    found = configuration_of(name)
    if found is None or found.task not in (None, task):
        listed = ", ".join(map(repr, [*names_for(task), *LIBRARIES]))
        raise InvalidParameter.expecting(
            f"portfolio holds the name {name!r}",
            f"one of {listed} for {task}, one of ours with '~' and a number, or a tuple (name, estimator)",
            "portfolio",
            name,
        )
    return entry_of(name, found, task, shape)


def variation_of(task: Task, shape: Shape, *, by_time: bool = False) -> Callable[[str], Entry]:
    """What makes the entries of variations of members by their names."""

    def named(name: str) -> Entry:
        entry = entry_named(name, task, shape)
        return _in_time(entry) if by_time else entry

    return named


def patience_of(n_rows: int) -> int:
    """Members in a row that add nothing, after which the rest of the portfolio is skipped.

    Examples
    --------
    >>> patience_of(300), patience_of(5_000)
    (20, 30)
    """
    return _PATIENCE_OF_FEW_ROWS if n_rows < _MANY_ROWS else _PATIENCE


def is_for(name: str, shape: Shape) -> bool:
    """Whether a member is tried on tables of this size without being named."""
    found = configuration_of(name)
    assert found is not None
    if shape.n_train < FEW_ROWS:
        return name in _OF_FEW_ROWS
    return shape.n_train <= (found.most_rows or math.inf) and shape.n_columns <= (
        found.most_columns or math.inf
    )


def prior_member(names: Sequence[str], given: Any) -> int | None:
    """The place of the member that weights are shrunk to, if it is there: the one that is best on most tables.

    Examples
    --------
    >>> prior_member(["linear", "boosting"], "auto"), prior_member(["linear"], "auto")
    (1, None)
    """
    is_ours = isinstance(given, str) or _PRIOR in [item for item in given if isinstance(item, str)]
    return names.index(_PRIOR) if is_ours and _PRIOR in names else None


def _in_time(entry: Entry) -> Entry:
    """Boosting holds out the last rows, and not any, to find out when to stop."""
    if not isinstance(entry.estimator, GradientBoostingClassifier | GradientBoostingRegressor):
        return entry
    return replace(entry, estimator=entry.estimator.set_params(holdout="last_rows"))


_PRIOR = "boosting"  # what is best on most tables: weights are shrunk to it
_MANY_ROWS = 1_000
_PATIENCE_OF_FEW_ROWS, _PATIENCE = 20, 30
_OF_FEW_ROWS = (
    "linear",
    "kernel",
    "gaussian_process",
    "extra_trees",
    "forest",
    "neighbors",
    "adaboost",
)
