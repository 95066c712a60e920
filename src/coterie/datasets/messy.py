"""A made-up table with everything that makes real tables difficult.

House sales in six towns: numbers on very different scales, text, categories with and without an order,
dates, a flag, a column of many levels, a column that says nothing, and holes in most of them.
"""

from typing import Any, Literal

import numpy as np

from coterie._optional import need
from coterie._params import Integer, OneOf, Real, Rule, root_seed, unexpected
from coterie._typing import AnyArray, FloatArray, SeedLike, Task

_TOWNS = ("Aarhus", "Bergen", "Cork", "Delft", "Evora", "Fano")
_CONDITIONS = ("poor", "fair", "good", "new")
_PLATFORMS = ("dict", "pandas", "polars")


def make_messy(
    n_rows: int = 1000,
    *,
    task: Task = "classification",
    missing: float = 0.1,
    n_streets: int = 300,
    noise: float = 0.5,
    as_: Literal["dict", "pandas", "polars"] = "dict",
    random_state: SeedLike = 0,
) -> tuple[Any, AnyArray]:
    """Make a mixed table and its target.

    Parameters
    ----------
    n_rows : int
        Default 1000: enough to learn something, and fitted in a second.
    task : {"classification", "regression"}
        The price in thousands, or whether the house is "cheap", "fair" or "dear". Default "classification": what most
        examples are about.
    missing : float
        Share of missing values in every column except `rooms`. Default 0.1: common in real tables.
    n_streets : int
        Number of levels of the column `street`; with more than 254 it has to be grouped. Default 300: more levels than
        bins, so that they have to be grouped.
    noise : float
        Spread of what the columns cannot explain; the part they do explain has a spread of about 1. Default 0.5: a
        good model is far better than a constant, and never perfect.
    as_ : {"dict", "pandas", "polars"}
        A dict of arrays, or a data frame. In a frame `condition` is an ordered category and `town` an unordered one;
        in a dict both are text. Default "dict": needs neither pandas nor polars.
    random_state : int, RandomState, Generator or None
        Default 0: examples show the same table every time.

    Returns
    -------
    table, y

    Examples
    --------
    >>> table, y = make_messy(5, random_state=1)
    >>> list(table)
    ['area', 'rooms', 'income', 'town', 'condition', 'street', 'sold', 'garden', 'serial']
    >>> sorted(set(y.tolist()) - {"cheap", "fair", "dear"})
    []
    """
    _check(n_rows, task, missing, n_streets, as_)
    rng = np.random.Generator(np.random.PCG64(root_seed(random_state)))
    columns, value = _houses(rng, n_rows, n_streets)
    y = _prices(rng, value, noise) if task == "regression" else _price_classes(rng, value, noise)
    for name in columns:
        if name != "rooms":
            columns[name] = _with_holes(columns[name], rng.random(n_rows) < missing)
    return _in_container(columns, as_), y


def _check(n_rows: int, task: str, missing: float, n_streets: int, as_: str) -> None:
    checks: tuple[tuple[str, Any, Rule], ...] = (
        ("n_rows", n_rows, Integer(1)),
        ("n_streets", n_streets, Integer(1)),
        ("task", task, OneOf("classification", "regression")),
        ("missing", missing, Real(0, 1, closed="left")),
        ("as_", as_, OneOf(*_PLATFORMS)),
    )
    for name, value, rule in checks:
        if not rule.accepts(value):
            raise unexpected(name, value, rule.describe(), owner="make_messy")


def _houses(rng: np.random.Generator, n: int, n_streets: int) -> tuple[dict[str, AnyArray], FloatArray]:
    """The columns without holes, and the part of the price that they explain."""
    area = rng.gamma(6.0, 20.0, n)
    rooms = rng.integers(1, 9, n)
    income = rng.lognormal(10.3, 0.5, n)
    town = rng.choice(len(_TOWNS), n, p=[0.35, 0.25, 0.15, 0.12, 0.08, 0.05])
    condition = rng.integers(0, 4, n)
    street = np.minimum(rng.geometric(3 / (n_streets + 3), n) - 1, n_streets - 1)
    days = rng.integers(0, 3650, n)
    garden = rng.random(n) < 0.4
    town_value = np.array([0.6, -0.3, 0.2, -0.8, 0.0, 0.9])[town]
    street_value = rng.normal(0.0, 0.4, n_streets)[street]
    seasons = 0.25 * np.sin(days * (2 * np.pi / 365.25))
    value = 0.5 * (np.log(area) - 4.7) + 0.1 * (rooms - 4.5) + 0.4 * (np.log(income) - 10.3)
    value = value + town_value + 0.25 * (condition - 1.5) * np.where(town < 3, 1.0, 0.2)
    value = value + street_value + seasons + 0.3 * garden * (area > 110)
    columns: dict[str, AnyArray] = {
        "area": area.round(1),
        "rooms": rooms,
        "income": income.round(),
        "town": np.array(_TOWNS, dtype=object)[town],
        "condition": np.array(_CONDITIONS, dtype=object)[condition],
        "street": np.array([f"street {k:05d}" for k in range(n_streets)], dtype=object)[street],
        "sold": np.datetime64("2015-01-01", "D") + days,
        "garden": garden,
        "serial": rng.permutation(n) + 100_000,
    }
    return columns, value


def _prices(rng: np.random.Generator, value: FloatArray, noise: float) -> FloatArray:
    return np.asarray(np.round(250 + 100 * (value + rng.normal(0.0, 1.0, len(value)) * noise), 1))


def _price_classes(rng: np.random.Generator, value: FloatArray, noise: float) -> AnyArray:
    seen = value + rng.normal(0.0, 1.0, len(value)) * noise
    return np.array(["cheap", "fair", "dear"])[np.digitize(seen, [-0.3, 0.5])]


def _with_holes(values: AnyArray, holes: AnyArray) -> AnyArray:
    if not holes.any():
        return values
    if values.dtype.kind == "M":
        return np.where(holes, np.datetime64("NaT"), values)
    if values.dtype.kind in "fi":
        return np.where(holes, np.nan, values)
    values = values.astype(object)
    values[holes] = None
    return values


def _in_container(columns: dict[str, AnyArray], as_: str) -> Any:
    if as_ == "pandas":
        pd = need("pandas", purpose="make_messy(as_='pandas')")
        frame = pd.DataFrame(columns)
        frame["town"] = pd.Categorical(frame["town"], categories=list(_TOWNS))
        frame["condition"] = pd.Categorical(frame["condition"], categories=list(_CONDITIONS), ordered=True)
        return frame.astype({"garden": "boolean"})
    if as_ == "polars":
        pl = need("polars", purpose="make_messy(as_='polars')")
        frame = pl.DataFrame({name: pl.Series(_for_polars(values)) for name, values in columns.items()})
        return frame.with_columns(
            pl.col("town").cast(pl.Categorical),
            pl.col("condition").cast(pl.Enum(_CONDITIONS)),
            pl.col("area", "income", "serial").cast(pl.Float64).fill_nan(None),
        )
    return columns


def _for_polars(values: AnyArray) -> Any:
    return values.tolist() if values.dtype.kind == "O" else values
