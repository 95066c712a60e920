"""A fitted AdaBoost beside its bounds: what is measured on the training rows, and what it cannot exceed in theory."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import FloatArray, RowArray
from coterie.data.weight import read_weight
from coterie.diagnostics._bound_formulas import (
    check_risk,
    check_thetas,
    generalization_error,
    margin_error_of,
    margin_limit,
    normalizers,
    rounds_to_zero_error,
    stump_count,
    training_loss_by_edge,
)
from coterie.diagnostics.margins import Margins
from coterie.diagnostics.votes import chosen_rounds, staged_margins, votes_of
from coterie.errors import InvalidInput, InvalidType

_ROUNDING = 1e-6
_PERFECT = 1e-9  # an error below this is none


@dataclass(frozen=True, repr=False, eq=False)
class AdaBoostBounds:
    """Quantities of a fitted AdaBoost, each beside its bound. Arrays by round have one entry after each round.

    Attributes
    ----------
    rounds : 1, 2, ... up to the number of rounds
    n_rows : int, rows with weight
    errors, votes : the weighted error and the vote of each member
    training_error : share of rows with a margin of at most 0, by round
    training_loss : mean exponential loss, by round
    training_loss_bound : product of the normalisers, by round
    edge : the smallest edge of a member
    training_loss_by_edge : (1 - 4 edge^2)^(T / 2), by round
    rounds_to_zero_error : when the training error is zero at the latest, by the edge
    theta : the thresholds
    margin_error, margin_error_bound : share of margins of at most theta, shape (n_rounds, n_theta)
    minimum_margin : by round
    margin_limit : the margin that every row has in the end, if the edges stay what they are
    n_learners : the size of the class of members; None if it is not known
    delta : the risk that the generalisation bound does not hold
    generalization_bound : of the error on new rows, after the last round, for each theta; NaN without `n_learners`

    Bounds by the edge are NaN where votes are not AdaBoost's own, as with a learning rate other than 1.
    """

    rounds: RowArray
    n_rows: int
    errors: FloatArray
    votes: FloatArray
    training_error: FloatArray
    training_loss: FloatArray
    training_loss_bound: FloatArray
    edge: float
    training_loss_by_edge: FloatArray
    rounds_to_zero_error: float
    theta: FloatArray
    margin_error: FloatArray
    margin_error_bound: FloatArray
    minimum_margin: FloatArray
    margin_limit: float
    n_learners: int | None
    delta: float
    generalization_bound: FloatArray

    @property
    def first_round_without_error(self) -> float:
        """After which round every training row is right for the first time; infinite if that did not happen."""
        right = np.flatnonzero(self.training_error == 0)
        return float(self.rounds[right[0]]) if len(right) else math.inf

    def __repr__(self) -> str:
        lines = [
            (f"after round {self.rounds[-1]}, {self.n_rows:,} rows", "measured", "bound", ""),
            (
                "training error",
                _share(self.training_error[-1]),
                _share(self.training_loss_bound[-1]),
                "product of normalisers",
            ),
            (
                "exponential loss",
                _share(self.training_loss[-1]),
                _share(self.training_loss_bound[-1]),
                "product of normalisers",
            ),
            ("", "", _share(self.training_loss_by_edge[-1]), f"smallest edge, {self.edge:.3g}"),
            (
                "rounds to zero training error",
                _count(self.first_round_without_error),
                _count(self.rounds_to_zero_error),
                "smallest edge",
            ),
            *[
                (f"share of margins <= {theta:g}", _share(measured), _share(bound), "theorem on margins")
                for theta, measured, bound in zip(
                    self.theta, self.margin_error[-1], self.margin_error_bound[-1], strict=True
                )
            ],
            (
                "smallest margin",
                f"{self.minimum_margin[-1]:.3f}",
                "not known" if math.isnan(self.margin_limit) else f">= {self.margin_limit:.3f}",
                "smallest edge, in the end",
            ),
            *self._about_new_rows(),
        ]
        return "\n".join(f"{a:<32}{b:>10}{c:>12}  {d}".rstrip() for a, b, c, d in lines)

    def _about_new_rows(self) -> list[tuple[str, str, str, str]]:
        if self.n_learners is None:
            return [
                ("error on new rows", "", "", "not known: give n_learners, the size of the class of members")
            ]
        best = int(np.argmin(self.generalization_bound))
        bound = self.generalization_bound[best]
        meaning = "which means nothing" if bound >= 1 else f"with probability {1 - self.delta:g}"
        return [
            ("error on new rows", "", f"{bound:.3g}", f"margins <= {self.theta[best]:g}, {meaning}"),
        ]


def adaboost(
    model: Any,
    X: Any,
    y: Any,
    *,
    theta: ArrayLike = (0.05, 0.1, 0.2),
    n_learners: int | None = None,
    delta: float = 0.05,
    sample_weight: Any = None,
) -> AdaBoostBounds:
    """Measure a fitted AdaBoost on its training rows, and compare with the bounds.

    Parameters
    ----------
    model : a fitted AdaBoostClassifier for two classes, ours or scikit-learn's
    X, y : the table and the labels that it was fitted to
    theta : number or array, thresholds of margins
        Default (0.05, 0.1, 0.2): where the small margins of boosted stumps usually are.
    n_learners : int or None
        The size of the class that members are from. None counts the stumps on the table if the members are stumps.
        Default None: stumps can be counted, and of other members nobody knows.
    delta : float in (0, 1), the risk that the generalisation bound does not hold
        Default 0.05: the usual risk.
    sample_weight : array of shape (n_rows,), the weights that the model was fitted with
        Default None: every row began with the same weight.

    Returns
    -------
    AdaBoostBounds

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=100, random_state=0).fit(X, y)
    >>> adaboost(model, X, y, theta=0.1)
    after round 100, 569 rows         measured       bound
    training error                      0.0000      0.0019  product of normalisers
    exponential loss                    0.0019      0.0019  product of normalisers
                                                    0.4550  smallest edge, 0.0625
    rounds to zero training error           35         806  smallest edge
    share of margins <= 0.1             0.0053      0.0515  theorem on margins
    smallest margin                      0.079    >= 0.063  smallest edge, in the end
    error on new rows                                 2.12  margins <= 0.1, which means nothing
    """
    errors, votes, factors = _members(model)
    thetas = np.atleast_1d(check_thetas(theta))
    loss_bound: FloatArray = np.asarray(np.cumprod(factors))
    check_risk(delta)
    measured = _measure(model, X, y, np.append(0.0, thetas), votes, sample_weight)
    _check_rows(measured.loss, loss_bound)
    edge, n_rows = float(np.abs(0.5 - errors).min()), measured.n_rows
    by_edge = 1.0 if (factors <= normalizers(errors).max() * (1 + _ROUNDING)).all() else math.nan
    if n_learners is None and measured.members_name_classes and _members_are_stumps(model):
        n_learners = stump_count(X)
    new_rows = np.full(len(thetas), np.nan)
    if n_learners is not None:
        last = measured.margin_error[-1, 1:]
        new_rows = generalization_error(last, thetas, n_rows=n_rows, n_learners=n_learners, delta=delta)
    return AdaBoostBounds(
        rounds=measured.rounds,
        n_rows=n_rows,
        errors=errors,
        votes=votes,
        training_error=measured.margin_error[:, 0],
        training_loss=measured.loss,
        training_loss_bound=loss_bound,
        edge=edge,
        training_loss_by_edge=by_edge * training_loss_by_edge(edge, measured.rounds),
        rounds_to_zero_error=by_edge * float(rounds_to_zero_error(edge, n_rows)),
        theta=thetas,
        margin_error=measured.margin_error[:, 1:],
        margin_error_bound=margin_error_of(factors, votes, thetas),
        minimum_margin=measured.minimum,
        margin_limit=float(margin_limit(edge)) if _votes_are_full(errors, votes) else math.nan,
        n_learners=n_learners,
        delta=delta,
        generalization_bound=new_rows,
    )


class _Measured(NamedTuple):
    """By round: the mean exponential loss, shares of margins at most each theta, and the smallest margin.

    Members name classes if the first of them alone has no other margins than -1 and 1.
    """

    rounds: RowArray
    n_rows: int
    loss: FloatArray
    margin_error: FloatArray
    minimum: FloatArray
    members_name_classes: bool


def _measure(
    model: Any, X: Any, y: Any, thetas: FloatArray, votes: FloatArray, sample_weight: Any
) -> _Measured:
    given_votes = votes_of(model, X)
    if len(given_votes.classes) != 2:
        raise InvalidInput(
            f"The bounds are for two classes, and this {type(model).__name__} has {len(given_votes.classes)}.",
            parameter="model",
            received=len(given_votes.classes),
            allowed="two classes",
            hint="`margins` takes any number of them.",
        )
    rounds, totals = chosen_rounds("all", given_votes.n_rounds), np.cumsum(np.abs(votes))
    by_round = []
    for number, total, found in zip(rounds, totals, staged_margins(given_votes, y, rounds), strict=True):
        weight = read_weight(sample_weight, len(found))
        own = Margins(found[None], np.array([number]), weight)
        loss = np.average(np.exp(-found * total), weights=weight)
        by_round.append((loss, own.distribution(thetas)[0], own.minimum[0], np.abs(found).min()))
    losses, below, smallest, least = map(np.array, zip(*by_round, strict=True))
    n_rows = len(found) if weight is None else int((weight > 0).sum())
    return _Measured(rounds, n_rows, losses, below, smallest, bool(least[0] == 1))


def _members(model: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weighted errors, votes and normalisers by round; AdaBoost's own vote is half the log odds of its error."""
    name = type(model).__name__
    if not hasattr(model, "estimator_weights_") or not hasattr(model, "estimator_errors_"):
        raise InvalidType.expecting(
            f"{name} has no estimator_weights_ and estimator_errors_",
            "a fitted AdaBoostClassifier",
            "model",
            model,
        )
    if hasattr(model, "vote_history_"):
        raise InvalidInput(
            f"The bounds are for votes that stay as they are, and this {name} changed those of earlier rounds in later "
            "ones.",
            parameter="model",
            received=name,
            hint="`margins` takes it.",
        )
    errors = np.asarray(model.estimator_errors_, dtype=np.float64)
    votes = np.asarray(model.estimator_weights_, dtype=np.float64)
    if not hasattr(model, "staged_votes"):  # scikit-learn's: room for all rounds, and votes of twice the size
        n_rounds = len(model.estimators_)
        errors, votes = errors[:n_rounds], votes[:n_rounds] / 2
    if hasattr(model, "normalizers_"):
        return errors, votes, np.asarray(model.normalizers_, dtype=np.float64)
    return errors, votes, normalizers(errors, votes)


