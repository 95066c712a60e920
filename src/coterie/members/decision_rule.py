"""From probabilities to a class: a threshold that is tuned to what is wanted, weights of classes, or costs of errors.

The most probable class is the right decision if all errors are equally bad, and only then. A class that one row in
twenty has may never be predicted. What a threshold does is known from probabilities of rows that were held out: each
threshold has its counts of true and false positives there, hence its F1, its balanced accuracy, its costs.

The best threshold of few positive rows is mostly luck. So the curve over thresholds is averaged over bootstrap samples
of the rows first, and the threshold is the middle of the top of that: of all thresholds that are as good but for a
hundredth.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from coterie._params import Real, in_short
from coterie._storage import expect, storable
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie._value_types import COUNT, FLOATS, NONE, NUMBER, TEXT
from coterie.errors import InvalidInput, InvalidParameter

TUNED_SCORES = ("f1", "balanced_accuracy", "jaccard", "matthews_corrcoef")
BOUNDED_SCORES = ("precision_at_recall", "recall_at_precision")
ThresholdLike: TypeAlias = str | float | tuple[str, float] | None

_COST = "cost"
_DRAWN = 2_000_000  # rows that all bootstrap samples have together, at most
_FEWEST_SAMPLES, _MOST_SAMPLES = 10, 100
_PLATEAU = 0.01  # of the best score: thresholds that are worse by less are as good
_PARTS = 5


class ThresholdChoice:
    """What `threshold` may be."""

    def __init__(self, *others: str) -> None:
        self._names = (*others, *TUNED_SCORES)

    def accepts(self, value: object) -> bool:
        if isinstance(value, str):
            return str(value) in self._names
        if isinstance(value, tuple | list):
            return len(value) == 2 and value[0] in BOUNDED_SCORES and _SHARE.accepts(value[1])
        return _SHARE.accepts(value)

    def describe(self) -> str:
        names = ", ".join(map(repr, self._names))
        return f"one of {names}, a tuple such as ('precision_at_recall', 0.8), or a number between 0 and 1"


class CostMatrixLike:
    """What `cost_matrix` may be; its numbers are checked when the classes are known."""

    def accepts(self, value: object) -> bool:
        if isinstance(value, Mapping):
            return len(value) > 0
        return isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 2

    def describe(self) -> str:
        return (
            "an array of shape (n_classes, n_classes), a row for each true class and a column for each predicted one, "
            "or a dict from each class to the cost of missing it"
        )


_SHARE = Real(0, 1, closed="neither")


@dataclass(frozen=True)
class Objective:
    """What a threshold is tuned to; greater is better.

    Attributes
    ----------
    name : one of `TUNED_SCORES`, `BOUNDED_SCORES` or "cost"
    bound : the least recall or precision, of `BOUNDED_SCORES`
    costs : float array of shape (2, 2), of "cost": a row for each true class, the positive one second
    """

    name: str
    bound: float | None = None
    costs: FloatArray | None = None

    def values(
        self, tp: FloatArray, fp: FloatArray, positives: FloatArray, negatives: FloatArray
    ) -> FloatArray:
        """The score of decisions with so many true and false positives among so many rows of each class.

        Examples
        --------
        >>> counts = (np.array([3.0]), np.array([1.0]), np.array([4.0]), np.array([96.0]))
        >>> Objective("f1").values(*counts), Objective("precision_at_recall", 0.5).values(*counts)
        (array([0.75]), array([0.75]))

        A bound that is not reached is worse than any that is, and the nearest to it is the best of those.

        >>> Objective("precision_at_recall", 0.8).values(*counts).round(2)
        array([-0.05])
        """
        recall, precision = _ratio(tp, positives), _ratio(tp, tp + fp)
        if self.name == _COST:
            assert self.costs is not None
            (tn_cost, fp_cost), (fn_cost, tp_cost) = self.costs
            total = tp * tp_cost + (positives - tp) * fn_cost + fp * fp_cost + (negatives - fp) * tn_cost
            return -_ratio(total, positives + negatives)
        if self.name == "balanced_accuracy":
            return np.asarray((recall + 1 - _ratio(fp, negatives)) / 2)
        if self.name == "f1":
            return _ratio(2 * tp, tp + fp + positives)
        if self.name == "jaccard":
            return _ratio(tp, fp + positives)
        if self.name == "matthews_corrcoef":
            fn, tn = positives - tp, negatives - fp
            size = np.sqrt(np.maximum((tp + fp) * (tn + fn) * positives * negatives, 0.0))
            return _ratio(tp * tn - fp * fn, size)
        # The mean over bootstrap samples counts a bound that is missed in some of them: it is kept with a margin.
        assert self.bound is not None
        score, bounded = (precision, recall) if self.name == "precision_at_recall" else (recall, precision)
        return np.where(bounded >= self.bound, score, bounded - self.bound)

    def score(self, positive: AnyArray, decided: AnyArray, weight: FloatArray) -> float:
        """The score of decisions about rows: which are positive, and which were taken for it."""
        tp, fp = weight @ (positive & decided), weight @ (~positive & decided)
        counts = (tp, fp, weight @ positive, weight @ ~positive)
        return float(self.values(*(np.asarray(each, dtype=np.float64) for each in counts)))

    def __str__(self) -> str:
        return self.name if self.bound is None else f"{self.name}={self.bound:g}"


def _ratio(part: Any, whole: Any) -> FloatArray:
    """A ratio that is 0 where there is nothing to divide by."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    shape = np.broadcast_shapes(part.shape, whole.shape)
    return np.asarray(np.divide(part, whole, out=np.zeros(shape), where=whole > 0))


