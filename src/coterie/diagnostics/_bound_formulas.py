"""The bounds themselves, as functions of arrays.

A member that is worse than chance is as good as its opposite: AdaBoost gives it a negative vote. Its edge is negative,
and the size of the edge counts.

How many stumps are there? As many as predict differently for the rows of a table.
A stump is one split of one column. Two stumps that predict alike on every row are one. To compare predictions
without writing them down, each row has two large random numbers, and a set of rows is known by their sums.
"""

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coterie._params import Integer, Real, in_short, spawn_seeds, unexpected
from coterie._typing import AnyArray, FloatArray, SeedArray
from coterie.data.prepare import read_table
from coterie.data.table import Column, number_levels
from coterie.errors import InvalidParameter


def normalizers(errors: ArrayLike, votes: ArrayLike | None = None) -> FloatArray:
    """By what AdaBoost divides the weights of the rows after each round, so that they sum to one.

    Z = (1 - e) exp(-a) + e exp(a) for a member with the error e and the vote a. With AdaBoost's own vote, the default,
    Z = 2 sqrt(e (1 - e)): below 1 unless e is 1/2.

    Parameters
    ----------
    errors : array of shape (n_rounds,), weighted errors in [0, 1]
    votes : array of shape (n_rounds,), if they are others, as with a learning rate
        Default None: AdaBoost's own votes, which make Z smallest.

    Returns
    -------
    array of shape (n_rounds,)

    Examples
    --------
    >>> normalizers([0.2, 0.5])
    array([0.8, 1. ])
    >>> normalizers([0.2], votes=[0.0])
    array([1.])
    """
    e = _between("errors", errors, 0, 1, ndim=1)
    if votes is None:
        return 2 * np.sqrt(e * (1 - e))
    a = _votes(votes, e)
    return (1 - e) * np.exp(-a) + e * np.exp(a)


def training_loss(errors: ArrayLike, votes: ArrayLike | None = None) -> FloatArray:
    """The mean exponential loss of the training rows after each round: the product of the normalisers so far.

    It is the loss itself, not only a bound, if members predict -1 or 1, and it bounds the training error.

    Parameters
    ----------
    errors, votes : as in `normalizers`
        Default None: AdaBoost's own votes, which make it smallest.

    Returns
    -------
    array of shape (n_rounds,)

    Examples
    --------
    >>> training_loss([0.2, 0.2, 0.5])
    array([0.8 , 0.64, 0.64])
    """
    return np.asarray(np.cumprod(normalizers(errors, votes)), dtype=np.float64)


def training_loss_by_edge(edge: ArrayLike, n_rounds: ArrayLike, n_rows: ArrayLike = 1) -> FloatArray:
    """A bound of the exponential loss, n (1 - 4 edge^2)^(T / 2), if every member has that edge at least.

    Parameters
    ----------
    edge : number or array, in [0, 1/2]
    n_rounds : number or array, T
    n_rows : number or array, n
        With the default, 1, it is the loss per row, which bounds the training error; with the number of rows, the sum.
        Default 1: errors and losses are usually stated per row.

    Returns
    -------
    array of the shape that the arguments have together

    Examples
    --------
    >>> training_loss_by_edge(0.3, [2, 4], n_rows=100).round(2)
    array([64.  , 40.96])
    """
    gamma, rounds = _between("edge", edge, 0, 0.5), _between("n_rounds", n_rounds, 0)
    return np.asarray(_between("n_rows", n_rows, 0) * ((1 - 2 * gamma) * (1 + 2 * gamma)) ** (rounds / 2))


