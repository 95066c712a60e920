"""Pruning: a fitted ensemble with fewer members, the most useful of them, that are not fitted again.

Both orders of members need nothing but products of predictions, summed over rows once: then a step costs as many
operations as there are members, however many rows there are.
"""

from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from coterie._params import Integer, OneOf, Real, Rule, Share, in_short, unexpected
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.table import check_lengths
from coterie.data.target import read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from coterie.members.member_predictions import MemberPredictions

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


_EXPECTED = "a forest, bagging, voting of means or votes, selection or gradient boosting of coterie"


def prune(
    model: Any,
    X: Any,
    y: Any,
    *,
    to: float | None = None,
    tolerance: float | None = None,
    order: Literal["reduced_error", "margin_distance"] = "reduced_error",
    sample_weight: Any = None,
) -> Any:
    """A fitted ensemble with fewer members: the most useful ones, as they are.

    Members are put in an order by what they are worth on some rows, and the first of them are kept. The rows should be
    new to the ensemble: on rows that members were fitted to, they all look perfect. A few members that are well chosen
    are often as good as all of them, and they predict faster.

    Rounds of boosting build on each other, so their order stays, and the last ones are cut off.

    Parameters
    ----------
    model : a fitted forest, bagging, voting (of means or votes), selection or gradient boosting of coterie
    X, y : rows that the model has not seen, and their targets
    to : int, float or None
        The members to keep: a number, or a share of all. Default None: the number is found by `tolerance`.
    tolerance : float or None
        Instead of `to`: keep as few members as have a loss of at most 1 + tolerance times that of the whole ensemble.
        The loss is the squared error of numbers, or of probabilities against ones and zeros. Default None: the number
        of members with the least loss.
    order : {"reduced_error", "margin_distance"}
        "reduced_error": each member in its turn is the one with which the loss of all so far is least.
        "margin_distance", for classes: the one with which rows come closest to being right by a little, so that
        members which are right about hard rows come first. Default "reduced_error": it looks at the error of the
        members together, and was best or near it in comparisons.
    sample_weight : how often each row counts
        Default None: all rows count alike.

    Returns
    -------
    A new ensemble of the same class; `model` stays as it is. Its `pruning_path_` has `members`, the order of all;
    `losses`, those of the first member, of the first two and so on; and `kept`, how many are left. What was known of
    training rows, out of bag or out of fold, was about all members and is gone.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import RandomForestRegressor, prune
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> y = X[:, 0] + X[:, 1] * X[:, 2]
    >>> forest = RandomForestRegressor(100, random_state=0).fit(X[:300], y[:300])
    >>> small = prune(forest, X[300:450], y[300:450], to=20)
    >>> len(small.forest_), small.score(X[450:], y[450:]) > forest.score(X[450:], y[450:])
    (20, True)

    References
    ----------
    Margineantu and Dietterich, Pruning adaptive boosting (1997); Martinez-Munoz, Hernandez-Lobato and Suarez (2009).
    """
    _check_choices(to, tolerance, order)
    check_is_fitted(model)
    if hasattr(model, "with_rounds"):
        return _with_first_rounds(model, X, y, to, tolerance, order, sample_weight)
    if not hasattr(model, "with_members"):
        raise _not_prunable(model)
    members: MemberPredictions = model.member_predictions(X)
    values, n_rows = members.values, members.values.shape[1]
    weight = _weights(sample_weight, n_rows)
    truth, codes = _truth(model, y, n_rows)
    products = residual_products(values, truth, weight)
    if order == "margin_distance":
        if codes is None:
            raise InvalidParameter.expecting(
                "order='margin_distance' is for classes of one output", "'reduced_error'", "order", order
            )
        places = margin_distance_order(members.codes == codes, weight, members.weights)
    else:
        places = reduced_error_order(products, members.weights)
    losses = losses_along(products, members.weights, places)
    kept = _how_many(losses, to, tolerance, "members")
    pruned = model.with_members(np.sort(places[:kept]))
    pruned.pruning_path_ = Bunch(members=places, losses=losses, kept=kept)
    return pruned


def _not_prunable(model: Any) -> InvalidType:
    how = f" with voting={model.voting!r}" if hasattr(model, "voting") else ""
    return InvalidType.expecting(f"prune received {type(model).__name__}{how}", _EXPECTED, "model", model)


