"""Is a feature worth anything? What its permutation costs the trees of a forest, put to a test."""

import numpy as np
from scipy import stats
from sklearn.utils import Bunch

from coterie._typing import FloatArray
from coterie.errors import InvalidInput


def importance_test(increases: FloatArray) -> Bunch:
    """Mean, spread and p-value of the importance of each feature.

    Parameters
    ----------
    increases : float array of shape (n_trees, n_features), how much the out-of-bag error of each tree grows when a
        feature is permuted; NaN or 0 where the tree does not use the feature

    Returns
    -------
    Bunch of float arrays of shape (n_features,), named as scikit-learn's `permutation_importance` does
        importances_mean : the mean over all trees; those that do not use a feature count as 0
        importances_std : the standard deviation over trees
        standard_error : of the mean, importances_std / sqrt(n_trees)
        z : the mean in standard errors; 0 if all increases are 0
        p_value : the chance of a normal number above z, 1 if the mean is not above 0 and nothing varies
        importances : the increases, shape (n_features, n_trees), without NaN

    Examples
    --------
    >>> test = importance_test(np.array([[3.0, np.nan], [2.0, 1.0], [4.0, -1.0], [3.0, np.nan]]))
    >>> test.importances_mean, test.z.round(2), test.p_value.round(3)
    (array([3., 0.]), array([7.35, 0.  ]), array([0. , 0.5]))

    Notes
    -----
    The test is one-sided: the mean increase is not above zero, against that it is. It assumes that trees are
    independent and many enough for their mean to be normal. Trees share their training rows, so their increases are
    alike, the true spread is larger than this one, and p-values are too small; more trees make them smaller still. It
    is a tool for screening: a feature with a large p-value can go, one with a small p-value deserves a closer look. It
    says nothing about a feature whose knowledge others share.
    """
    values = np.asarray(increases, dtype=np.float64)
    if values.ndim != 2 or len(values) < 2 or np.isinf(values).any():
        raise InvalidInput(
            f"increases have the shape {values.shape}"
            f"{' and hold infinity' if np.isinf(values).any() else ''}; expected finite numbers or NaN of shape "
            "(n_trees, n_features), with two trees at least."
        )
    importances = np.nan_to_num(values.T, nan=0.0)
    mean, std = importances.mean(axis=1), importances.std(axis=1, ddof=1)
    # Equal numbers have a mean that may miss them by a rounding error, and with it a spread.
    constant = (importances == importances[:, :1]).all(axis=1)
    mean[constant], std[constant] = importances[constant, 0], 0.0
    standard_error = std / np.sqrt(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(constant & (mean == 0), 0.0, mean / standard_error)
    p_value = np.where(constant & (mean <= 0), 1.0, stats.norm.sf(z))
    return Bunch(
        importances_mean=mean,
        importances_std=std,
        standard_error=standard_error,
        z=z,
        p_value=p_value,
        importances=importances,
    )