def rounds_to_zero_error(edge: ArrayLike, n_rows: ArrayLike) -> FloatArray:
    """After so many rounds no training row is wrong any more, if every member has that edge at least.

    The first whole number above 2 log(n) / log(1 / (1 - 4 edge^2)): the sum of the losses is below 1 then, and a single
    wrong row would have a loss of 1. Infinite without an edge.

    Parameters
    ----------
    edge : number or array, in [0, 1/2]
    n_rows : number or array

    Examples
    --------
    >>> rounds_to_zero_error([0.0, 0.1, 0.3], 1000)
    array([ inf, 339.,  31.])
    """
    gamma, rows = _between("edge", edge, 0, 0.5), _between("n_rows", n_rows, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = 2 * np.log(rows) / -np.log1p(-4 * gamma**2)
    return np.asarray(np.where(gamma > 0, np.floor(needed) + 1, np.inf))


def margin_error(errors: ArrayLike, theta: ArrayLike, votes: ArrayLike | None = None) -> FloatArray:
    """A bound, after each round, of the share of training rows whose margin is at most theta.

    The product of sqrt((1 + 2 g)^(1 + theta) (1 - 2 g)^(1 - theta)) over the rounds, where g is the edge; with the
    error e = 1/2 - g that is 2 sqrt(e^(1 - theta) (1 - e)^(1 + theta)). With other votes a than AdaBoost's, it is the
    product of Z exp(theta abs(a)), where Z is the normaliser. At theta = 0 it is `training_loss`. It holds for two
    classes and members that predict -1 or 1, or numbers between.

    Parameters
    ----------
    errors, votes : as in `normalizers`
        Default None: AdaBoost's own votes, for which the theorem is stated.
    theta : a number in [-1, 1], or an array of them

    Returns
    -------
    array of shape (n_rounds,), or (n_rounds, n_theta) for an array

    Examples
    --------
    >>> margin_error([0.2, 0.2], [0.0, 0.5]).round(3)
    array([[0.8  , 1.131],
           [0.64 , 1.28 ]])

    References
    ----------
    Schapire, Freund, Bartlett and Lee, Boosting the margin (1998).
    """
    t = check_thetas(theta)
    e = _between("errors", errors, 0, 1, ndim=1).reshape(-1, *([1] * t.ndim))
    if votes is None:
        least = np.minimum(e, 1 - e)
        factors = 2 * np.sqrt(least ** (1 - t) * (1 - least) ** (1 + t))
        return np.asarray(np.cumprod(factors, axis=0), dtype=np.float64)
    return margin_error_of(normalizers(errors, votes), np.asarray(votes, dtype=np.float64), t)


def margin_error_of(normalizers: FloatArray, votes: FloatArray, theta: FloatArray) -> FloatArray:
    """The bound of `margin_error` where the normalisers are known: the product of Z exp(theta abs(a)).

    A row with a margin of at most theta has a loss of at least exp(-theta sum abs(a)), and the mean loss is the product
    of the normalisers. So it holds for members that predict any numbers in [-1, 1].
    """
    shape = (-1, *([1] * theta.ndim))
    factors = normalizers.reshape(shape) * np.exp(theta * np.abs(votes).reshape(shape))
    return np.asarray(np.cumprod(factors, axis=0), dtype=np.float64)


def margin_limit(edge: ArrayLike) -> FloatArray:
    """The margin that all training rows reach in the end, if every member has that edge at least.

    For theta below -log(1 - 4 g^2) / log((1 + 2 g) / (1 - 2 g)), where g is the edge, the bound of `margin_error`
    falls to zero exponentially fast. The limit is about the edge itself if that is small, and at most twice the edge.

    Parameters
    ----------
    edge : number or array, in [0, 1/2]

    Examples
    --------
    >>> margin_limit([0.0, 0.1, 0.3, 0.5]).round(3)
    array([0.   , 0.101, 0.322, 1.   ])
    """
    gamma = _between("edge", edge, 0, 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = -np.log1p(-4 * gamma**2) / (np.log1p(2 * gamma) - np.log1p(-2 * gamma))
    return np.asarray(np.where(gamma == 0, 0.0, np.where(gamma == 0.5, 1.0, found)))


def generalization_error(
    margin_error: ArrayLike, theta: ArrayLike, *, n_rows: int, n_learners: int, delta: float = 0.05
) -> FloatArray:
    """A bound of the error on new rows from the margins of the training rows, whatever the number of rounds.

    With probability 1 - delta over the draw of m training rows, every weighted vote of members from a class of H =
    `n_learners` that was chosen before the rows were seen is wrong on new rows no more often than

        margin_error + 2 exp(-N theta^2 / 8) + sqrt((N log H + log(N (N + 1)^2) + log(1 / delta)) / (2 m))

    for every whole number N; the best of a thousand of them is taken. The theorem is usually written with the order of
    the last two terms, sqrt(log H log(m theta^2 / log H) / (m theta^2) + log(1 / delta) / m); its constants are in the
    proof, whose steps these terms are. Draw N members at random by their votes: their mean is near the whole vote
    (the second term, once on new and once on training rows), and there are few such means (the third, by Hoeffding's
    inequality).

    A bound above 1 means nothing, and for tables of a few thousand rows it nearly always is. Its worth is in what
    it does not depend on: the number of rounds.

    Parameters
    ----------
    margin_error : number or array, the share of training rows with a margin of at most theta
    theta : number or array of the same shape; infinite for theta <= 0
    n_rows : int, m
    n_learners : int, the size of the class of members; `stump_count` counts stumps
    delta : float in (0, 1), the risk that the bound does not hold
        Default 0.05: the usual risk; the bound hardly depends on it.

    Returns
    -------
    array of the shape of `margin_error` and `theta`

    Examples
    --------
    >>> generalization_error(0.02, [0.1, 0.5], n_rows=100_000, n_learners=1000).round(2)
    array([0.39, 0.11])

    References
    ----------
    Schapire, Freund, Bartlett and Lee, Boosting the margin (1998), theorem 1.
    """
    share, t = np.broadcast_arrays(
        _between("margin_error", margin_error, 0, 1), _between("theta", theta, -1, 1)
    )
    for name, value in (("n_rows", n_rows), ("n_learners", n_learners)):
        if not Integer(1).accepts(value):
            raise unexpected(name, value, Integer(1).describe())
    check_risk(delta)
    draws = np.unique(np.geomspace(1, 1e9, 1000).round())
    log_learners = math.log(n_learners)  # of a whole number of any size
    means = draws * log_learners + np.log(draws) + 2 * np.log1p(draws) - math.log(delta)
    near = 2 * np.exp(-draws * np.square(t)[..., None] / 8)
    found = share + (near + np.sqrt(means / (2 * n_rows))).min(axis=-1)
    return np.asarray(np.where(t > 0, found, np.inf))


def check_thetas(theta: ArrayLike) -> FloatArray:
    """Thresholds of margins: one number or a list of them."""
    thetas = _between("theta", theta, -1, 1)
    if thetas.ndim > 1:
        raise unexpected("theta", theta, "a number or a list of numbers")
    return thetas


def check_risk(delta: float) -> None:
    """Refuse what is no probability, or a certain one."""
    rule = Real(0, 1, closed="neither")
    if not rule.accepts(delta):
        raise unexpected("delta", delta, rule.describe())


def _votes(votes: ArrayLike, errors: FloatArray) -> FloatArray:
    a = _between("votes", votes, ndim=1)
    if a.shape != errors.shape:
        raise InvalidParameter.expecting(
            f"There are {len(a)} votes and {len(errors)} errors", f"{len(errors)} votes", "votes", len(a)
        )
    return a


def _between(
    name: str, values: Any, low: float | None = None, high: float | None = None, *, ndim: int | None = None
) -> FloatArray:
    """Finite numbers between two bounds, both included."""
    try:
        array = (
            np.asarray(float(values))
            if isinstance(values, Integral)
            else np.asarray(values, dtype=np.float64)
        )
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"{name}={in_short(values)} cannot be read as numbers: {error}.",
            parameter=name,
            received=values,
            allowed="numbers",
        ) from error
    rule = Real(low, high)
    wrong = [number for number in array.ravel().tolist() if not rule.accepts(number)]
    if wrong or (ndim is not None and array.ndim != ndim):
        allowed = rule.describe() + (" for each round" if ndim else ", or an array of them")
        what = f"holds {wrong[0]}" if wrong else f"has {array.ndim} dimensions"
        raise InvalidParameter.expecting(f"{name}={in_short(values)} {what}", allowed, name, values)
    return array


_MOST_COMPARED_LEVELS = 16


def stump_count(X: Any) -> int:
    """The number of decision stumps that differ in the prediction for a row of the table.

    A stump splits the rows in two and predicts -1 on one side and 1 on the other, or the reverse, or the same on both.

    - A column with an order, of k distinct values, has k - 1 thresholds.
    - Missing values go to either side of a threshold, or are alone on a side.
    - A nominal column (text, categories without order) splits its levels in two in any way; a missing one is a level.
    - Splits of several columns that agree count once, except those of nominal columns of more than 16 levels.

    Parameters
    ----------
    X : any table: data frame, Arrow table, array, sparse matrix or dict of columns

    Returns
    -------
    int

    Notes
    -----
    The bound of `generalization_error` is for members from a class that was chosen before the rows were seen, and
    thresholds between the values of the training rows are chosen after. So with this number it holds as it stands
    where columns have few possible values that all occur; elsewhere the number is a guess at the size that matters.

    Examples
    --------
    Two thresholds, two directions, and the two stumps that always predict the same. A copy of the column adds nothing.

    >>> stump_count({"age": [31, 40, 40, 57]})
    6
    >>> stump_count({"age": [31, 40, 40, 57], "days": [11315, 14610, 14610, 20819]})
    6
    >>> stump_count({"age": [31, 40, 40, 57], "town": ["Rome", "Oslo", "Rome", "Oslo"]})
    8
    """
    table = read_table(X)
    keys = spawn_seeds(0, 2 * table.n_rows).reshape(2, -1)
    whole: SeedArray = np.asarray(keys.sum(axis=1, dtype=np.uint64, keepdims=True))
    seen: set[tuple[int, int]] = set()
    not_compared = 0
    for index in range(table.n_columns):
        codes, is_nominal = _groups(table.column(index))
        n_groups = int(codes.max(initial=-1)) + 1
        if is_nominal and n_groups > _MOST_COMPARED_LEVELS:
            not_compared += 2 ** (n_groups - 1) - 1
            continue
        groups = [np.zeros(n_groups + 1, np.uint64) for _ in keys]
        for sums, key in zip(groups, keys, strict=True):
            np.add.at(sums, codes, key)  # code -1 is the last: the rows without a value
        side = (_sets_of_levels if is_nominal else _thresholds)(np.stack(groups))
        other = whole - side
        seen.update(zip(*np.where(side[0] < other[0], side, other).tolist(), strict=True))
    seen.discard((0, 0))  # everything on one side
    return 2 * (len(seen) + not_compared) + 2


def _groups(column: Column) -> tuple[AnyArray, bool]:
    """The number of each row's value among those that occur, -1 if missing; and whether these have no order."""
    codes = column.values if column.levels is not None else number_levels(column.values)[0]
    used = np.unique(codes[codes >= 0])
    dense = np.where(codes >= 0, np.searchsorted(used, codes), -1)
    if column.kind == "nominal" and (dense < 0).any():
        dense = np.where(dense < 0, len(used), dense)  # a level like the others
    return dense, column.kind == "nominal"


def _thresholds(groups: SeedArray) -> SeedArray:
    """The left side of every threshold, shape (2, n): without the rows that have no value, and with them."""
    left = np.cumsum(groups[:, :-1], axis=1, dtype=np.uint64)
    return np.concatenate([left, left + groups[:, -1:]], axis=1)


def _sets_of_levels(groups: SeedArray) -> SeedArray:
    """Every set of levels, shape (2, n)."""
    sets = np.zeros((2, 1), np.uint64)
    for level in range(groups.shape[1] - 1):
        sets = np.concatenate([sets, sets + groups[:, level : level + 1]], axis=1)
    return sets
