"""Code matrices: a row for each class, a column for each member, and -1, 0 or 1 in each cell.

A member learns to tell the classes with 1 from those with -1; those with 0 it does not see. Two classes are *opposed*
in a column that has 1 for one and -1 for the other. The *separation* of a matrix is the least number of columns in
which any two classes are opposed: if it is d, then (d - 1) // 2 members may be wrong about a row, and its class is
still the nearest.

Decoding finds the class that fits best what the members predict for a row.

| decoding | what a class costs |
|---|---|
| hamming | the members that are on the other side; half for each that does not know the class |
| hinge, exponential, logistic | the loss of the members' scores if the class were true, summed over members |
| probabilistic | nothing is summed: the probabilities of classes are found that agree best with those of the members |

Sums run over members one after the other, so that a row has the same bits alone and among others.
"""

from collections.abc import Callable
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidParameter

Code = NDArray[np.int8]

_TRIES = 64
_MOST_CLASSES_EXHAUSTIVE = 10
_MOST_COLUMNS = 10_000


def code_matrix(kind: str, n_classes: int, code_size: float, seed: int) -> Code:
    """The matrix of a kind; the random ones have about `code_size * n_classes` columns.

    Of many random matrices the one with the greatest separation is taken. Its columns are not equal, nor opposite, and
    each has both signs.

    Examples
    --------
    >>> code_matrix("one_vs_one", 3, 1.5, seed=0)
    array([[-1, -1,  0],
           [ 1,  0, -1],
           [ 0,  1,  1]], dtype=int8)
    """
    if n_classes < 2:
        return np.zeros((n_classes, 0), dtype=np.int8)
    if n_classes == 2:
        return np.array([[-1], [1]], dtype=np.int8)
    if kind == "one_vs_rest":
        return (2 * np.eye(n_classes) - 1).astype(np.int8)
    if kind == "one_vs_one":
        return _pairs(n_classes)
    if kind == "exhaustive":
        return _exhaustive(n_classes)
    return _random(kind, n_classes, code_size, np.random.Generator(np.random.PCG64(seed)))


def separation(code: AnyArray) -> int:
    """The least number of columns in which two classes are opposed.

    Examples
    --------
    >>> separation(code_matrix("one_vs_rest", 4, 1.5, 0)), separation(code_matrix("exhaustive", 4, 1.5, 0))
    (2, 4)
    """
    if len(code) < 2:
        return int(code.shape[1])
    return int(_opposed(code)[~np.eye(len(code), dtype=bool)].min())


def as_code(given: Any, classes: AnyArray) -> Code:
    """A user's own matrix, checked."""
    try:
        code = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"code={in_short(given)} is no matrix of numbers: {error}.") from error
    if code.ndim != 2 or len(code) != len(classes) or not code.shape[1]:
        raise InvalidParameter(
            f"code has the shape {code.shape}; expected a row for each of the {len(classes)} classes "
            f"{in_short(list(classes))}, in this order, and a column for each member."
        )
    if not np.isin(code, (-1, 0, 1)).all():
        odd = code[~np.isin(code, (-1, 0, 1))][0]
        raise InvalidParameter(f"code holds {odd:g}; expected -1, 0 and 1 only.")
    for column in range(code.shape[1]):
        if len(classes) > 1 and not {-1.0, 1.0} <= set(code[:, column].tolist()):
            raise InvalidParameter(
                f"code: column {column} is {code[:, column].astype(int).tolist()}; expected at least one class with 1 "
                "and one with -1 to tell apart."
            )
    for one in range(len(classes)):
        for other in range(one):
            if not (code[one] * code[other] < 0).any():
                raise InvalidParameter(
                    f"code does not tell the classes {in_short(classes[[other, one]].tolist())} apart: no column "
                    "has 1 for one of them and -1 for the other."
                )
    return code.astype(np.int8)


def _pairs(n_classes: int) -> Code:
    pairs = [(low, high) for low in range(n_classes) for high in range(low + 1, n_classes)]
    code = np.zeros((n_classes, len(pairs)), dtype=np.int8)
    for column, (low, high) in enumerate(pairs):
        code[low, column], code[high, column] = -1, 1
    return code


def _exhaustive(n_classes: int) -> Code:
    """Every way to part the classes in two."""
    if n_classes > _MOST_CLASSES_EXHAUSTIVE:
        raise InvalidParameter(
            f"code='exhaustive' has {2 ** (n_classes - 1) - 1} columns for {n_classes} classes; expected at most "
            f"{_MOST_CLASSES_EXHAUSTIVE} classes. Use code='dense'."
        )
    return _all_columns(n_classes)