def tuned_threshold(
    proba: FloatArray, positive: AnyArray, weight: FloatArray, objective: Objective, *, seed: int = 0
) -> float:
    """The threshold that is best on average over bootstrap samples of the rows.

    Parameters
    ----------
    proba : of the positive class
    positive : bool array, the rows that are of it
    weight : how often each row counts

    Examples
    --------
    >>> proba = np.linspace(0, 1, 101)
    >>> round(tuned_threshold(proba, proba > 0.305, np.ones(101), Objective("f1")), 2)
    0.3
    """
    order = np.argsort(-proba, kind="stable")
    scores, positive, weight = proba[order], positive[order], weight[order]
    ends = np.flatnonzero(np.append(np.diff(scores) != 0, True))
    n_rows, rng = len(scores), np.random.default_rng(seed)
    n_samples = int(np.clip(_DRAWN // max(1, n_rows), _FEWEST_SAMPLES, _MOST_SAMPLES))
    curve = np.zeros(len(ends))
    for _ in range(n_samples):
        drawn = weight * rng.poisson(1.0, n_rows)
        tp, both = np.cumsum(drawn * positive), np.cumsum(drawn)
        total, all_rows = tp[-1], both[-1]
        curve += objective.values(tp[ends], both[ends] - tp[ends], total, all_rows - total)
    curve /= n_samples
    place = _middle_of_plateau(curve, np.diff(ends, prepend=-1))
    below = 0.0 if place + 1 == len(ends) else float(scores[ends[place + 1]])
    return (float(scores[ends[place]]) + below) / 2


def _middle_of_plateau(curve: FloatArray, n_rows: RowArray) -> int:
    """The middle, by rows, of the stretch around the best place that is nearly as good."""
    best = int(curve.argmax())
    least = curve[best] - _PLATEAU * abs(curve[best])
    low = high = best
    while low > 0 and curve[low - 1] >= least:
        low -= 1
    while high + 1 < len(curve) and curve[high + 1] >= least:
        high += 1
    reached = np.cumsum(n_rows[low : high + 1])
    return low + int(np.searchsorted(reached, reached[-1] / 2))


def cross_fitted_decisions(
    proba: FloatArray, positive: AnyArray, weight: FloatArray, objective: Objective, part: RowArray
) -> AnyArray:
    """Which rows are taken for positive, each part of the rows by a threshold tuned to the others."""
    decided = np.zeros(len(proba), dtype=bool)
    for own in np.unique(part):
        inside = part == own
        others = ~inside
        if not weight[others] @ positive[others] > 0:  # all positive rows are here: no other part knows any
            others = np.ones(len(part), dtype=bool)
        threshold = tuned_threshold(proba[others], positive[others], weight[others], objective)
        decided[inside] = proba[inside] >= threshold
    return decided


def parts_of_rows(n_rows: int, groups: AnyArray | None = None) -> RowArray:
    """Rows in five parts to cross-fit by; rows of a group are in one."""
    return np.asarray((np.arange(n_rows) if groups is None else groups) % _PARTS)


def _verify_rule(rule: Any) -> None:
    expect(
        (rule.threshold is not None) + (rule.multipliers is not None) + (rule.costs is not None) == 1,
        "decides by none or several of a threshold, multipliers and costs",
    )
    expect(
        rule.threshold is None or rule.positive < 2, "has a threshold for one class of two, and another class"
    )


@storable(
    "DecisionRule",
    {
        "objective": TEXT,
        "positive": COUNT,
        "threshold": NUMBER | NONE,
        "multipliers": FLOATS | NONE,
        "costs": FLOATS | NONE,
        "score": NUMBER | NONE,
        "default_score": NUMBER | NONE,
    },
    verify=_verify_rule,
)
@dataclass(frozen=True)
class DecisionRule:
    """How probabilities become classes.

    Attributes
    ----------
    objective : what it was tuned to, such as "f1"; "given" if the threshold was given
    positive : of two classes, the place of the positive one
    threshold : of two classes, the least probability of the positive one with which it is predicted
    multipliers : of several classes, what probabilities are multiplied by before the largest is taken
    costs : of several classes, array of shape (n_classes, n_classes): the class with the least expected cost is taken
    score : of decisions by thresholds that were tuned without the rows they decide, or None
    default_score : of the most probable class, for comparison, or None

    Examples
    --------
    >>> rule = DecisionRule("f1", positive=1, threshold=0.2)
    >>> rule.codes(np.array([[0.7, 0.3], [0.9, 0.1]]))
    array([1, 0])
    """

    objective: str
    positive: int = 1
    threshold: float | None = None
    multipliers: FloatArray | None = None
    costs: FloatArray | None = None
    score: float | None = None
    default_score: float | None = None

    def codes(self, proba: FloatArray) -> RowArray:
        """The places of the classes that are decided for, from probabilities of shape (n_rows, n_classes)."""
        if self.costs is not None:
            return np.asarray((proba @ self.costs).argmin(axis=1))
        if self.multipliers is not None:
            return np.asarray((proba * self.multipliers).argmax(axis=1))
        assert self.threshold is not None
        is_positive = proba[:, self.positive] >= self.threshold
        return np.where(is_positive, self.positive, 1 - self.positive)

    def at_power(self, power: float) -> "DecisionRule":
        """The same decisions about probabilities that are raised to a power and scaled to sum to 1."""
        if power == 1.0:
            return self
        values = dict(vars(self))
        if self.threshold is not None and 0 < self.threshold < 1:
            odds = (self.threshold / (1 - self.threshold)) ** power
            values["threshold"] = float(odds / (1 + odds))
        if self.multipliers is not None:
            values["multipliers"] = self.multipliers**power
        return DecisionRule(**values)

    def describe(self, classes: AnyArray) -> str:
        """A line for people.

        Examples
        --------
        >>> DecisionRule("f1", 1, 0.163, score=0.294, default_score=0.0).describe(np.array(["no", "yes"]))
        "threshold: 'yes' from a probability of 0.163, tuned to f1: 0.294 out of fold, and 0 at one half"
        """
        if self.costs is not None:
            return "decisions: the class with the least expected cost"
        if self.multipliers is not None:
            shown = ", ".join(
                f"{_plain(label)!r} {factor:.3g}"
                for label, factor in zip(classes, self.multipliers, strict=True)
            )
            text = f"decisions: the largest probability times {shown}; for {self.objective}"
        else:
            text = f"threshold: {_plain(classes[self.positive])!r} from a probability of {self.threshold:.3g}"
            text += ", as given" if self.objective == "given" else f", tuned to {self.objective}"
        if self.score is None or self.default_score is None:
            return text
        unit = "expected cost" if self.objective == _COST else None
        score, other = (-self.score, -self.default_score) if unit else (self.score, self.default_score)
        if "=" in self.objective and self.default_score < 0:
            wanted = self.objective.partition("_at_")[2]
            return (
                f"{text}: {score:.3g} out of fold; at one half {wanted.replace('=', ' of ')} is not reached"
            )
        compared = "at one half" if self.threshold is not None else "for the most probable class"
        return f"{text}: {score:.3g} out of fold, and {other:.3g} {compared}"


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def decided_codes(model: Any, proba: FloatArray) -> RowArray:
    """The places of the classes that a model decides for, from its probabilities; by default the most probable ones."""
    rule = getattr(model, "decision_", None)
    return rule.codes(proba) if isinstance(rule, DecisionRule) else np.asarray(proba.argmax(axis=1))


@dataclass(frozen=True)
class DecisionSettings:
    """The parameters `threshold`, `cost_matrix` and `pos_label` of an estimator, with the classes of its target."""

    threshold: Any
    cost_matrix: Any
    pos_label: Any
    classes: AnyArray

    @property
    def positive(self) -> int:
        """The place of the positive class."""
        if self.pos_label is None:
            return 1
        places = np.flatnonzero(self.classes == self.pos_label)
        if len(places) == 0 or len(self.classes) != 2:
            what = in_short([_plain(label) for label in self.classes])
            raise InvalidParameter.expecting(
                f"pos_label={self.pos_label!r} is no class to tune a threshold for",
                f"one of two classes; y has {what}",
                "pos_label",
                self.pos_label,
            )
        return int(places[0])

    def objective(self) -> Objective | None:
        """What a threshold of two classes is tuned to; None if there is nothing to tune."""
        if len(self.classes) < 2:
            return None
        if self.cost_matrix is not None:
            costs = self.costs()
            order = [1 - self.positive, self.positive] if len(self.classes) == 2 else slice(None)
            return Objective(_COST, costs=costs[order][:, order])
        if isinstance(self.threshold, tuple | list):
            return Objective(str(self.threshold[0]), float(self.threshold[1]))
        return Objective(self.threshold) if isinstance(self.threshold, str) else None

    def costs(self) -> FloatArray:
        """The cost matrix, in the order of the classes."""
        n_classes = len(self.classes)
        if isinstance(self.cost_matrix, Mapping):
            return self._costs_of_missing(self.cost_matrix)
        try:
            costs = np.asarray(self.cost_matrix, dtype=np.float64)
        except (TypeError, ValueError):
            costs = np.full((0, 0), np.nan)
        if costs.shape != (n_classes, n_classes) or not np.isfinite(costs).all():
            raise InvalidParameter.expecting(
                f"cost_matrix={in_short(self.cost_matrix)}",
                f"finite numbers of shape ({n_classes}, {n_classes}), a row for each true class",
                "cost_matrix",
                self.cost_matrix,
            )
        if not (costs > np.diag(costs)[:, None]).any():
            raise InvalidParameter.expecting(
                f"cost_matrix={in_short(self.cost_matrix)} has no error that costs more than the right decision",
                "costs of right decisions on the diagonal, and greater ones beside it",
                "cost_matrix",
                self.cost_matrix,
            )
        return costs

    def _costs_of_missing(self, given: Mapping[Any, Any]) -> FloatArray:
        labels = [_plain(label) for label in self.classes]
        wrong = [label for label in given if label not in labels] or [
            label for label, cost in given.items() if not Real(0).accepts(cost)
        ]
        if wrong or not any(given.values()):
            raise InvalidParameter.expecting(
                f"cost_matrix={in_short(dict(given))}",
                f"costs >= 0, not all of them 0, of classes in {in_short(labels)}",
                "cost_matrix",
                given,
            )
        missed = np.array([float(given.get(label, 1.0)) for label in labels])
        return np.asarray(missed[:, None] * (1 - np.eye(len(labels))))

    def rule(
        self, proba: FloatArray, codes: AnyArray, weight: FloatArray, part: RowArray, *, seed: int = 0
    ) -> DecisionRule | None:
        """The rule that these settings and probabilities of rows held out lead to; None: the most probable class."""
        if self.cost_matrix is None and self.threshold is None:
            return None
        if len(self.classes) > 2:
            return self._rule_of_several(proba, codes, weight)
        if len(self.classes) < 2:
            return None
        place, objective = self.positive, self.objective()
        if objective is None:
            return DecisionRule("given", place, float(self.threshold))
        positive, own = codes == place, proba[:, place]
        if not weight @ positive > 0:
            raise InvalidInput(
                f"No row of the positive class {_plain(self.classes[place])!r} was held out, so no threshold is tuned.",
                parameter="threshold",
                received=self.threshold,
                allowed="rows of both classes, or threshold=None",
            )
        threshold = tuned_threshold(own, positive, weight, objective, seed=seed)
        decided = cross_fitted_decisions(own, positive, weight, objective, part)
        return DecisionRule(
            str(objective),
            place,
            threshold,
            score=objective.score(positive, decided, weight),
            default_score=objective.score(positive, own >= 0.5, weight),
        )

    def _rule_of_several(self, proba: FloatArray, codes: AnyArray, weight: FloatArray) -> DecisionRule:
        if self.cost_matrix is not None:
            return DecisionRule(_COST, costs=self.costs())
        if self.threshold != "balanced_accuracy":
            raise InvalidParameter.expecting(
                f"threshold={in_short(self.threshold)} is for two classes, and y has {len(self.classes)}",
                "threshold='balanced_accuracy' or a cost_matrix for more than two classes",
                "threshold",
                self.threshold,
                hint="There is no single threshold between several classes: say by cost_matrix what each error costs.",
            )
        totals = np.bincount(codes, weight, minlength=len(self.classes))
        multipliers = np.divide(
            totals.sum(), len(totals) * totals, out=np.zeros(len(totals)), where=totals > 0
        )
        decided = (proba * multipliers).argmax(axis=1)
        return DecisionRule(
            "balanced_accuracy",
            multipliers=multipliers,
            score=_mean_recall(codes, decided, weight, len(totals)),
            default_score=_mean_recall(codes, proba.argmax(axis=1), weight, len(totals)),
        )


def _mean_recall(codes: AnyArray, decided: AnyArray, weight: FloatArray, n_classes: int) -> float:
    totals = np.bincount(codes, weight, minlength=n_classes)
    right = np.bincount(codes, weight * (codes == decided), minlength=n_classes)
    return float((right[totals > 0] / totals[totals > 0]).mean())


def parsed_threshold(text: str) -> ThresholdLike:
    """What a text of the command line stands for; ValueError if it stands for nothing.

    Examples
    --------
    >>> parsed_threshold("f1"), parsed_threshold("0.2"), parsed_threshold("precision_at_recall=0.8")
    ('f1', 0.2, ('precision_at_recall', 0.8))
    """
    name, mark, number = text.partition("=")
    chosen: Any = (name, float(number)) if mark else text if text in TUNED_SCORES else float(text)
    if not ThresholdChoice().accepts(chosen) or (isinstance(chosen, float) and math.isnan(chosen)):
        raise ValueError(text)
    return chosen  # type: ignore[no-any-return]
