"""How alike two members are, for every pair of them: matrices of shape (n_members, n_members)."""

from typing import NamedTuple

import numpy as np

from coterie._typing import AnyArray, BoolArray, FloatArray


class Pairs(NamedTuple):
    """From which rows both, one or none of two members are right about; NaN where a measure has no meaning."""

    disagreement: FloatArray
    q_statistic: FloatArray
    correlation: FloatArray
    double_fault: FloatArray


def pairs_of(right: BoolArray, weight: FloatArray) -> Pairs:
    """`right`: shape (n_members, n_rows); `weight`: how often each row counts.

    Examples
    --------
    Of four rows, both members are right about two, and each alone about one.

    >>> right = np.array([[True, True, True, False], [True, True, False, True]])
    >>> found = pairs_of(right, np.ones(4))
    >>> float(found.disagreement[0, 1]), float(found.double_fault[0, 1]), float(found.q_statistic[0, 1])
    (0.5, 0.0, -1.0)
    """
    yes, no = right.astype(np.float64), (~right).astype(np.float64)
    both, first = (yes * weight) @ yes.T, (yes * weight) @ no.T
    second, none = first.T, (no * weight) @ no.T
    ahead, crossed = both * none, first * second
    spread = np.sqrt(np.outer((yes @ weight) * (no @ weight), (yes @ weight) * (no @ weight)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Pairs(
            disagreement=(first + second) / weight.sum(),
            q_statistic=np.where(ahead + crossed > 0, (ahead - crossed) / (ahead + crossed), np.nan),
            correlation=np.where(spread > 0, (ahead - crossed) / spread, np.nan),
            double_fault=none / weight.sum(),
        )


def agreement_beyond_chance(codes: AnyArray, n_classes: int, weight: FloatArray) -> FloatArray:
    """Cohen's kappa of the predictions of two members: 1 if they always agree, 0 if no more than by chance.

    Examples
    --------
    >>> agreement_beyond_chance(np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), 2, np.ones(4))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    agree = np.zeros((len(codes), len(codes)))
    chance = np.zeros_like(agree)
    for code in range(n_classes):
        named = (codes == code).astype(np.float64)
        agree += (named * weight) @ named.T
        chance += np.outer(named @ weight, named @ weight)
    total = weight.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(chance < total**2, (agree * total - chance) / (total**2 - chance), np.nan)


def correlations(values: FloatArray, share: FloatArray) -> FloatArray:
    """Pearson's correlation of the rows of `values`; NaN for one that does not vary."""
    centred = values - (values @ share)[:, None]
    products = (centred * share) @ centred.T
    spread = np.sqrt(np.outer(np.diag(products), np.diag(products)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, products / spread, np.nan)


def twins_of(alike: FloatArray) -> tuple[AnyArray, FloatArray]:
    """For each member the one that is most like it, and how much; a measure without meaning counts as all alike."""
    others = np.where(np.isnan(alike), 1.0, alike)
    np.fill_diagonal(others, -np.inf)
    twins = others.argmax(axis=1)
    return twins, np.asarray(others[np.arange(len(others)), twins])