def _all_columns(n_classes: int) -> Code:
    numbers = np.arange(2 ** (n_classes - 1) - 1)
    bits = numbers[None, :] >> np.arange(n_classes - 2, -1, -1)[:, None] & 1
    return np.vstack([np.ones((1, len(numbers))), 2 * bits - 1]).astype(np.int8)


def _random(kind: str, n_classes: int, code_size: float, chance: np.random.Generator) -> Code:
    if n_classes * code_size > _MOST_COLUMNS:
        raise InvalidParameter(
            f"code_size={in_short(code_size)} means more than {_MOST_COLUMNS} members for {n_classes} classes.",
            parameter="code_size",
            received=code_size,
        )
    n_columns, least = int(n_classes * code_size), ceil(log2(n_classes))
    if n_columns < least:
        raise InvalidParameter(
            f"code_size={in_short(code_size)} makes {n_columns} members, and {n_classes} classes cannot be told apart "
            f"by fewer than {least}; expected at least {least / n_classes:.2f}."
        )
    if kind == "dense":
        n_columns = min(n_columns, 2 ** min(n_classes - 1, 60) - 1)
        draws: list[Callable[..., Code]] = [_by_words, _by_columns]
    else:
        n_columns = min(n_columns, (3 ** min(n_classes, 30) - 2 ** min(n_classes + 1, 31) + 1) // 2)
        draws = [_by_cells]
    best, best_quality = None, (0, 0)
    for number in range(_TRIES):
        code = draws[number % len(draws)](n_classes, n_columns, chance)
        quality = _quality(code)
        if quality > best_quality:
            best, best_quality = code, quality
    if best is None:
        raise InvalidParameter(
            f"code_size={in_short(code_size)}: no {kind} code of {n_columns} members that tells {n_classes} classes "
            "apart was found. Choose a larger code_size."
        )
    return best


def _by_words(n_classes: int, n_columns: int, chance: np.random.Generator) -> Code:
    """Classes are different words of so many letters; needed where there are hardly more words than classes."""
    if n_columns > 20:
        return (2 * chance.integers(0, 2, (n_classes, n_columns)) - 1).astype(np.int8)
    words = chance.choice(2**n_columns, n_classes, replace=False)
    return (2 * (words[:, None] >> np.arange(n_columns) & 1) - 1).astype(np.int8)


def _by_columns(n_classes: int, n_columns: int, chance: np.random.Generator) -> Code:
    """Columns are different ways to part the classes; needed where there are hardly more ways than columns."""
    if n_classes > _MOST_CLASSES_EXHAUSTIVE:
        return (2 * chance.integers(0, 2, (n_classes, n_columns)) - 1).astype(np.int8)
    every = _all_columns(n_classes)
    return every[:, chance.choice(every.shape[1], n_columns, replace=False)]


def _by_cells(n_classes: int, n_columns: int, chance: np.random.Generator) -> Code:
    """Half of the cells are 0; some of them get a sign where classes would not be told apart otherwise."""
    code = chance.choice(np.array([-1, 0, 0, 1], dtype=np.int8), (n_classes, n_columns))
    for _ in range(_TRIES):
        bad = ~_usable(code)
        if not bad.any():
            break
        code[:, bad] = chance.choice(np.array([-1, 0, 0, 1], dtype=np.int8), (n_classes, int(bad.sum())))
    for one, other in np.argwhere(np.triu(_opposed(code) == 0, 1)):
        _oppose(code, one, other, chance)
    return code


def _oppose(code: Code, one: int, other: int, chance: np.random.Generator) -> None:
    """Put a sign in the place of a 0, which parts two classes and joins no others."""
    if (code[one] * code[other] < 0).any():
        return
    free = np.flatnonzero((code[one] == 0) | (code[other] == 0))
    if len(free):
        column = chance.choice(free)
        if code[one, column] == 0 == code[other, column]:
            code[one, column] = 1
        if code[one, column] == 0:
            code[one, column] = -code[other, column]
        else:
            code[other, column] = -code[one, column]


def _usable(code: Code) -> NDArray[np.bool_]:
    """Columns with both signs that are neither equal to nor the opposite of one before them."""
    signed = code.astype(np.float64)
    both = (signed > 0).any(axis=0) & (signed < 0).any(axis=0)
    size = (signed**2).sum(axis=0)
    alike = np.abs(signed.T @ signed) == np.maximum(size[:, None], size[None, :])
    return np.asarray(both & ~np.triu(alike, 1).any(axis=0))


def _quality(code: Code) -> tuple[int, int]:
    """The separation, and then how few pairs of classes have no more; nothing if a column is of no use."""
    if not _usable(code).all():
        return (0, 0)
    opposed = _opposed(code)
    least = int(opposed[~np.eye(len(code), dtype=bool)].min())
    return (least, -int((opposed == least).sum()) if least else 0)


def _opposed(code: AnyArray) -> AnyArray:
    """For each two classes the columns in which they are opposed."""
    signed = code.astype(np.float64)
    return np.rint((np.abs(signed) @ np.abs(signed).T - signed @ signed.T) / 2).astype(np.int64)


_ROUNDS = 100
_LEAST = 1e-12


def _hamming(z: FloatArray) -> FloatArray:
    return (1 - np.sign(z)) / 2


def _hinge(z: FloatArray) -> FloatArray:
    return np.maximum(0.0, 1 - z)


def _exponential(z: FloatArray) -> FloatArray:
    return np.exp(-np.clip(z, -500, 500))


def _logistic(z: FloatArray) -> FloatArray:
    return np.logaddexp(0.0, -z)


LOSSES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "hamming": _hamming,
    "hinge": _hinge,
    "exponential": _exponential,
    "logistic": _logistic,
}


