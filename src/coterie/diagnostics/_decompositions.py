"""Error as bias, variance and noise: the formulas, on arrays of what repeated fits predict.

Words
  predictions  of all fits, shape (n_fits, n_rows): numbers, or codes of classes
  truth        what is right on average: numbers, or the probability of each class, shape (n_rows, n_classes)
  main         the prediction that stands for all fits: their mean, or the class that most of them predict
Each function returns parts by row, and `error = bias + variance + noise` holds for each row.
"""

from typing import NamedTuple

import numpy as np

from coterie._typing import AnyArray, FloatArray


class Parts(NamedTuple):
    """By row. Variance is what it adds to the error: where most fits are wrong it may take away (`helping`)."""

    error: FloatArray
    bias: FloatArray
    variance: FloatArray
    noise: FloatArray
    helping: FloatArray


def squared_error(predictions: FloatArray, truth: FloatArray, noise: FloatArray) -> Parts:
    """The mean squared distance from new targets, whose variance is `noise`.

    Examples
    --------
    Two fits predict 1 and 3 where 5 is right.

    >>> parts = squared_error(np.array([[1.0], [3.0]]), np.array([5.0]), np.array([0.0]))
    >>> parts.error, parts.bias, parts.variance
    (array([10.]), array([9.]), array([1.]))
    """
    main = predictions.mean(axis=0)
    variance = ((predictions - main) ** 2).mean(axis=0)
    error = ((predictions - truth) ** 2).mean(axis=0) + noise
    return Parts(error, (main - truth) ** 2, variance, noise, np.zeros(len(main)))


def kohavi_wolpert(predictions: AnyArray, truth: FloatArray) -> Parts:
    """The error of classes by Kohavi and Wolpert: half of squared distances of probabilities.

    Examples
    --------
    Of four fits, three predict the right class.

    >>> parts = kohavi_wolpert(np.array([[0], [0], [0], [1]]), np.array([[1.0, 0.0]]))
    >>> parts.error, parts.bias, parts.variance
    (array([0.25]), array([0.0625]), array([0.1875]))
    """
    shares_of_fits = shares_of_classes(predictions, truth.shape[1])
    error = 1 - (shares_of_fits * truth).sum(axis=1)
    bias = ((shares_of_fits - truth) ** 2).sum(axis=1) / 2
    variance, noise = ((1 - (shares**2).sum(axis=1)) / 2 for shares in (shares_of_fits, truth))
    return Parts(error, bias, variance, noise, np.zeros(len(error)))


def domingos(predictions: AnyArray, truth: FloatArray) -> Parts:
    """The error of classes by Domingos: is the class that most fits predict another than the best one?

    Where it is the best one, variance is the share of fits that predict another. Where it is not, fits that predict the
    best class make the error less, and their share is negative variance. Noise is what is left.

    Examples
    --------
    Of four fits, three predict the wrong class of the first row and the right one of the second.

    >>> parts = domingos(np.array([[1, 0], [1, 0], [1, 0], [0, 1]]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    >>> parts.error, parts.bias, parts.variance
    (array([0.75, 0.25]), array([1., 0.]), array([-0.25,  0.25]))
    """
    shares_of_fits = shares_of_classes(predictions, truth.shape[1])
    rows = np.arange(len(shares_of_fits))
    best, main = truth.argmax(axis=1), shares_of_fits.argmax(axis=1)
    bias = (best != main).astype(np.float64)
    helping = bias * shares_of_fits[rows, best]
    hurting = (1 - bias) * (1 - shares_of_fits[rows, main])
    error = 1 - (shares_of_fits * truth).sum(axis=1)
    return Parts(error, bias, hurting - helping, error - (1 - shares_of_fits[rows, best]), helping)


def shares_of_classes(predictions: AnyArray, n_classes: int) -> FloatArray:
    """Which share of the fits predicts each class, shape (n_rows, n_classes)."""
    return np.stack([(predictions == code).mean(axis=0) for code in range(n_classes)], axis=1)
