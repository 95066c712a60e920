"""From out-of-fold predictions to weights, to a temperature, and to a nested score of both.

Weights and temperature are chosen by rows held out, and so they fit these rows a little. To score them, they are
chosen once more for each fold, without its rows, and applied to its rows: no row is scored by numbers that it helped to
choose. What is left in favour of the committee is the yes or no of the temperature; what is against it is that a row
out of fold is predicted by one model of each member, and a new row by the mean of all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from coterie._storage import expect, storable
from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie._value_types import FLOAT_VECTOR, NONE, array, instance, list_of
from coterie.combining.greedy import GreedyOptions, Path, greedy_path, shares
from coterie.committee.metrics import LogLossMetric, Metric, RowTargets, mean_with_error
from coterie.members.out_of_fold import Fold

_MOST_ROWS_OF_TEMPERATURE = 10_000  # it is one number
_PRIOR_ROWS = 100.0  # how many rows the prior counts as
_LEAST = float(np.finfo(np.float64).eps)


def _verify_predictions(oof: Any) -> None:
    n_rows = len(oof.known)
    same = oof.predictions.shape[1] == n_rows == len(oof.rows.truth) == len(oof.rows.weight)
    expect(same, "has predictions for other rows than those that are known")
    inside = all(
        len(rows) == 0 or 0 <= rows.min() <= rows.max() < n_rows
        for fold in oof.folds
        for rows in (fold.train, fold.test)
    )
    expect(inside, "has folds of rows that do not exist")
    expect(oof.costs is None or len(oof.costs) == len(oof.predictions), "has costs of other members")


@storable(
    "committee.Answers",
    {
        "predictions": array("f", 3),
        "rows": instance(RowTargets),
        "known": array("b", 1),
        "folds": list_of(instance(Fold)),
        "costs": FLOAT_VECTOR | NONE,
    },
    optional=["costs"],
    verify=_verify_predictions,
)
@dataclass(frozen=True)
class OutOfFoldPredictions:
    """What all members predict out of fold, and the true targets.

    Attributes
    ----------
    predictions : float array of shape (n_members, n_rows, n_columns)
    rows : the targets
    known : bool array of shape (n_rows,), the rows that were held out and have weight
    costs : the share of `max_predict_time` that each member takes; those with weight take 1 at most. None: no limit
    """

    predictions: FloatArray
    rows: RowTargets
    known: BoolArray
    folds: Sequence[Fold]
    costs: FloatArray | None = None

    def of_known(self) -> "OutOfFoldPredictions":
        """The known rows alone, counted anew."""
        places = np.cumsum(self.known) - 1
        folds = [
            Fold(places[fold.train[self.known[fold.train]]], places[fold.test[self.known[fold.test]]])
            for fold in self.folds
        ]
        every = np.ones(int(self.known.sum()), dtype=bool)
        return OutOfFoldPredictions(
            self.predictions[:, self.known], self.rows.take(self.known), every, folds, self.costs
        )

    def without(self, member: int) -> "OutOfFoldPredictions":
        costs = None if self.costs is None else np.delete(self.costs, member)
        return replace(self, predictions=np.delete(self.predictions, member, axis=0), costs=costs)

    def affordable(self) -> list[int]:
        """Members that may have weight: those within the limit, or the cheapest if there is none."""
        members = list(range(len(self.predictions)))
        if self.costs is None:
            return members
        return [member for member in members if self.costs[member] <= 1.0] or [int(np.argmin(self.costs))]

    def takes(self, weights: FloatArray, prior: int) -> bool:
        """Whether the prior member may be among those with weight."""
        return (
            self.costs is None or float(self.costs[(weights > 0) | _only(prior, len(weights))].sum()) <= 1.0
        )


@dataclass(frozen=True)
class WeightChoice:
    """Weights, temperature, and predictions of the committee for rows that had no part in choosing them.

    The temperature is that of one model for each member. The mean of several models is less certain than each of them,
    so that for it a temperature above 1 goes too far, and `nested` was made without.
    It has the shape (n_rows, n_columns), and NaN where a row was never held out.
    """

    weights: FloatArray
    temperature: float
    nested: FloatArray
    n_iter: int


def weights_of(
    metric: Metric, oof: OutOfFoldPredictions, mask: AnyArray, max_iter: int, prior: int | None = None
) -> FloatArray:
    """Greedy weights on some rows, of very many on some that are evenly spaced; shrunk to the `prior` member."""
    return _shrunk_to_prior(_path(metric, oof, mask, max_iter), oof, mask, prior)


def _shrunk_to_prior(path: Path, oof: OutOfFoldPredictions, mask: AnyArray, prior: int | None) -> FloatArray:
    """Weights that lean towards one member, as if a hundred rows more had been in favour of it."""
    weights = shares(path, len(oof.predictions))
    if prior is None or not oof.takes(weights, prior):
        return weights
    weights = weights * (1.0 - prior_weight(float(oof.rows.weight[mask].sum())))
    weights[prior] += 1.0 - weights.sum()
    return weights


def prior_weight(mass: float) -> float:
    """The least weight of the member that weights lean towards, by the sum of the rows' weights.

    Examples
    --------
    >>> prior_weight(400.0), prior_weight(900.0)
    (0.2, 0.1)
    """
    return _PRIOR_ROWS / (mass + _PRIOR_ROWS)


def _path(metric: Metric, oof: OutOfFoldPredictions, mask: AnyArray, max_iter: int) -> Path:
    candidates = oof.affordable()
    if len(candidates) == 1:
        return Path(candidates, [0.0])
    rows = _evenly_spaced(mask, metric.most_rows)
    library = oof.predictions[:, rows]
    evaluator = metric.evaluator(library, oof.rows.take(rows))

    def among(some: Sequence[int]) -> Path:
        options = GreedyOptions(max_iter, n_iter_no_change=10, costs=oof.costs)
        return greedy_path(library, evaluator, some, options)

    path = among(candidates)
    while oof.costs is not None and len(candidates) > 1:
        # A dear member that is best alone may leave no time for several that are better together.
        costs = oof.costs
        dearest = max(set(path.members), key=lambda member: (costs[member], -member))
        candidates = [member for member in candidates if member != dearest]
        other = among(candidates)
        if max(other.scores) <= max(path.scores):
            break
        path = other
    return path


def _only(member: int, n_members: int) -> BoolArray:
    return np.asarray(np.arange(n_members) == member)


def _evenly_spaced(mask: AnyArray, most: int) -> AnyArray:
    rows = np.flatnonzero(mask)
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def choose_weights(
    metric: Metric, oof: OutOfFoldPredictions, max_iter: int, *, calibrates: bool, prior: int | None = None
) -> WeightChoice:
    """Weights and temperature from all rows held out, and nested predictions."""
    known = oof.of_known()
    path = _path(metric, known, known.known, max_iter)
    weights = _shrunk_to_prior(path, known, known.known, prior)
    nested = _nested(metric, known, max_iter, prior, calibrates=calibrates)
    temperature = _temperature(weights, known, known.known) if nested.is_calibrated else 1.0
    predictions = _mixed(weights, known.predictions) if nested.predictions is None else nested.predictions
    return WeightChoice(weights, temperature, _in_all_rows(predictions, oof), len(path.members))


def nested_predictions(
    metric: Metric, oof: OutOfFoldPredictions, max_iter: int, *, calibrates: bool, prior: int | None = None
) -> FloatArray:
    """The nested predictions of `choose_weights` alone."""
    known = oof.of_known()
    found = _nested(metric, known, max_iter, prior, calibrates=calibrates).predictions
    if found is None:
        found = _mixed(weights_of(metric, known, known.known, max_iter, prior), known.predictions)
    return _in_all_rows(found, oof)


def _in_all_rows(of_known: FloatArray, oof: OutOfFoldPredictions) -> FloatArray:
    nested = np.full(oof.predictions.shape[1:], np.nan)
    nested[oof.known] = of_known
    return nested


@dataclass(frozen=True)
class _Nested:
    """Predictions with NaN where a row was never held out, or None if there are no rows to choose without a fold."""

    predictions: FloatArray | None
    is_calibrated: bool = False


def _nested(
    metric: Metric, oof: OutOfFoldPredictions, max_iter: int, prior: int | None, *, calibrates: bool
) -> _Nested:
    """Each fold by weights, and perhaps a temperature, that were chosen without it."""
    plain, calibrated, sharpened = (np.zeros(oof.predictions.shape[1:]) for _ in range(3))
    times = np.zeros(len(oof.known), dtype=np.int64)
    for fold in oof.folds:
        others = np.zeros(len(times), dtype=bool)
        others[fold.train] = True
        others &= oof.known
        if not others.any():
            continue
        own = weights_of(metric, oof, others, max_iter, prior)
        mixed = _mixed(own, oof.predictions[:, fold.test])
        plain[fold.test] += mixed
        if calibrates:
            temperature = _temperature(own, oof, others)
            calibrated[fold.test] += apply_temperature(mixed, temperature)
            sharpened[fold.test] += apply_temperature(mixed, min(1.0, temperature))
        times[fold.test] += 1
    scored = (times > 0) & oof.known
    if not scored.any():  # one fold alone
        return _Nested(None)
    with np.errstate(invalid="ignore", divide="ignore"):
        plain, calibrated, sharpened = (each / times[:, None] for each in (plain, calibrated, sharpened))
    keeps = calibrates and _helps(plain[scored], calibrated[scored], oof.rows.take(scored))
    return _Nested(np.where(scored[:, None], sharpened if keeps else plain, np.nan), keeps)


def _temperature(weights: FloatArray, oof: OutOfFoldPredictions, mask: AnyArray) -> float:
    rows = _evenly_spaced(mask, _MOST_ROWS_OF_TEMPERATURE)
    return temperature_of(_mixed(weights, oof.predictions[:, rows]), oof.rows.take(rows))


def _mixed(weights: FloatArray, predictions: FloatArray) -> FloatArray:
    return np.asarray(np.tensordot(weights, predictions, axes=1))


def _helps(plain: FloatArray, calibrated: FloatArray, rows: RowTargets) -> bool:
    """Whether the log loss falls by more than the standard error of its fall."""
    loss = LogLossMetric()
    gain = mean_with_error(loss.losses(plain, rows.truth) - loss.losses(calibrated, rows.truth), rows)
    return bool(gain.value > gain.error)


def apply_temperature(proba: FloatArray, temperature: float) -> FloatArray:
    """Probabilities to the power of 1 over the temperature, scaled to sum to 1: above 1 they are less certain.

    Examples
    --------
    >>> apply_temperature(np.array([[0.8, 0.2]]), 2.0).round(3)
    array([[0.667, 0.333]])
    """
    if temperature == 1.0:
        return proba
    logs = np.log(np.maximum(proba, _LEAST)) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def temperature_of(proba: FloatArray, rows: RowTargets) -> float:
    """The temperature with the least log loss, between a tenth and ten."""
    metric = LogLossMetric()

    def loss(log_temperature: float) -> float:
        return -metric.value(apply_temperature(proba, float(np.exp(log_temperature))), rows)

    best = minimize_scalar(loss, bounds=(-np.log(10), np.log(10)), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(best.x))