def distances(code: AnyArray, scores: FloatArray, decoding: str) -> FloatArray:
    """What each class costs, shape (n_rows, n_classes).

    Examples
    --------
    Of three members the last is wrong about a row of the first class.

    >>> code = np.array([[1, 1, 1], [-1, -1, 1], [1, -1, -1]])
    >>> distances(code, np.array([[2.0, 1.0, -0.5]]), "hamming")
    array([[1., 3., 1.]])
    >>> distances(code, np.array([[2.0, 1.0, -0.5]]), "hinge")
    array([[1.5, 6.5, 2.5]])
    """
    loss = LOSSES[decoding]
    total = np.zeros((len(scores), len(code)))
    for column in range(code.shape[1]):
        own = scores[:, column]
        for sign in (-1, 0, 1):
            total[:, code[:, column] == sign] += loss(sign * own)[:, None]
    return total


def logits(probabilities: FloatArray) -> FloatArray:
    """Scores that stand for probabilities: 0 for a half."""
    clipped = np.clip(probabilities, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def coupled(code: AnyArray, predicted: FloatArray, weight: FloatArray) -> FloatArray:
    """Probabilities of classes from those that members give to their positive side (Zadrozny, 2002).

    A member should predict p(its positive classes) / p(all of its classes). Starting from equal probabilities, each
    class grows by the ratio of what members predict to what they should have predicted, which lowers the cross-entropy
    between the two round by round.

    Parameters
    ----------
    code : shape (n_classes, n_members)
    predicted : shape (n_rows, n_members), the probability of each positive side
    weight : shape (n_members,), the share of rows that each has seen

    Examples
    --------
    >>> code = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    >>> coupled(code, np.array([[0.5, 0.3, 0.2]]), np.ones(3)).round(6)
    array([[0.5, 0.3, 0.2]])
    """
    predicted = np.clip(predicted, _LEAST, 1 - _LEAST)
    positive, negative = ((code == sign).astype(np.float64) for sign in (1, -1))
    wanted = _times(predicted * weight, positive.T) + _times((1 - predicted) * weight, negative.T)
    p = np.full((len(predicted), len(code)), 1 / len(code))
    for _ in range(_ROUNDS):
        over = _times(p, positive)
        under = _times(p, negative)
        should = over / np.maximum(over + under, _LEAST)
        got = _times(should * weight, positive.T) + _times((1 - should) * weight, negative.T)
        p *= wanted / np.maximum(got, _LEAST)
        p /= _times(p, np.ones((len(code), 1)))
    return p


def _times(left: FloatArray, right: FloatArray) -> FloatArray:
    """A product of matrices that adds up in one order for any number of rows, which BLAS does not."""
    total = np.zeros((len(left), right.shape[1]))
    for place in range(right.shape[0]):
        total += left[:, place, None] * right[place]
    return total
