"""Conformal sets by their definition: a class is in if enough training rows look at least as strange."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def naive_score(proba: NDArray, code: int, method: str) -> float:
    if method == "threshold":
        return round(1 - proba[code], 9)
    before = [k for k in range(len(proba)) if (-proba[k], k) < (-proba[code], code)]
    return round(sum(proba[k] for k in before) + proba[code] / 2, 9)


def naive_set(
    oob_proba: NDArray, y_codes: NDArray, weight: NDArray, proba: NDArray, alpha: Fraction, method: str
) -> list[bool]:
    """A class is left out if rows that look less strange than it hold 1 - alpha of the weight, the new row counted.

    The weight of the new row is the average of those that are not zero, and its score is taken as infinite.
    """
    known = [i for i in range(len(y_codes)) if weight[i] > 0 and not np.isnan(oob_proba[i]).any()]
    scores = [naive_score(oob_proba[i], y_codes[i], method) for i in known]
    weights = [Fraction(float(weight[i])) for i in known]
    total = sum(weights) + sum(weights) / len(weights)
    chosen = []
    for code in range(len(proba)):
        own = naive_score(proba, code, method)
        less_strange = sum(w for w, score in zip(weights, scores, strict=True) if score < own)
        chosen.append(less_strange < (1 - alpha) * total)
    return chosen
