"""AdaBoost.R2: members that look at the rows which the members before them got wrong, and a weighted median."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from coterie._params import (
    EstimatorLike,
    Integer,
    OneOf,
    Params,
    Real,
    Seed,
    in_short,
    spawn_seeds,
)
from coterie._storage import Fitted, storable_estimator
from coterie._typing import FloatArray, RowsOrWeights, SeedLike
from coterie.adaboost._fitted import ADABOOST_REGRESSOR_FITTED, verify_votes
from coterie.adaboost._learners import as_given_to_learners, prepare_rows
from coterie.data.parts import rows_of
from coterie.data.prepare import prepare_training
from coterie.data.streaming.prediction import by_batches
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.checkpoint import CheckpointLike
from coterie.fitting.checkpoint_lists import CheckpointedLists, lists_in_checkpoint
from coterie.fitting.estimator import Estimator, FitRun
from coterie.fitting.fingerprint import data_fingerprint
from coterie.losses.loss import power_of_two_above
from coterie.members.base_learner import (
    BaseLearner,
    default_learner,
    mean_importances,
    new_table,
    tags_of_learner,
)
from coterie.members.member_predictions import MemberPredictions, numbered

# From errors as shares of the largest to losses from 0 to 1.
_LOSSES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "linear": lambda share: share,
    "square": lambda share: np.asarray(share**2),
    "exponential": lambda share: 1 - np.exp(-share),
}


class _Round(NamedTuple):
    """What a member is worth: its mean loss, its vote, its largest error, and the logs of the row weights after it."""

    loss: float
    vote: float
    largest: float
    log_weight: FloatArray


@storable_estimator(verify=verify_votes)
class AdaBoostRegressor(RegressorMixin, Estimator):
    """AdaBoost for numbers, the method called R2.

    Each round fits a copy of the learner to rows that count the more the worse the members before it predicted them.
    The error of a row is measured as a share of the largest error. A member whose mean loss is L has the vote
    log((1 - L) / L), and a row whose loss is l then counts less by the factor (L / (1 - L)) ** (1 - l). The
    prediction is the median of the members' predictions, by votes.

    Parameters
    ----------
    estimator : estimator or None
        What a member is a copy of: any regressor. None: our DecisionTreeRegressor(max_depth=3), which takes any
        table. Default None: the usual learner of this method, which takes any table without preparation.
    n_estimators : int
        Rounds, unless a member is perfect, or no better than chance, before. Default 50: scikit-learn's number, and
        enough for stumps on small tables.
    learning_rate : float
        Power of the factors by which weights fall, and a factor of all votes. Default 1.0: the vote is the best step
        already.
    loss : {"linear", "square", "exponential"}
        The loss of a row whose error is the share s of the largest: s, its square, or 1 - exp(-s). Default "linear":
        Drucker found no clear winner, and this is the simplest.
    method : {"reweight", "resample"}
        Whether the learner is given the weights, or rows drawn by them with replacement. A learner that takes no
        weights is given drawn rows in any case. Default "reweight": nothing is left to chance, and a weight of 2 is
        the row twice.
    random_state : int, RandomState, Generator or None
        The seed of drawn rows, and of members that have a `random_state`. Default None: a new seed for each fit, as
        in scikit-learn; a number makes it repeatable.
    n_jobs : int or None
        Threads of members that have such a parameter and leave it at None, as our trees do. Default None: members
        decide themselves, so that threads do not compete.
    checkpoint : str, path, Checkpoint or None
        A folder to keep members in while others are fitted, so that `fit(resume=True)` goes on if the fit is
        interrupted. Default None: most fits are short, and nothing should be written without being told to.

    Attributes
    ----------
    estimators_ : list of the members
    estimator_weights_ : array of shape (n_estimators_,)
        Their votes.
    estimator_errors_ : array of shape (n_estimators_,)
        Their mean losses, by the weights that they were fitted with.
    largest_errors_ : array of shape (n_estimators_,)
        The largest error of each, in units of the target.
    n_estimators_ : int
        Members that were kept.
    stopped_because_ : str
        Why there are no more of them.
    feature_importances_ : array of shape (n_features_in_,)
        The mean over members that know theirs, by votes.
    schema_ : Schema
        Names and kinds of the columns that fit saw.
    encoder_ : Encoder
        The levels of categories, and the code of each.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import AdaBoostRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = AdaBoostRegressor().fit(X, X[:, 0] ** 2)
    >>> model.score(X, X[:, 0] ** 2) > 0.99
    True

    References
    ----------
    Drucker, Improving regressors using boosting techniques (1997).
    """

    PARAMS: ClassVar[Params] = {
        "estimator": [EstimatorLike(), None],
        "n_estimators": [Integer(1)],
        "learning_rate": [Real(0, None, closed="neither")],
        "loss": [OneOf(*_LOSSES)],
        "method": [OneOf("reweight", "resample")],
        "random_state": [Seed()],
        "n_jobs": [Integer(), None],
        "checkpoint": [CheckpointLike(), None],
    }
    FITTED: ClassVar[Fitted] = ADABOOST_REGRESSOR_FITTED

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: Literal["linear", "square", "exponential"] = "linear",
        method: RowsOrWeights = "reweight",
        random_state: SeedLike = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, resume: bool = False) -> Self:
        """Fit the members, one after the other.

        Parameters
        ----------
        X : any table that the learner takes; it is given to members as it is
        y : numbers of shape (n_rows,)
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts at the start; rows of weight 0 are left out.
        resume : bool, default=False
            Go on from `checkpoint`, or begin anew if there is nothing yet.
        """
        with self._fitting(X, y, resume=resume) as run:
            prepare = prepare_training if self.estimator is None else prepare_rows
            train = prepare(self, X, y, sample_weight, task="regression")
            checkpoint = run.open_checkpoint(
                lambda: data_fingerprint(train), learner=self._base_learner().model
            )
            run.begin_steps(int(self.n_estimators))
            target, weight = train.target.values, train.weight
            X = as_given_to_learners(X, self.schema_)
            if weight is not None and not weight.all():
                rows = np.flatnonzero(weight)
                X, target, weight = rows_of(X, rows), target[rows], weight[rows]
            weight = np.ones(len(target)) if weight is None else weight
            members: list[Any] = []
            if checkpoint is None:
                self._run_rounds(X, target, weight, run, members)
            else:
                known = lists_in_checkpoint(checkpoint, "members")["members"]
                kept = CheckpointedLists(checkpoint, {"members": members}, len(known))
                with checkpoint.recording(kept.collect):
                    self._run_rounds(X, target, weight, run, members, known, kept)
        return self

    def row_weights_by_round(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """The weights of the training rows before each round and after the last, which each sum to one.

        They are computed on request, from the training table and the members as they are: a fitted model does not grow
        by a number for each row and round.

        Parameters
        ----------
        X, y, sample_weight : what `fit` was given

        Returns
        -------
        array of shape (n_estimators_ + 1, n_rows)
        """
        check_is_fitted(self, "estimators_")
        twin, learner = copy(self), self._base_learner()
        prepare = prepare_training if self.estimator is None else prepare_rows
        train = prepare(twin, X, y, sample_weight, task="regression")
        target, weight = train.target.values, train.weight
        X = as_given_to_learners(X, twin.schema_)
        rows = np.arange(train.n_rows) if weight is None else np.flatnonzero(weight)
        if len(rows) < train.n_rows:
            X, target = rows_of(X, rows), target[rows]
        log_weight = np.log(np.ones(len(rows)) if weight is None else weight[rows])
        found, losses = np.zeros((len(self.estimators_) + 1, train.n_rows)), []
        for number, member in enumerate(self.estimators_):
            parts = found[number, rows] = _shares(log_weight)
            outcome = self._evaluated(learner.predict(member, X, len(rows)), target, parts, log_weight)
            losses.append(outcome.loss)
            log_weight = outcome.log_weight
        found[-1, rows] = _shares(log_weight)
        if not np.allclose(losses, self.estimator_errors_, atol=1e-9):
            raise InvalidInput.expecting(
                "X, y or sample_weight are not those of fit: the members have other losses on them",
                "the training table",
                "X",
                X,
            )
        return found

    def _run_rounds(
        self,
        X: Any,
        y: FloatArray,
        weight: FloatArray,
        run: FitRun,
        members: list[Any],
        known: Sequence[Any] = (),
        kept: CheckpointedLists | None = None,
    ) -> None:
        """The loop, which adds to `members`; those that are known need not be fitted again."""
        learner = self._base_learner()
        total, log_weight = weight.sum(), np.log(weight)
        rounds: list[_Round] = []
        why = "all rounds are done"
        for number, seed in enumerate(spawn_seeds(run.seed, int(self.n_estimators)).tolist()):
            parts = _shares(log_weight)
            # Members are weighed only if weights differ: a learner that takes none need not draw at first.
            given = parts * total if self._weighs(parts) else None
            member = known[number] if number < len(known) else learner.fitted(X, y, given, seed)
            outcome = self._evaluated(learner.predict(member, X, len(y)), y, parts, log_weight)
            if outcome.loss >= 0.5:
                why = f"the loss of a member is {outcome.loss:.3g}, and half would be had by chance"
                if members:
                    break
            members.append(member)
            rounds.append(outcome)
            log_weight = outcome.log_weight
            if kept is not None:
                kept.look()
            if run.emit("round", len(members), fitted=lambda: self._fitted_attributes(members, rounds)):
                why = "a callback asked to stop"
                break
            if outcome.loss == 0:
                why = "the last member makes no error"
            if outcome.loss == 0 or outcome.loss >= 0.5:
                break
        for name, value in self._fitted_attributes(members, rounds).items():
            setattr(self, name, value)
        self.stopped_because_ = why

    def _fitted_attributes(self, members: list[Any], rounds: list[_Round]) -> dict[str, Any]:
        return {
            "estimators_": list(members),
            "estimator_weights_": np.array([each.vote for each in rounds]),
            "estimator_errors_": np.array([each.loss for each in rounds]),
            "largest_errors_": np.array([each.largest for each in rounds]),
            "n_estimators_": len(members),
        }

    def _weighs(self, parts: FloatArray) -> bool:
        return self.method == "resample" or bool((parts != parts[0]).any())

    def _evaluated(
        self, predicted: FloatArray, y: FloatArray, parts: FloatArray, log_weight: FloatArray
    ) -> _Round:
        """The loss of a member by its errors, and the weights of the next; a vote of 1 where the formula has none."""
        unit = power_of_two_above(max(np.abs(predicted).max(), np.abs(y).max()))
        errors = np.abs(predicted / unit - y / unit)
        largest = float(errors.max())
        with np.errstate(over="ignore"):
            in_units = largest * unit
        losses = _LOSSES[self.loss](errors / largest) if largest > 0 else errors
        loss = float(parts @ losses)
        if loss == 0 or loss >= 0.5:
            return _Round(loss, 1.0, in_units, log_weight)
        log_beta = np.log(loss) - np.log1p(-loss)
        vote = -float(self.learning_rate * log_beta)
        if not np.isfinite(vote):
            raise InvalidParameter(
                f"learning_rate={self.learning_rate:g} makes the vote of a member {vote}; choose a smaller one."
            )
        return _Round(loss, vote, in_units, log_weight - vote * (1 - losses))

    @by_batches
    def predict(self, X: Any) -> FloatArray:
        """The median of the members' predictions for each row, by votes."""
        predicted = self._member_values(X)
        return _weighted_median(predicted, self.estimator_weights_)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """The result of `predict` after each round."""
        predicted = self._member_values(X)
        ends = range(1, predicted.shape[1] + 1)
        return (_weighted_median(predicted[:, :end], self.estimator_weights_[:end]) for end in ends)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R2 after each round."""
        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))

    def member_predictions(self, X: Any) -> MemberPredictions:
        """The number that each member predicts; weights are their votes."""
        values = self._member_values(X).T[:, :, None]
        return MemberPredictions(values, self.estimator_weights_, numbered("round", len(values)))

    def _member_values(self, X: Any) -> FloatArray:
        """What each member predicts for each row, shape (n_rows, n_members)."""
        check_is_fitted(self, "estimators_")
        table, learner = new_table(self, X), self._base_learner()
        table = replace(table, X=as_given_to_learners(X, self.schema_))
        return np.column_stack([learner.predict_new(table, member) for member in self.estimators_])

    @property
    def feature_importances_(self) -> FloatArray:
        """What the features were worth to the members, by votes; sums to 1."""
        check_is_fitted(self, "estimators_")
        if not any(hasattr(member, "feature_importances_") for member in self.estimators_):
            raise AttributeError(
                f"The members of this {type(self).__name__}, copies of {in_short(self._base_learner().model)}, have no "
                "feature_importances_."
            )
        return mean_importances(self.estimators_, self.estimator_weights_, self.n_features_in_)

    def _base_learner(self) -> BaseLearner:
        model = default_learner() if self.estimator is None else self.estimator
        learner = BaseLearner(model, self.n_jobs, always_draw=self.method == "resample")
        if learner.is_classifier:
            raise InvalidParameter(
                f"AdaBoostRegressor(estimator={in_short(model)}): expected a regressor; this is a classifier."
            )
        return learner

    def __sklearn_tags__(self) -> Tags:
        model = default_learner() if self.estimator is None else self.estimator
        return tags_of_learner(super().__sklearn_tags__(), model)


def _shares(log_weight: FloatArray) -> FloatArray:
    """Weights that sum to 1, from logarithms of any size."""
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum())


def _weighted_median(predicted: FloatArray, votes: FloatArray) -> FloatArray:
    """Of each row, the least prediction with at least half of the votes at or below it.

    Examples
    --------
    >>> _weighted_median(np.array([[1.0, 5.0, 2.0]]), np.array([0.3, 0.3, 0.4]))
    array([2.])
    """
    order = np.argsort(predicted, axis=1, kind="stable")
    below = np.cumsum((votes / votes.max())[order], axis=1)
    place = (below >= below[:, -1:] / 2).argmax(axis=1)
    rows = np.arange(len(predicted))
    return np.asarray(predicted[rows, order[rows, place]])
