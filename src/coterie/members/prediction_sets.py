"""Prediction sets: for each new row the classes that it may well be, missing the true one no more often than allowed.

A score measures how strange a class looks for a row. On training rows that were held out the score of the
true class is known, and a set holds every class that looks no stranger than most of those did (split conformal
prediction with rows out of bag or out of fold in place of a holdout).

Methods
  "threshold"  the score is 1 minus the probability of the class: the smallest sets on average, but rows that are easy
               get fewer classes than they should and rows that are hard more
  "adaptive"   the score is the probability of all more probable classes and half of its own: larger sets, more even
"""

import math
from typing import Any, Literal, TypeAlias

import numpy as np

from coterie._params import OneOf, Real, in_short
from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.intervals import conformal_quantile

SetMethod: TypeAlias = Literal["threshold", "adaptive"]

_DIGITS = 12  # means of the same probabilities in another order differ after these


def set_threshold(
    oob_proba: FloatArray,
    y_codes: AnyArray,
    weight: FloatArray | None,
    alpha: float,
    method: SetMethod = "threshold",
) -> float:
    """The score up to which a class belongs to the set of a new row.

    Rows of `oob_proba` that were never out of bag are NaN, and left out. Infinity if there are too few rows for this
    alpha: then every class is in every set.

    Examples
    --------
    Four rows, whose own class had the probabilities 0.9, 0.8, 0.7 and 0.4.

    >>> proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> set_threshold(proba, np.array([0, 0, 1, 1]), None, alpha=0.4)
    0.3
    >>> set_threshold(proba, np.array([0, 0, 1, 1]), None, alpha=0.1)
    inf

    Notes
    -----
    Of n rows, the ceil((1 - alpha) (n + 1))-th smallest score: the new row counts too, and its score is not known. With
    weights, it counts as much as the average row with a weight.

    References
    ----------
    Sadinle, Lei and Wasserman, Least ambiguous set-valued classifiers with bounded error levels (2019), for
    "threshold"; Romano, Sesia and Candes, Classification with valid and adaptive coverage (2020), for "adaptive",
    with one half in place of their random number. With the whole, rows that are certain would have the score 1, and
    sets every class.
    """
    check_alpha(alpha)
    oob_proba, y_codes = np.asarray(oob_proba, np.float64), np.asarray(y_codes)
    known = _check_training(oob_proba, y_codes, weight)
    weights = np.ones(len(known)) if weight is None else np.asarray(weight, np.float64)[known]
    scores = _scores(oob_proba[known], method)[np.arange(len(known)), y_codes[known]]
    return conformal_quantile(scores, weights, alpha)


def prediction_sets(
    proba: FloatArray, threshold: float, method: SetMethod = "threshold", *, allow_empty: bool = False
) -> BoolArray:
    """Which classes belong to the set of each row.

    Where no class is within the threshold of `set_threshold`, the set is empty if `allow_empty`, or holds the most
    probable class.

    Examples
    --------
    >>> proba = np.array([[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]])
    >>> prediction_sets(proba, 0.7)
    array([[ True,  True, False],
           [ True, False, False]])
    >>> prediction_sets(proba, 0.7, "adaptive")
    array([[ True,  True, False],
           [ True, False, False]])
    """
    proba = np.asarray(proba, np.float64)
    _check_proba("proba", proba, proba)
    if not isinstance(threshold, float | int | np.floating) or math.isnan(threshold):
        raise InvalidParameter(
            f"threshold={in_short(threshold)}: expected a number, as set_threshold returns it."
        )
    sets = _scores(proba, method) <= threshold
    if not allow_empty:
        empty = np.flatnonzero(~sets.any(axis=1))
        sets[empty, proba[empty].argmax(axis=1)] = True
    return np.asarray(sets)


def _scores(proba: FloatArray, method: str) -> FloatArray:
    """How strange each class looks for each row."""
    rule = OneOf("threshold", "adaptive")
    if not rule.accepts(method):
        raise InvalidParameter(f"method={in_short(method)}: expected {rule.describe()}.")
    if method == "threshold":
        return np.round(1 - proba, _DIGITS)
    order = np.argsort(-proba, axis=1, kind="stable")
    scores = np.empty_like(proba)
    np.put_along_axis(scores, order, np.cumsum(np.take_along_axis(proba, order, axis=1), axis=1), axis=1)
    return np.round(scores - proba / 2, _DIGITS)


def _check_training(oob_proba: FloatArray, y_codes: AnyArray, weight: Any) -> AnyArray:
    """Rows that were out of bag and have a weight."""
    known = ~np.isnan(oob_proba).any(axis=-1)
    _check_proba("oob_proba", oob_proba, oob_proba[known])
    n_rows, n_classes = oob_proba.shape
    if y_codes.shape != (n_rows,) or y_codes.dtype.kind not in "iu":
        raise InvalidInput(
            f"y_codes hold {y_codes.dtype} of shape {y_codes.shape}; expected whole numbers of shape ({n_rows},)."
        )
    if n_rows and not (y_codes.min() >= 0 and y_codes.max() < n_classes):
        raise InvalidInput(
            f"y_codes go from {y_codes.min()} to {y_codes.max()}; expected numbers of the {n_classes} classes, from 0."
        )
    if weight is not None:
        values = np.asarray(weight, np.float64)
        if values.shape != (n_rows,) or not (np.isfinite(values) & (values >= 0)).all():
            raise InvalidInput(
                f"weight={in_short(weight)}: expected a finite number >= 0 for each of the {n_rows} rows."
            )
        known &= values > 0
    if not known.any():
        raise InvalidInput("No row with a weight was out of bag, so that no threshold can be found.")
    return np.flatnonzero(known)


def _check_proba(name: str, proba: FloatArray, checked: FloatArray) -> None:
    if proba.ndim != 2 or proba.shape[1] == 0:
        raise InvalidInput(f"{name} has the shape {proba.shape}; expected (n_rows, n_classes).")
    good = (checked >= 0).all(axis=1) & (np.abs(checked.sum(axis=1) - 1) < 1e-6)
    if not good.all():
        raise InvalidInput(
            f"{name} has a row {in_short(checked[np.argmin(good)])}; expected probabilities >= 0 that add up to 1."
        )


def check_alpha(alpha: float) -> None:
    """How often an interval or a set may miss must be a number between 0 and 1."""
    rule = Real(0, 1, closed="neither")
    if not rule.accepts(alpha):
        raise InvalidParameter(f"alpha={in_short(alpha)}: expected {rule.describe()}.")
