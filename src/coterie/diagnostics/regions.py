"""What a classifier decides at every place of a plane of two columns."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from coterie._params import Boolean, Integer, OneOf, in_short, unexpected
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.column_from_rows import with_column_from_rows, with_numbers
from coterie.data.parts import chosen_columns, row_indexable, rows_of, table_shape
from coterie.data.prepare import read_table
from coterie.data.table import Table
from coterie.diagnostics.checks import check_choice, several_targets
from coterie.diagnostics.dependence import grid_of, holds_dates
from coterie.diagnostics.sklearn_adapters import labels_or_numbers, with_protocols
from coterie.diagnostics.votes import (
    chosen_rounds,
    member_predictions_of,
    n_stages_of,
    staged_predictions,
    votes_of,
)
from coterie.errors import InvalidParameter
from coterie.members.votes import VoteCount, one_hot


@dataclass(frozen=True, eq=False)
class PlaneAxis:
    """One of the two columns, and the values at which a model is asked.

    Attributes
    ----------
    name : of the column
    values : array, ascending and at equal distances: numbers, days since 1970-01-01, or 0, 1, 2, ... for levels
    levels : the names of the levels; empty for numbers and dates
    holds_dates : bool
    place : array of shape (n_rows,), where each row of the table lies; NaN if its value is missing
    """

    name: str
    values: FloatArray
    levels: tuple[str, ...]
    holds_dates: bool
    place: FloatArray


@dataclass(frozen=True, repr=False, eq=False)
class DecisionRegions:
    """What a classifier decides on a grid of two columns, at one stage or at several.

    Attributes
    ----------
    x, y : PlaneAxis, the two columns
    classes : the labels
    stages : names of the stages: "after 5 rounds", or of members
    shares : array of shape (n_stages, len(y.values), len(x.values), n_classes)
        How much each class has at each place; sums to one over classes.
    response : {"probability", "votes", "class"}, what the shares are

    Examples
    --------
    >>> from coterie.trees import DecisionTreeClassifier
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 2.0]]
    >>> tree = DecisionTreeClassifier().fit(X, ["a", "a", "a", "b", "b"])
    >>> found = decision_regions(tree, X, (0, 1), resolution=4)
    >>> found, found.labels[0, -1]
    (DecisionRegions(x0 by x1, 4 by 4 places, 1 stage), array(['a', 'b', 'b', 'b'], dtype='<U1'))
    """

    x: PlaneAxis
    y: PlaneAxis
    classes: AnyArray
    stages: tuple[str, ...]
    shares: FloatArray
    response: str

    @property
    def codes(self) -> AnyArray:
        """The place among `classes` of the class with the largest share; on a tie, the first."""
        return np.asarray(self.shares.argmax(axis=3))

    @property
    def labels(self) -> AnyArray:
        """The class with the largest share, shape (n_stages, len(y.values), len(x.values))."""
        return np.asarray(self.classes[self.codes])

    def __repr__(self) -> str:
        n_stages, n_y, n_x, _ = self.shares.shape
        stages = "1 stage" if n_stages == 1 else f"{n_stages} stages"
        return f"DecisionRegions({self.x.name} by {self.y.name}, {n_x} by {n_y} places, {stages})"


def decision_regions(
    model: Any,
    X: Any,
    columns: Any = (0, 1),
    *,
    rounds: Any = None,
    members: Any = False,
    response: str = "auto",
    others: str = "typical",
    resolution: int = 60,
    max_rows: int = 30,
) -> DecisionRegions:
    """What a fitted classifier decides, everywhere on a grid over two columns.

    Parameters
    ----------
    model : a fitted classifier of one target, or a committee of classes
    X : a table with the columns of `fit`; where its rows lie decides where the model is asked
    columns : two columns, by name or place: the horizontal one and the vertical one
        Default (0, 1): the first two, which is all of a table of two columns.
    rounds : int, list of ints, "all" or None
        After how many rounds of boosting, or with how many members, counted from 1. None is the model as it is.
        Default None: what `predict` returns.
    members : bool, int or list of ints
        Instead of the ensemble, what each member decides by itself: True is all, numbers are places from 0. Default
        False: the ensemble is meant.
    response : {"auto", "probability", "votes", "class"}
        What a class has at a place: its probability; its share of the votes, for ensembles of which
        `coterie.diagnostics.margins` knows them; or 1 for the predicted class. "auto": probabilities where there are
        any, else classes. Default "auto": probabilities also show where the model is unsure.
    others : {"typical", "average"}
        What all other columns hold. "typical": their median, which is the lower of two, or their most frequent level.
        "average": what rows of X hold; the shares are means over up to `max_rows` of them. Default "typical": one
        prediction a place.
    resolution : int, places along an axis of numbers; a column of levels has one for each
        Default 60: 3,600 places, predicted for in a moment and smooth on a screen.
    max_rows : int, rows for others="average", spread evenly over X
        Default 30: thirty times the predictions, and a mean that hardly changes with more.

    Returns
    -------
    DecisionRegions

    Notes
    -----
    Columns of dates and levels are only given values that rows hold. A vote share is (1 + margin) / 2 for two classes.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from coterie import AdaBoostClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> boosted = AdaBoostClassifier(n_estimators=50).fit(X, y)
    >>> found = decision_regions(boosted, X, rounds=[1, 5, 50], response="votes")
    >>> found.stages, bool(np.isin(found.shares[0], [0.0, 1.0]).all())
    (('after 1 round', 'after 5 rounds', 'after 50 rounds'), True)
    """
    check_choice("response", response, OneOf("auto", "probability", "votes", "class"))
    check_choice("others", others, OneOf("typical", "average"))
    check_choice("resolution", resolution, Integer(2, 1000))
    check_choice("max_rows", max_rows, Integer(1))
    _check_model(model, rounds, members)
    shape = table_shape(X)
    places = chosen_columns(columns, X, shape, "decision_regions").places
    if len(places) != 2 or places[0] == places[1]:
        raise unexpected("columns", columns, "two different columns")
    X = row_indexable(X)
    plane = _Plane(X, read_table(X), places, resolution, others, max_rows)
    stages, shares_of, response = _stages_of(model, X, rounds, members, response)
    shares = np.mean([shares_of(cells) for cells in plane.tables()], axis=0)
    n_classes = shares.shape[2]
    grid = shares.reshape(len(stages), len(plane.y.values), len(plane.x.values), n_classes)
    return DecisionRegions(plane.x, plane.y, np.asarray(model.classes_), stages, grid, response)


def _check_model(model: Any, rounds: Any, members: Any) -> None:
    check_is_fitted(model)
    if not is_classifier(model) or not hasattr(model, "classes_"):
        raise unexpected("model", model, "a fitted classifier, whose regions are those of classes")
    if isinstance(model.classes_, list):
        raise several_targets("Decision regions are for", model, len(model.classes_))
    if rounds is not None and members is not False:
        raise InvalidParameter.expecting(
            f"rounds={in_short(rounds)} and members={in_short(members)}",
            "one of them: the ensemble after some rounds, or its members one by one",
            "members",
            members,
        )


def plane_axes(X: Any, columns: Any, where: str) -> tuple[PlaneAxis, PlaneAxis]:
    """The axes of two columns of a table, where its rows are drawn as points."""
    places = chosen_columns(columns, X, table_shape(X), where).places
    if len(places) != 2 or places[0] == places[1]:
        raise unexpected("columns", columns, "two different columns")
    X = row_indexable(X)
    x, y = (plane_axis(X, read_table(X), place, 60)[0] for place in places)
    return x, y


class _Plane:
    """The two axes, and tables with a row for each place of the grid: x runs fastest."""

    def __init__(
        self, X: Any, table: Table, places: tuple[int, ...], resolution: int, others: str, max_rows: int
    ) -> None:
        self._X, self._table, self._places = X, table, places
        built = [plane_axis(X, table, place, resolution) for place in places]
        (self.x, x_rows), (self.y, y_rows) = built
        n_x, n_y = len(self.x.values), len(self.y.values)
        self._at = [np.tile(np.arange(n_x), n_y), np.repeat(np.arange(n_y), n_x)]
        self._rows = [x_rows, y_rows]
        n_base = min(max_rows, table.n_rows) if others == "average" and table.n_columns > 2 else 1
        self._typical = others == "typical"
        self._base: RowArray = np.linspace(0, table.n_rows - 1, n_base).round().astype(np.int64)

    def tables(self) -> Iterator[Any]:
        """One table for each row that the other columns are taken from."""
        for row in self._base.tolist():
            one = typical_of(self._X, self._table) if self._typical else rows_of(self._X, np.array([row]))
            cells = rows_of(one, np.zeros(len(self._at[0]), dtype=np.int64))
            for axis, place, at, rows in zip(
                (self.x, self.y), self._places, self._at, self._rows, strict=True
            ):
                if rows is None:
                    cells = with_numbers(cells, place, axis.values[at])
                else:
                    cells = with_column_from_rows(cells, place, rows[at], source=self._X)
            yield cells


def plane_axis(X: Any, table: Table, place: int, resolution: int) -> tuple[PlaneAxis, RowArray | None]:
    """An axis, and rows that hold its values where they are not made up."""
    column, name = table.column(place), table.label(place)
    grid = grid_of(column, table.n_rows)
    if grid.categorical or len(grid.values) < 3:
        levels = tuple(
            f"{value:g}" if isinstance(value, float) else str(value) for value in grid.values.tolist()
        )
        where = np.where(grid.place < 0, np.nan, grid.place)
        return PlaneAxis(name, np.arange(float(len(levels))), levels, False, where), grid.rows
    known = np.flatnonzero(np.isfinite(grid.values))
    low, high = float(grid.values[known[0]]), float(grid.values[known[-1]])
    edge = 0.05 * (high - low)
    step = (high - low + 2 * edge) / resolution
    values: FloatArray = low - edge + step * (np.arange(resolution, dtype=np.float64) + 0.5)
    is_dates = holds_dates(X, table, place)
    axis = PlaneAxis(name, values, (), is_dates, column.values.astype(np.float64))
    if not is_dates:
        return axis, None
    nearest = np.abs(grid.values[known][None, :] - values[:, None]).argmin(axis=1)
    return axis, grid.rows[known[nearest]]


def typical_row(table: Table, place: int) -> int:
    """A row that holds the lower median of a column, or its most frequent level; of several, the first."""
    column = table.column(place)
    if column.levels is None:
        values = column.values.astype(np.float64)
        known = np.flatnonzero(~np.isnan(values))
        if not len(known):
            return 0
        order = known[np.argsort(values[known], kind="stable")]
        return int(np.flatnonzero(values == values[order[(len(order) - 1) // 2]])[0])
    codes = column.values.astype(np.int64)
    known = np.flatnonzero(codes >= 0)
    return int(known[codes[known] == np.bincount(codes[known]).argmax()][0]) if len(known) else 0


def typical_of(X: Any, table: Table) -> Any:
    """One row in the type of X whose columns each hold what is typical of them."""
    one = rows_of(X, np.array([0]))
    for place in range(table.n_columns):
        one = with_column_from_rows(one, place, np.array([typical_row(table, place)]), source=X)
    return one


_SharesOf = Callable[[Any], FloatArray]  # of a table, shape (n_stages, n_rows, n_classes)


def _stages_of(
    model: Any, X: Any, rounds: Any, members: Any, response: str
) -> tuple[tuple[str, ...], _SharesOf, str]:
    """The names of the stages, what gives their shares, and what these are."""
    classes = np.asarray(model.classes_)
    if members is not False:
        return _member_stages(model, X, members, response)
    numbers = None
    if rounds is not None:
        n_stages = n_stages_of(model)
        if n_stages is None:
            raise InvalidParameter.expecting(
                f"rounds={in_short(rounds)}: {type(model).__name__} has no rounds, and no members that could decide "
                "without the others",
                "None",
                "rounds",
                rounds,
            )
        numbers = chosen_rounds(rounds, n_stages)
    stages = (
        (type(model).__name__,)
        if numbers is None
        else tuple(_stage_name(model, own) for own in numbers.tolist())
    )
    if response == "votes":
        return stages, lambda cells: _vote_shares(model, cells, numbers), "votes"
    proba = _probabilities(model, numbers)
    if proba is not None and response != "class":
        return stages, proba, "probability"
    if response == "probability":
        raise InvalidParameter.expecting(
            f"response='probability': {type(model).__name__} has no probabilities"
            + ("" if numbers is None else " after some of its rounds"),
            "'auto', 'votes' or 'class'",
            "response",
            response,
        )

    def of_labels(cells: Any) -> FloatArray:
        _, labels = staged_predictions(model, cells, numbers)
        return np.stack([labels_or_numbers(own, classes, type(model).__name__) for own in labels])

    return stages, of_labels, "class"


def _stage_name(model: Any, number: int) -> str:
    """Boosting has rounds, and other ensembles have members."""
    if hasattr(model, "staged_predict"):
        return f"after {number:,} round{'s' if number > 1 else ''}"
    return f"with {number:,} member{'s' if number > 1 else ''}"


def _vote_shares(model: Any, cells: Any, numbers: RowArray | None) -> FloatArray:
    found = votes_of(model, cells)
    wanted = np.array([found.n_rounds]) if numbers is None else numbers
    return np.stack([shares_of_votes(count) for count in found.after(wanted)])


def shares_of_votes(count: VoteCount) -> FloatArray:
    """Votes as shares that sum to one; a vote against a class is one for all others together.

    Examples
    --------
    >>> shares_of_votes(VoteCount(np.array([[3.0, 1.0], [0.0, -1.0]]), np.array(4.0)))
    array([[0.75 , 0.25 ],
           [0.625, 0.375]])
    """
    total = np.broadcast_to(count.total, len(count.votes))[:, None]
    n_classes = count.votes.shape[1]
    missing = (total - count.votes.sum(axis=1, keepdims=True)) / n_classes
    even = np.full_like(count.votes, 1 / n_classes)
    shares = np.divide(count.votes + missing, total, out=even, where=total > 0)
    shares = np.maximum(shares, 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _probabilities(model: Any, numbers: RowArray | None) -> _SharesOf | None:
    """What gives probabilities, after some rounds or all; None if there are none."""
    if not hasattr(model, "predict_proba"):
        return None
    if numbers is None:
        return lambda cells: np.asarray(model.predict_proba(cells), dtype=np.float64)[None]
    taken = inspect.signature(model.predict_proba).parameters
    for name in ("n_rounds", "n_trees"):
        if name in taken:
            return lambda cells: np.stack(
                [model.predict_proba(cells, **{name: int(number)}) for number in numbers]
            )
    if hasattr(model, "staged_predict_proba"):
        wanted = set(numbers.tolist())

        def staged(cells: Any) -> FloatArray:
            each = islice(model.staged_predict_proba(cells), int(numbers[-1]))
            return np.stack([np.array(own) for at, own in enumerate(each, start=1) if at in wanted])

        return staged
    if hasattr(with_protocols(model), "member_predictions"):

        def of_members(cells: Any) -> FloatArray:
            values = with_protocols(model).member_predictions(cells).values
            return np.stack([values[:number].mean(axis=0) for number in numbers])

        return of_members
    return None


def _member_stages(model: Any, X: Any, members: Any, response: str) -> tuple[tuple[str, ...], _SharesOf, str]:
    if response == "votes":
        raise InvalidParameter.expecting(
            "response='votes': a member by itself has one vote",
            "'auto', 'probability' or 'class'",
            "response",
            response,
        )
    known = member_predictions_of(model, rows_of(X, np.array([0])))
    n_members = len(known.names)
    if isinstance(members, bool):
        places = list(range(n_members))
    else:
        rule = Integer(0, n_members - 1)
        places = [members] if np.ndim(members) == 0 else list(members)
        if not places or not all(rule.accepts(place) for place in places):
            allowed = f"{Boolean().describe()}, or places of members, each {rule.describe()}"
            raise unexpected("members", members, allowed)
    are_shares = bool((known.values >= 0).all()) and bool(np.allclose(known.values.sum(axis=2), 1.0))
    if response == "probability" and not are_shares:
        raise InvalidParameter.expecting(
            f"response='probability': the members of this {type(model).__name__} do not predict probabilities",
            "'auto' or 'class'",
            "response",
            response,
        )
    by_class = response == "class" or not are_shares

    def shares(cells: Any) -> FloatArray:
        own = member_predictions_of(model, cells)
        if not by_class:
            return own.values[places]
        n_classes = own.values.shape[2]
        return np.stack([one_hot(codes, n_classes) for codes in own.codes[places]])

    names = tuple(known.names[place] for place in places)
    return names, shares, "class" if by_class else "probability"
