"""The order in which members of a fitted ensemble would best be kept, the most useful first.

Both orders need nothing but products of predictions, summed over rows once: then a step costs as many operations as
there are members, however many rows there are.
"""

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray

_MARGIN = 0.075  # a little on the right side: rows that are right anyway need no more members


def residual_products(predictions: FloatArray, truth: FloatArray, weight: FloatArray) -> FloatArray:
    """For each two members the mean, over rows, of the product of their errors; shape (n_members, n_members)."""
    share = np.sqrt(weight / weight.sum())
    errors = (predictions - truth) * share[:, None]
    flat = errors.reshape(len(predictions), -1)
    return np.asarray(flat @ flat.T)


def reduced_error_order(products: FloatArray, votes: FloatArray) -> RowArray:
    """Begin with the best member, and add the one with which the mean of all so far has the least squared error.

    Parameters
    ----------
    products : what `residual_products` returns
    votes : shape (n_members,), what members weigh in the mean

    Examples
    --------
    Two members err in opposite directions, and the third errs less than either.

    >>> errors = np.array([[2.0], [-2.0], [1.0]])
    >>> reduced_error_order(errors @ errors.T, np.ones(3))
    array([2, 1, 0])
    """
    crossed = products * votes[:, None] * votes
    squares = np.diag(crossed)
    left = np.ones(len(votes), dtype=bool)
    so_far, along, total = 0.0, np.zeros(len(votes)), 0.0
    order = []
    for _ in range(len(votes)):
        losses = (so_far + 2 * along + squares) / np.maximum(total + votes, 1e-300) ** 2
        losses = np.where(left & (votes > 0), losses, np.inf)
        place = int(np.argmin(losses)) if np.isfinite(losses).any() else int(np.argmax(left))
        so_far += 2 * along[place] + squares[place]
        along = along + crossed[place]
        total += votes[place]
        left[place] = False
        order.append(place)
    return np.array(order, dtype=np.int64)


def margin_distance_order(right: AnyArray, weight: FloatArray, votes: FloatArray) -> RowArray:
    """Add the member with which the margins of all rows come closest to a small positive one.

    Parameters
    ----------
    right : bool array of shape (n_members, n_rows), which members are right about which rows
    weight, votes : what rows and members weigh

    References
    ----------
    Martinez-Munoz, Hernandez-Lobato and Suarez, An analysis of ensemble pruning techniques based on ordered aggregation
    (2009).
    """
    share = np.sqrt(weight / weight.sum())
    signs = np.where(right, 1.0, -1.0) * (votes / votes.sum())[:, None] * share
    products, towards = signs @ signs.T, _MARGIN * (signs @ share)
    squares = np.diag(products)
    left, along = np.ones(len(votes), dtype=bool), np.zeros(len(votes))
    order = []
    for _ in range(len(votes)):
        distances = np.where(left, 2 * along + squares - 2 * towards, np.inf)
        place = int(np.argmin(distances))
        along = along + products[place]
        left[place] = False
        order.append(place)
    return np.array(order, dtype=np.int64)


def losses_along(products: FloatArray, votes: FloatArray, order: RowArray) -> FloatArray:
    """The squared error of the first member, of the mean of the first two, and so on.

    Examples
    --------
    >>> errors = np.array([[2.0], [-2.0], [1.0]])
    >>> losses_along(errors @ errors.T, np.ones(3), np.array([2, 1, 0])).round(6)
    array([1.      , 0.25    , 0.111111])
    """
    crossed = (products * votes[:, None] * votes)[np.ix_(order, order)]
    sums = np.diag(np.cumsum(np.cumsum(crossed, axis=0), axis=1))
    return np.asarray(sums / np.cumsum(votes[order]) ** 2)
