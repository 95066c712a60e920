"""Error as bias, variance and noise: the formulas, on arrays of what repeated fits said.

Words
  answers   what fits said, shape (n_fits, n_rows): numbers, or codes of classes
  truth     what is right on average: numbers, or the probability of each class, shape (n_rows, n_classes)
  main      the answer that stands for all fits: their mean, or the class that most of them name
Each function returns parts by row, and `error = bias + variance + noise` holds for each row.
"""

from typing import NamedTuple

import numpy as np

from coterie._typing import AnyArray, FloatArray

__all__ = ["Parts", "domingos", "kohavi_wolpert", "shares_of_classes", "squared_error"]


class Parts(NamedTuple):
    """By row. Variance is what it adds to the error: where the main answer is wrong it may take away (`helping`)."""

    error: FloatArray
    bias: FloatArray
    variance: FloatArray
    noise: FloatArray
    helping: FloatArray


def squared_error(answers: FloatArray, truth: FloatArray, noise: FloatArray) -> Parts:
    """The mean squared distance from new targets, whose variance is `noise`.

    Examples
    --------
    Two fits say 1 and 3 where 5 is right.

    >>> parts = squared_error(np.array([[1.0], [3.0]]), np.array([5.0]), np.array([0.0]))
    >>> parts.error, parts.bias, parts.variance
    (array([10.]), array([9.]), array([1.]))
    """
    main = answers.mean(axis=0)
    variance = ((answers - main) ** 2).mean(axis=0)
    error = ((answers - truth) ** 2).mean(axis=0) + noise
    return Parts(error, (main - truth) ** 2, variance, noise, np.zeros(len(main)))


def kohavi_wolpert(answers: AnyArray, truth: FloatArray) -> Parts:
    """The error of classes by Kohavi and Wolpert: half of squared distances of probabilities.

    Examples
    --------
    Of four fits, three name the right class.

    >>> parts = kohavi_wolpert(np.array([[0], [0], [0], [1]]), np.array([[1.0, 0.0]]))
    >>> parts.error, parts.bias, parts.variance
    (array([0.25]), array([0.0625]), array([0.1875]))
    """
    named = shares_of_classes(answers, truth.shape[1])
    error = 1 - (named * truth).sum(axis=1)
    bias = ((named - truth) ** 2).sum(axis=1) / 2
    variance, noise = ((1 - (shares**2).sum(axis=1)) / 2 for shares in (named, truth))
    return Parts(error, bias, variance, noise, np.zeros(len(error)))


def domingos(answers: AnyArray, truth: FloatArray) -> Parts:
    """The error of classes by Domingos: is the class that most fits name another than the best one?

    Where it is the best one, variance is the share of fits that name another. Where it is not, fits that name the best
    class make the error less, and their share is negative variance. Noise is what is left.

    Examples
    --------
    Of four fits, three name the wrong class of the first row and the right one of the second.

    >>> parts = domingos(np.array([[1, 0], [1, 0], [1, 0], [0, 1]]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    >>> parts.error, parts.bias, parts.variance
    (array([0.75, 0.25]), array([1., 0.]), array([-0.25,  0.25]))
    """
    named = shares_of_classes(answers, truth.shape[1])
    rows = np.arange(len(named))
    best, main = truth.argmax(axis=1), named.argmax(axis=1)
    bias = (best != main).astype(np.float64)
    helping = bias * named[rows, best]
    hurting = (1 - bias) * (1 - named[rows, main])
    error = 1 - (named * truth).sum(axis=1)
    return Parts(error, bias, hurting - helping, error - (1 - named[rows, best]), helping)


def shares_of_classes(answers: AnyArray, n_classes: int) -> FloatArray:
    """Which share of the fits names each class, shape (n_rows, n_classes)."""
    return np.stack([(answers == code).mean(axis=0) for code in range(n_classes)], axis=1)