def _check_choices(to: Any, tolerance: Any, order: Any) -> None:
    if (to is None) == (tolerance is None):
        raise InvalidParameter.expecting(
            f"prune(to={in_short(to)}, tolerance={in_short(tolerance)})", "one of to and tolerance", "to", to
        )
    rules: dict[str, tuple[Any, list[Rule]]] = {
        "to": (to, [Integer(1), Share(with_one=True)]),
        "tolerance": (tolerance, [Real(0, None)]),
        "order": (order, [OneOf("reduced_error", "margin_distance")]),
    }
    for name, (value, allowed) in rules.items():
        if value is not None and not any(rule.accepts(value) for rule in allowed):
            expected = " or ".join(rule.describe() for rule in allowed)
            raise unexpected(name, value, expected, owner="prune")


def _how_many(losses: FloatArray, to: Any, tolerance: float | None, what: str) -> int:
    n_members = len(losses)
    if tolerance is not None:
        return int(np.argmax(losses <= (1 + tolerance) * losses[-1])) + 1
    if not Integer().accepts(to):
        return max(1, round(float(to) * n_members))
    if to > n_members:
        raise InvalidParameter.expecting(
            f"prune(to={to}): the ensemble has {n_members} {what}", f"at most {n_members}", "to", to
        )
    return int(to)


def _weights(sample_weight: Any, n_rows: int) -> FloatArray:
    weight = combined_weight(read_weight(sample_weight, n_rows), None)
    return np.ones(n_rows) if weight is None else weight


def _truth(model: Any, y: Any, n_rows: int) -> tuple[FloatArray, AnyArray | None]:
    """What predictions should be, shape (n_rows, n_columns), and the codes of classes where there is one output."""
    name = type(model).__name__
    if not is_classifier(model):
        target = read_target(y, task="regression", estimator_name=name, n_rows=n_rows, multi_output=True)
        return target.values.reshape(n_rows, -1), None
    target = read_target(y, task="classification", estimator_name=name, n_rows=n_rows, multi_output=True)
    known = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    given = target.classes if isinstance(target.classes, list) else [target.classes]
    check_lengths(len(known), len(given))
    codes = target.values.reshape(n_rows, -1)
    columns = [
        _as_known(own, seen, codes[:, i]) for i, (own, seen) in enumerate(zip(known, given, strict=True))
    ]
    blocks = [np.eye(len(own))[code] for own, code in zip(known, columns, strict=True)]
    return np.hstack(blocks), columns[0] if len(columns) == 1 else None


def _as_known(known: AnyArray, given: Any, codes: AnyArray) -> AnyArray:
    """Codes of the model's own classes."""
    unknown = sorted(set(given.tolist()) - set(known.tolist()))
    if unknown:
        raise InvalidInput(
            f"y holds the class {unknown[0]!r}, which the model does not know: {in_short(list(known))}.",
            parameter="y",
            received=unknown[0],
            allowed=in_short(list(known)),
        )
    return np.asarray(np.searchsorted(known, given)[codes])


def _with_first_rounds(
    model: Any, X: Any, y: Any, to: Any, tolerance: Any, order: str, sample_weight: Any
) -> Any:
    """Boosting with its first rounds only."""
    if order != "reduced_error":
        raise InvalidParameter(
            f"order={order!r}: the rounds of boosting keep their order.",
            parameter="order",
            received=order,
            allowed="'reduced_error'",
            hint="Leave it out.",
        )
    stages = model.staged_predict_proba(X) if is_classifier(model) else model.staged_predict(X)
    losses: list[float] = []
    for predictions in stages:
        values = predictions.reshape(len(predictions), -1)
        if not losses:
            weight = _weights(sample_weight, len(values))
            truth, _ = _truth(model, y, len(values))
        if values.shape != truth.shape:
            raise InvalidInput(
                f"prune compares predictions with y, and {type(model).__name__} predicts {values.shape[1]} numbers for "
                f"each row, where y has {truth.shape[1]}.",
                parameter="y",
                received=truth.shape[1],
                allowed=f"{values.shape[1]} columns",
            )
        losses.append(float(weight @ ((values - truth) ** 2).sum(axis=1) / weight.sum()))
    n_rounds = _how_many(np.array(losses), to, tolerance, "rounds")
    pruned = model.with_rounds(n_rounds)
    pruned.pruning_path_ = Bunch(members=np.arange(len(losses)), losses=np.array(losses), kept=n_rounds)
    return pruned
