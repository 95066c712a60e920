"""Pruning: a fitted ensemble with fewer members, the most useful of them, that are not fitted again."""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

import coterie._engine as _engine
from coterie._params import OneOf, Real, Whole, in_short
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.bagging._base import BaggingBase
from coterie.boosting._base import BaseGradientBoosting
from coterie.combining._pruning_order import (
    losses_along,
    margin_distance_order,
    reduced_error_order,
    residual_products,
)
from coterie.combining._selection_base import SelectionBase
from coterie.combining._voting_base import VotingBase
from coterie.data.target import check_lengths, read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from coterie.fitting.fitted_state import forget
from coterie.forests.base import ForestBase
from coterie.members.named_members import OUT_OF_FOLD_FITTED
from coterie.trees.limits import Share

__all__ = ["prune"]


def prune(
    model: Any,
    X: Any,
    y: Any,
    *,
    to: float | None = None,
    tolerance: float | None = None,
    order: str = "reduced_error",
    sample_weight: Any = None,
) -> Any:
    """A fitted ensemble with fewer members: the most useful ones, as they are.

    Members are put in an order by what they are worth on some rows, and the first of them are kept. The rows should be
    new to the ensemble: on rows that members were fitted to, they all look perfect. A few members that are well chosen
    are often as good as all of them, and they answer faster.

    Rounds of boosting build on each other, so their order stays, and the last ones are cut off.

    Parameters
    ----------
    model : a fitted forest, bagging, voting (of means or votes), selection or gradient boosting of coterie
    X, y : rows that the model has not seen, and their targets
    to : int, float or None
        The members to keep: a number, or a share of all.
    tolerance : float or None
        Instead of `to`: keep as few members as have a loss of at most 1 + tolerance times that of the whole ensemble.
        The loss is the squared error of numbers, or of probabilities against ones and zeros.
    order : {"reduced_error", "margin_distance"}
        "reduced_error": each member in its turn is the one with which the loss of all so far is least.
        "margin_distance", for classes: the one that brings rows closest to being right by a little, so that members
        which are right about hard rows come first.
    sample_weight : how often each row counts

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
    if isinstance(model, BaseGradientBoosting):
        return _shortened(model, X, y, to, tolerance, order, sample_weight)
    ensemble = _ensemble_of(model)
    said = ensemble.answers(X)
    weight = _weights(sample_weight, said.shape[1])
    truth, codes = _truth(model, y, said.shape[1])
    products = residual_products(said, truth, weight)
    if order == "margin_distance":
        if codes is None:
            raise InvalidParameter(
                "order='margin_distance' is for classes of one output; expected 'reduced_error' here."
            )
        places = margin_distance_order(said.argmax(axis=2) == codes, weight, ensemble.votes)
    else:
        places = reduced_error_order(products, ensemble.votes)
    losses = losses_along(products, ensemble.votes, places)
    kept = _how_many(losses, to, tolerance, "members")
    pruned = ensemble.keep(np.sort(places[:kept]))
    pruned.pruning_path_ = Bunch(members=places, losses=losses, kept=kept)
    return pruned


def _check_choices(to: Any, tolerance: Any, order: Any) -> None:
    if (to is None) == (tolerance is None):
        raise InvalidParameter(
            f"prune(to={in_short(to)}, tolerance={in_short(tolerance)}): expected one of the two."
        )
    rules = {
        "to": (to, [Whole(1), Share(with_one=True)]),
        "tolerance": (tolerance, [Real(0, None)]),
        "order": (order, [OneOf("reduced_error", "margin_distance")]),
    }
    for name, (value, allowed) in rules.items():
        if value is not None and not any(rule.accepts(value) for rule in allowed):  # type: ignore[attr-defined]
            expected = " or ".join(rule.describe() for rule in allowed)  # type: ignore[attr-defined]
            raise InvalidParameter(f"prune({name}={in_short(value)}): expected {expected}.")


def _how_many(losses: FloatArray, to: Any, tolerance: float | None, what: str) -> int:
    n_members = len(losses)
    if tolerance is not None:
        return int(np.argmax(losses <= (1 + tolerance) * losses[-1])) + 1
    if not Whole().accepts(to):
        return max(1, round(float(to) * n_members))
    if to > n_members:
        raise InvalidParameter(
            f"prune(to={to}): the ensemble has {n_members} {what}; expected no more than that."
        )
    return int(to)


@dataclass(frozen=True)
class _Ensemble:
    """An ensemble that answers with a mean: what members say, what they weigh, and how some of them are kept."""

    answers: Callable[[Any], FloatArray]
    votes: FloatArray
    keep: Callable[[RowArray], Any]


def _ensemble_of(model: Any) -> _Ensemble:
    if isinstance(model, ForestBase):
        n_trees = len(model.forest_)
        return _Ensemble(
            lambda X: np.concatenate([own for _, own in model._answers_of(X)]).transpose(1, 0, 2),
            np.ones(n_trees),
            lambda places: _fewer_trees(model, places),
        )
    if isinstance(model, BaggingBase):
        return _Ensemble(
            lambda X: np.stack(list(model._answers_of(X))),
            np.ones(len(model.estimators_)),
            lambda places: _fewer_copies(model, places),
        )
    if isinstance(model, VotingBase) and model.voting in ("soft", "hard", "mean"):
        return _Ensemble(model._stacked, model.weights_, lambda places: _fewer_voters(model, places))
    if isinstance(model, SelectionBase):
        return _Ensemble(model._stacked, model._shares, lambda places: _fewer_chosen(model, places))
    how = f" with voting={model.voting!r}" if isinstance(model, VotingBase) else ""
    raise InvalidType(
        f"prune received {type(model).__name__}{how}; expected a forest, bagging, voting of means or votes, "
        "selection or gradient boosting of coterie."
    )


def _copy_without(model: Any, names: Iterable[str]) -> Any:
    pruned = copy.copy(model)
    forget(pruned, names)
    return pruned


def _fewer_trees(forest: Any, places: RowArray) -> Any:
    importances = np.stack([forest.estimators_[int(place)].feature_importances_ for place in places])
    pruned = _copy_without(forest, ("oob_score_", "_trace", "_leaf_targets"))
    pruned.forest_ = _packed(forest.forest_, set(places.tolist()))
    pruned.n_estimators_ = len(places)
    pruned._oob, pruned._memories = None, None
    pruned._importance_sum = importances.sum(axis=0)
    return pruned


def _packed(forest: _engine.PackedForest, places: set[int]) -> _engine.PackedForest:
    state = forest.__getstate__()
    groves, first = [], 0
    for thresholds, trees in state["groves"]:
        kept = [tree for number, tree in enumerate(trees, start=first) if number in places]
        first += len(trees)
        if kept:
            groves.append((thresholds, kept))
    packed = _engine.PackedForest.__new__(_engine.PackedForest)
    packed.__setstate__({**state, "groves": groves})
    return packed


def _fewer_copies(bagging: Any, places: RowArray) -> Any:
    pruned = _copy_without(bagging, ("oob_score_", "_trace"))
    for name in ("estimators_", "estimators_features_", "_numbers", "_columns"):
        setattr(pruned, name, [getattr(bagging, name)[place] for place in places])
    pruned.n_estimators_, pruned._oob, pruned._trees = len(places), None, None
    return pruned


def _fewer_named(model: Any, places: RowArray) -> Any:
    pruned = _copy_without(model, OUT_OF_FOLD_FITTED)
    pruned.estimators_ = [model.estimators_[place] for place in places]
    pruned._asked = [model._asked[place] for place in places]
    names = {member.name for member, _ in pruned._asked}
    pruned.named_estimators_ = Bunch(
        **{name: own if name in names else "drop" for name, own in model.named_estimators_.items()}
    )
    return pruned


def _fewer_voters(voting: Any, places: RowArray) -> Any:
    pruned = _fewer_named(voting, places)
    pruned._crossed = None
    pruned.weights_ = voting.weights_[places] / voting.weights_[places].sum()
    pruned._weights = None if voting._weights is None else voting._weights[places]
    return pruned


def _fewer_chosen(selection: Any, places: RowArray) -> Any:
    pruned = _fewer_named(selection, places)
    pruned._shares = selection._shares[places] / selection._shares[places].sum()
    names = [member.name for member, _ in pruned._asked]
    pruned.weights_ = np.zeros(len(selection.candidates_))
    pruned.weights_[[selection.candidates_.index(name) for name in names]] = pruned._shares
    return pruned


def _weights(sample_weight: Any, n_rows: int) -> FloatArray:
    weight = combined_weight(read_weight(sample_weight, n_rows), None)
    return np.ones(n_rows) if weight is None else weight


def _truth(model: Any, y: Any, n_rows: int) -> tuple[FloatArray, AnyArray | None]:
    """What answers should be, shape (n_rows, n_columns), and the codes of classes where there is one output."""
    task, name = model._task, type(model).__name__
    target = read_target(y, task=task, estimator_name=name, n_rows=n_rows, multi_output=True)
    if task == "regression":
        return target.values.reshape(n_rows, -1), None
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
            f"y holds the class {unknown[0]!r}, which the model does not know: {in_short(list(known))}."
        )
    return np.asarray(np.searchsorted(known, given)[codes])


def _shortened(model: Any, X: Any, y: Any, to: Any, tolerance: Any, order: str, sample_weight: Any) -> Any:
    """Boosting with its first rounds only."""
    if order != "reduced_error":
        raise InvalidParameter(f"order={order!r}: the rounds of boosting keep their order; leave it out.")
    stages = model.staged_predict_proba(X) if model._task == "classification" else model.staged_predict(X)
    losses: list[float] = []
    for said in stages:
        said = said.reshape(len(said), -1)
        if not losses:
            weight = _weights(sample_weight, len(said))
            truth, _ = _truth(model, y, len(said))
        if said.shape != truth.shape:
            raise InvalidInput(
                f"prune compares answers with y, and {type(model).__name__} gives {said.shape[1]} numbers for each "
                f"row, where y has {truth.shape[1]}."
            )
        losses.append(float(weight @ ((said - truth) ** 2).sum(axis=1) / weight.sum()))
    n_rounds = _how_many(np.array(losses), to, tolerance, "rounds")
    pruned = _copy_without(
        model, ("_trace", "_as_grown", "oob_score_", "oob_prediction_", "oob_decision_function_")
    )
    pruned.forest_ = copy.deepcopy(model.forest_)
    n_trees = sum(int((model.rounds_ > number).sum()) for number in range(n_rounds))
    pruned.forest_.truncate(n_trees * model.forest_.n_outputs)
    pruned.rounds_ = np.minimum(model.rounds_, n_rounds)
    pruned.n_estimators_ = n_rounds
    pruned.pruning_path_ = Bunch(members=np.arange(len(losses)), losses=np.array(losses), kept=n_rounds)
    return pruned
