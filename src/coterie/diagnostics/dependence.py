"""How predictions depend on a column: partial dependence, accumulated local effects, and interactions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from coterie._params import Boolean, Integer, OneOf, in_short, resolve_n_jobs, spawn_seeds, unexpected
from coterie._typing import AnyArray, FloatArray, RowArray, SeedLike
from coterie.data.column_from_rows import with_column_from_rows
from coterie.data.inference.strings import moments_of, named_columns
from coterie.data.parts import chosen_columns, row_indexable, rows_of, table_shape
from coterie.data.prepare import read_table
from coterie.data.table import Column, Table
from coterie.data.weight import read_weight
from coterie.diagnostics._response import response_of
from coterie.diagnostics.checks import check_choice
from coterie.errors import InvalidInput
from coterie.members.fit_members import in_parallel


@dataclass(frozen=True)
class Grid:
    """Some values of a column.

    Attributes
    ----------
    values : numbers, ascending, or labels
    rows : for each value a row that holds it
    place : for each row of the table where it lies: its level, or the first value that is not below; -1 if missing
    categorical : bool
    """

    values: AnyArray
    rows: RowArray
    place: RowArray
    categorical: bool

    def reordered(self, order: AnyArray) -> "Grid":
        """The same levels in another order."""
        back = np.empty(len(order) + 1, dtype=np.int64)
        back[order], back[-1] = np.arange(len(order)), -1
        return Grid(self.values[order], self.rows[order], back[self.place], self.categorical)


def grid_of(column: Column, resolution: int) -> Grid:
    """All levels of categories; of numbers all distinct values, or as many of their quantiles."""
    if column.levels is None:
        values = column.values.astype(np.float64)
        known = np.flatnonzero(~np.isnan(values))
        _check_known(known, column)
        order = known[np.argsort(values[known], kind="stable")]
        distinct, first = np.unique(values[order], return_index=True)
        if len(distinct) > resolution:
            chosen = np.linspace(0, len(order) - 1, resolution).round().astype(np.intp)
            distinct, first = np.unique(values[order[chosen]], return_index=True)
            first = chosen[first]
        place = np.searchsorted(distinct, values)
        place[np.isnan(values)] = -1
        return Grid(distinct, order[first], place.astype(np.int64), False)
    codes = column.values.astype(np.int64)
    known = np.flatnonzero(codes >= 0)
    _check_known(known, column)
    present, first = np.unique(codes[known], return_index=True)
    place = np.where(codes >= 0, np.searchsorted(present, codes), -1)
    return Grid(np.asarray(column.levels)[present], known[first], place, True)


def _check_known(known: Any, column: Column) -> None:
    if len(known) == 0:
        raise InvalidInput(
            f"Column {column.name!r} holds nothing but missing values.",
            parameter=str(column.name),
            allowed="a column with values",
        )


def levels_by_likeness(table: Table, column: int, grid: Grid) -> AnyArray:
    """An order in which neighbouring levels have similar rows, by all other columns.

    The distance of two levels is the sum over columns of the mean difference of their distribution functions, taken at
    the quantiles of the column, or of half the differences of their shares. The order is the first coordinate of
    classical scaling.
    """
    n_levels = len(grid.values)
    distance = np.zeros((n_levels, n_levels))
    for other in range(table.n_columns):
        if other != column:
            distance += _distances(table.column(other), grid.place, n_levels)
    centre = np.eye(n_levels) - 1 / n_levels
    scaled = -centre @ distance**2 @ centre / 2
    along = np.linalg.eigh(scaled)[1][:, -1]
    if along[0] > along[-1]:
        along = -along
    return np.argsort(along.round(9), kind="stable")


def _distances(column: Column, place: RowArray, n_levels: int) -> FloatArray:
    shares = np.zeros((n_levels, 0))
    if column.levels is None:
        values = column.values.astype(np.float64)
        known = (place >= 0) & ~np.isnan(values)
        if known.any():
            cuts = np.unique(np.quantile(values[known], np.linspace(0, 1, 101)))
            cell = np.minimum(np.searchsorted(cuts, values[known]), len(cuts) - 1)
            shares = _shares(place[known], cell, n_levels, len(cuts)).cumsum(axis=1)
    else:
        known = (place >= 0) & (column.values >= 0)
        shares = _shares(place[known], column.values[known].astype(np.int64), n_levels, len(column.levels))
    gaps = np.abs(shares[:, None, :] - shares[None, :, :])
    parts = max(1, shares.shape[1]) if column.levels is None else 2
    return np.asarray(gaps.sum(axis=2) / parts)


def _shares(place: RowArray, cell: AnyArray, n_levels: int, n_cells: int) -> FloatArray:
    """How the rows of each level are spread over cells."""
    counts = np.zeros((n_levels, n_cells))
    np.add.at(counts, (place, cell), 1.0)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))


_N_PARTS = 40  # of a histogram
_MOST_AT_ONCE = 4_000  # rows in one call of the model: each call costs something, however small


@dataclass(frozen=True, repr=False, eq=False)
class DependenceCurve:
    """How predictions depend on one column.

    Attributes
    ----------
    name : of the column
    categorical : bool
    grid : array of shape (n_values,), numbers or labels; dates are days since 1970-01-01
    average : array of shape (n_values,), the mean prediction at each value, or the accumulated effect
    individual : array of shape (n_rows, n_values), the predictions for each row; None unless kind="individual"
    count : array of shape (n_values,), rows that hold the level, or lie between the value before and this one
    missing_average : the mean prediction if the column were missing in every row; None if it is missing in none, and
        for "ale"
    missing_count : rows in which it is missing
    histogram : counts of rows between the first value and the last, in parts of equal width; empty for levels
    holds_dates : bool, whether numbers are dates
    """

    name: str
    categorical: bool
    grid: AnyArray
    average: FloatArray
    individual: FloatArray | None
    count: RowArray
    missing_average: float | None = None
    missing_count: int = 0
    histogram: RowArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    holds_dates: bool = False

    def __repr__(self) -> str:
        ends = (
            f"{self.grid[0]:.4g} to {self.grid[-1]:.4g}"
            if not self.categorical
            else f"{len(self.grid)} levels"
        )
        return f"{self.name} ({ends}): {self.average.min():.4g} to {self.average.max():.4g}"


@dataclass(frozen=True, repr=False, eq=False)
class Dependence:
    """Curves of some columns.

    Attributes
    ----------
    kind : "average", "individual" or "ale"
    meaning : what is on the scale of predictions, in words
    centred : bool, whether curves begin at 0
    curves : tuple of DependenceCurve, in the order of `features`
    """

    kind: str
    meaning: str
    centred: bool
    curves: tuple[DependenceCurve, ...]

    def of(self, name: str) -> DependenceCurve:
        """The curve of a column, by its name."""
        for curve in self.curves:
            if curve.name == name:
                return curve
        known = [curve.name for curve in self.curves]
        raise unexpected("name", name, f"one of {in_short(known)}")

    def __repr__(self) -> str:
        return "\n".join([f"{self.kind}, {self.meaning}", *(f"  {curve!r}" for curve in self.curves)])


def dependence(
    model: Any,
    X: Any,
    features: Any,
    *,
    kind: Literal["average", "individual", "ale"] = "average",
    grid_resolution: int = 50,
    centred: bool = False,
    target: Any = None,
    response_method: str = "auto",
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> Dependence:
    """What a fitted model would predict if a column had other values.

    Parameters
    ----------
    model : a fitted model of one target
    X : rows to predict for, any table; only values that its rows hold are tried, so types stay as they are
    features : a column by name or place, or a list of them; each gets a curve
    kind : {"average", "individual", "ale"}
        "average": every row is given each value of the column in turn, and predictions are averaged (partial
        dependence). "individual": the predictions for each row are kept too. "ale": rows only move to values near
        their own, and the effects of these steps are added up (accumulated local effects). Where columns go together,
        "average" predicts for rows that do not exist, and "ale" does not. Default "average": the curve that most
        people know, and the one with the simplest meaning.
    grid_resolution : int, the most values of a column of numbers; if it has more, quantiles of them
        Default 50: smooth enough for a plot; each value costs a prediction for every row.
    centred : bool, whether curves begin at 0; effects of "ale" have a mean of 0 if not
        Default False: the scale is that of predictions.
    target : for classifiers, the class whose probability is meant; None is the second of two
        Default None: the class that `predict_proba` gives last, which is usually the event.
    response_method : {"auto", "predict", "predict_proba", "decision_function"}
        "auto": probabilities, or scores; 1 where the class is predicted for classifiers that have neither. Default
        "auto": probabilities are easier to read than scores.
    sample_weight : array of shape (n_rows,), how often each row counts
        Default None: every row counts once.
    n_jobs : int or None, how many values are tried side by side; the result is the same
        Default None: one after the other, so that threads of the model do not compete.

    Returns
    -------
    Dependence

    Notes
    -----
    Rows in which the column is missing take part in averages, and not in "ale". For "ale", levels without an order are
    put into one in which neighbours have similar rows.

    Examples
    --------
    >>> from coterie import GradientBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = {"size": rng.uniform(0, 10, 500), "town": rng.choice(["Oslo", "Rome"], 500)}
    >>> y = 2 * X["size"] + np.where(X["town"] == "Rome", 5, 0)
    >>> model = GradientBoostingRegressor(n_estimators=200, random_state=0).fit(X, y)
    >>> found = dependence(model, X, ["size", "town"], centred=True)
    >>> found.of("town").grid.tolist(), found.of("town").average.round(1).tolist()
    (['Oslo', 'Rome'], [0.0, 5.0])

    References
    ----------
    Friedman (2001); Goldstein and others (2015); Apley and Zhu (2020).
    """
    check_choice("kind", kind, OneOf("average", "individual", "ale"))
    check_choice("grid_resolution", grid_resolution, Integer(2))
    check_choice("centred", centred, Boolean())
    resolve_n_jobs(n_jobs)
    predict, meaning = response_of(model, response_method, target)
    X, table, places = _columns(X, features, "features")
    given = read_weight(sample_weight, table.n_rows)
    weight = np.ones(table.n_rows) if given is None else given
    data = _AveragedRows(X, table, weight, n_jobs)
    curves = tuple(_curve_of(predict, data, place, kind, grid_resolution, centred) for place in places)
    what = "accumulated effect on the " if kind == "ale" else "change of the " if centred else ""
    return Dependence(kind, what + meaning, bool(centred), curves)


@dataclass(frozen=True)
class _AveragedRows:
    """The rows that predictions are averaged over: as the user gave them, as a table, and their weights."""

    X: Any
    table: Table
    weight: FloatArray
    n_jobs: int | None


def _curve_of(
    predict: Callable[[Any], FloatArray],
    data: _AveragedRows,
    place: int,
    kind: str,
    grid_resolution: int,
    centred: bool,
) -> DependenceCurve:
    X, table, weight, n_jobs = data.X, data.table, data.weight, data.n_jobs
    grid = grid_of(table.column(place), grid_resolution)
    individual = None
    if kind == "ale":
        if grid.categorical and table.column(place).kind == "nominal" and len(grid.values) > 2:
            grid = grid.reordered(levels_by_likeness(table, place, grid))
        average = _accumulated(predict, X, place, grid, weight)
    else:
        individual = _individual(predict, X, place, grid.rows, table.n_rows, n_jobs)
        average = np.average(individual, axis=0, weights=weight)
    without = np.flatnonzero(grid.place < 0)
    missing = None
    if len(without) and kind != "ale":
        own = _individual(predict, X, place, without[:1], table.n_rows, n_jobs)
        missing = float(np.average(own[:, 0], weights=weight)) - (float(average[0]) if centred else 0.0)
    if centred:
        average = average - average[0]
        individual = None if individual is None else individual - individual[:, :1]
    return DependenceCurve(
        table.label(place),
        grid.categorical,
        grid.values,
        average,
        individual if kind == "individual" else None,
        np.bincount(grid.place[grid.place >= 0], minlength=len(grid.values)),
        missing,
        len(without),
        _histogram(table.column(place), grid),
        holds_dates(X, table, place),
    )


def interaction_strength(
    model: Any,
    X: Any,
    features: Any,
    *,
    max_rows: int = 100,
    target: Any = None,
    response_method: str = "auto",
    n_jobs: int | None = None,
    random_state: SeedLike = None,
) -> float:
    """Friedman's H: which part of what two columns do together is more than the sum of what each does alone.

    0 if the effects of the two just add up, 1 if there is nothing but their interaction.

    Parameters
    ----------
    model, X, target, response_method, n_jobs : as in `dependence`
        Default: those of `dependence`, for the reasons that are given there.
    features : two columns, by name or place
    max_rows : int, how many rows are drawn; for n rows the model predicts 3 n^2
        Default 100: 30,000 predictions; twice the rows would be four times as many.
    random_state : the seed of the draw
        Default None: new draws each time, as in scikit-learn; a number makes them repeatable.

    Returns
    -------
    float, the square root of Friedman's H^2

    Examples
    --------
    >>> from coterie import GradientBoostingRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> model = GradientBoostingRegressor(n_estimators=100, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    >>> [round(interaction_strength(model, X, pair, random_state=0), 1) for pair in ([0, 1], [0, 2])]
    [0.9, 0.1]

    References
    ----------
    Friedman and Popescu, Predictive learning via rule ensembles (2008).
    """
    check_choice("max_rows", max_rows, Integer(2))
    resolve_n_jobs(n_jobs)
    predict, _ = response_of(model, response_method, target)
    X, table, places = _columns(X, features, "features")
    if len(places) != 2 or places[0] == places[1]:
        raise unexpected("features", features, "two different columns")
    n_rows = min(table.n_rows, max_rows)
    if n_rows < table.n_rows:
        rng = np.random.default_rng(int(spawn_seeds(random_state, 1)[0]))
        X = rows_of(X, np.sort(rng.permutation(table.n_rows)[:n_rows]))

    def means(row: int) -> tuple[float, float, float]:
        """At the values of this row: of both columns, of the first, of the second."""
        same = np.full(n_rows, row)
        first = with_column_from_rows(X, places[0], same)
        second, both = (
            with_column_from_rows(X, places[1], same),
            with_column_from_rows(first, places[1], same),
        )
        return tuple(float(predict(own).mean()) for own in (both, first, second))  # type: ignore[return-value]

    found = np.array(in_parallel(means, [(row,) for row in range(n_rows)], n_jobs=n_jobs))
    both, first, second = (found - found.mean(axis=0)).T
    whole = float((both**2).sum())
    if whole <= 1e-20 * max(1.0, float((found**2).sum())):
        return 0.0
    return float(np.sqrt(((both - first - second) ** 2).sum() / whole))


def _columns(X: Any, features: Any, name: str) -> tuple[Any, Table, tuple[int, ...]]:
    shape = table_shape(X)
    if shape.n_columns is None:
        raise InvalidInput(
            "X has no columns whose values could be changed.", parameter="X", allowed="a table"
        )
    X = row_indexable(X)
    return X, read_table(X), chosen_columns(features, X, shape, name).places


def _histogram(column: Column, grid: Grid) -> RowArray:
    """How the rows are spread between the ends of a grid of numbers."""
    if grid.categorical or len(grid.values) < 2:
        return np.zeros(0, dtype=np.int64)
    values = column.values.astype(np.float64)
    ends = float(grid.values[0]), float(grid.values[-1])
    if not np.isfinite(ends).all():
        return np.zeros(0, dtype=np.int64)
    return np.histogram(values[~np.isnan(values)], _N_PARTS, ends)[0].astype(np.int64)


def holds_dates(X: Any, table: Table, place: int) -> bool:
    """Whether a column that is read as numbers holds dates."""
    native = named_columns(X)
    values = (
        X[:, place]
        if native is None and isinstance(X, np.ndarray)
        else (native or {}).get(table.label(place))
    )
    return moments_of(values) is not None


def _individual(
    predict: Callable[[Any], FloatArray],
    X: Any,
    place: int,
    holders: RowArray,
    n_rows: int,
    n_jobs: int | None,
) -> FloatArray:
    """The prediction for each row with the value of each of the `holders`; several values are one call."""
    together = max(1, _MOST_AT_ONCE // max(1, n_rows))
    parts = [holders[first : first + together] for first in range(0, len(holders), together)]

    def at(rows: RowArray) -> FloatArray:
        every = X if len(rows) == 1 else rows_of(X, np.tile(np.arange(n_rows), len(rows)))
        return predict(with_column_from_rows(every, place, np.repeat(rows, n_rows))).reshape(
            len(rows), n_rows
        )

    return np.concatenate(in_parallel(at, [(part,) for part in parts], n_jobs=n_jobs)).T


def _accumulated(
    predict: Callable[[Any], FloatArray], X: Any, place: int, grid: Grid, weight: FloatArray
) -> FloatArray:
    """The effects of steps from one value to the next, added up, with a mean of 0 over rows."""
    known = np.flatnonzero((grid.place >= 0) & (weight > 0))
    own, weight, last = grid.place[known], weight[known], len(grid.values) - 1
    if last == 0:
        return np.zeros(1)

    def at(places: RowArray) -> FloatArray:
        moved = np.arange(len(grid.place))
        moved[known] = grid.rows[places]
        return predict(rows_of(with_column_from_rows(X, place, moved), known))

    if not grid.categorical:  # a row lies between two values, and is moved to both
        upper = np.maximum(own, 1)
        steps = [(upper, at(upper) - at(upper - 1), weight)]
    else:  # a row has a level, and is moved to the one before and to the one after
        here = at(own)
        steps = [
            (np.minimum(own + 1, last), at(np.minimum(own + 1, last)) - here, weight * (own < last)),
            (own, here - at(np.maximum(own - 1, 0)), weight * (own > 0)),
        ]
    total, count = np.zeros(last + 1), np.zeros(last + 1)
    for end, effect, share in steps:
        total += np.bincount(end, share * effect, minlength=last + 1)
        count += np.bincount(end, share, minlength=last + 1)
    along: FloatArray = np.cumsum(np.divide(total, count, out=np.zeros(last + 1), where=count > 0))
    if grid.categorical:
        return along - float(np.average(along[own], weights=weight))
    middle = (along[np.maximum(own, 1)] + along[np.maximum(own, 1) - 1]) / 2
    return along - float(np.average(middle, weights=weight))