def _members_are_stumps(model: Any) -> bool:
    member = getattr(model, "estimator", None)
    return (
        member is None
        or getattr(member, "max_depth", None) == 1
        or getattr(member, "max_leaf_nodes", None) == 2
    )


def _votes_are_full(errors: FloatArray, votes: FloatArray) -> bool:
    """Whether votes are AdaBoost's own; that of a perfect member has to end somewhere."""
    imperfect = (errors > _PERFECT) & (errors < 1 - _PERFECT)
    with np.errstate(divide="ignore"):
        own = np.log1p(-errors[imperfect]) / 2 - np.log(errors[imperfect]) / 2
    return bool(np.allclose(votes[imperfect], own, rtol=1e-3, atol=1e-6))


def _check_rows(loss: FloatArray, bound: FloatArray) -> None:
    """The loss of the training rows cannot be above its bound; if it is, these are other rows or other weights."""
    over = np.flatnonzero(loss > bound * (1 + _ROUNDING))
    if len(over):
        place = int(over[0])
        raise InvalidInput(
            f"The exponential loss after round {place + 1} is {loss[place]:.4g}, and on the training rows it is at "
            f"most {bound[place]:.4g}.",
            parameter="X",
            received=float(loss[place]),
            allowed=f"rows with a loss of at most {bound[place]:.4g}",
            hint="Give the table, the labels and the sample_weight that the model was fitted to, and a model whose "
            "members predict classes.",
        )


def _share(value: float) -> str:
    if math.isnan(value):
        return "not known"
    return f"{value:.4f}" if value == 0 or 1e-4 <= value < 1e4 else f"{value:.1e}"


def _count(value: float) -> str:
    if math.isnan(value):
        return "not known"
    return "never" if math.isinf(value) else f"{value:,.0f}" if value < 1e9 else f"{value:.1e}"
