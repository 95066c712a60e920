"""Decoding: what the members of an output code predict for a row, and the class that fits it best.

| decoding | what a class costs |
|---|---|
| hamming | the members that are on the other side; half for each that does not know the class |
| hinge, exponential, logistic | the loss of the members' scores if the class were true, summed over members |
| probabilistic | nothing is summed: the probabilities of classes are found that agree best with those of the members |

Sums run over members one after the other, so that a row has the same bits alone and among others.
"""

from collections.abc import Callable

import numpy as np

from coterie._typing import AnyArray, FloatArray

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
