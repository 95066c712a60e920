"""What the two estimators of AnyBoost share: from a table to a descent, and from its members to scores."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from coterie._params import (
    Boolean,
    EstimatorLike,
    Fraction,
    Integer,
    OneOf,
    Params,
    Real,
    Seed,
    in_short,
    spawn_seeds,
)
from coterie._storage import Fitted
from coterie._typing import AnyArray, FloatArray, Task
from coterie.adaboost._fitted import ANYBOOST_FITTED
from coterie.adaboost._functional_descent import Descent, Rows, StepRule
from coterie.data.holdout import holdout_rows
from coterie.data.parts import rows_of
from coterie.data.prepare import TrainingData, prepare_training
from coterie.errors import InvalidInput, InvalidParameter, ModelFileError
from coterie.fitting.checkpoint import CheckpointLike
from coterie.fitting.checkpoint_lists import CheckpointedLists, check_numbers, lists_in_checkpoint
from coterie.fitting.early_stopping import EarlyStopping
from coterie.fitting.estimator import Estimator, FitRun, FitSignature, signature_of
from coterie.fitting.eval_set import EvalSet, read_eval_set
from coterie.fitting.fingerprint import data_fingerprint
from coterie.fitting.warm_start import (
    BEGIN_ANEW,
    PreviousFit,
    check_continues,
    check_no_fewer,
    check_same_settings,
)
from coterie.losses import InitScore, Loss
from coterie.members.base_learner import (
    BaseLearner,
    NewTable,
    default_learner,
    mean_importances,
    new_table,
    tags_of_learner,
)

ANYBOOST_PARAMS: Params = {
    "estimator": [EstimatorLike(), None],
    "n_estimators": [Integer(1)],
    "step": [Real(0, None, closed="neither"), OneOf("line_search")],
    "learning_rate": [Fraction(), OneOf("auto")],
    "init": [OneOf("constant", "zero")],
    "subsample": [Fraction()],
    "early_stopping": [Boolean(), OneOf("auto")],
    "validation_fraction": [Real(0, 1, closed="neither")],
    "n_iter_no_change": [Integer(1)],
    "tol": [Real(0)],
    "warm_start": [Boolean()],
    "random_state": [Seed()],
    "n_jobs": [Integer(), None],
    "checkpoint": [CheckpointLike(), None],
}


@dataclass(frozen=True)
class AnyBoostState:
    """What a longer fit needs of the last one: the members and the step of each round."""

    members: AnyArray
    steps: FloatArray


class BaseAnyBoost(Estimator):
    """The rounds of `fit`, and the sum that `predict` starts from."""

    PARAMS: ClassVar[Params] = ANYBOOST_PARAMS
    FITTED: ClassVar[Fitted] = ANYBOOST_FITTED
    _task: ClassVar[Task]

    estimators_: AnyArray
    estimator_weights_: FloatArray
    baseline_: FloatArray
    n_features_in_: int
    _unit: float

    # What those of classes and those of numbers each define.
    _set_target: Callable[[TrainingData], None]
    _loss: Callable[[], Loss]

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, resume: bool = False
    ) -> Self:
        """Fit to a table and its target.

        Parameters
        ----------
        X : any table that the learner takes; it is given to members as it is
        y : labels of any type, or numbers, of shape (n_rows,)
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts; rows of weight 0 are left out.
        eval_set : tuple (X, y) or (X, y, weight), default=None
            Rows that are evaluated after each round, which decides when to stop.
        resume : bool, default=False
            Go on from `checkpoint`, or begin anew if there is nothing yet.
        """
        with self._fitting(X, y, resume=resume) as run:
            train = prepare_training(self, X, y, sample_weight, task=self._task)
            self._set_target(train)
            signature = signature_of(self, train, run.seed, has_eval_set=eval_set is not None)
            if run.previous is not None:
                self._check_continued(run.previous, signature)
            own_eval_set = read_eval_set(eval_set, self, train, needs_offset=False)
            learner = self._base_learner().model
            run.open_checkpoint(lambda: data_fingerprint(train, eval_set=own_eval_set), learner=learner)
            run.begin_steps(int(self.n_estimators))
            if self._has_work():
                descent = self._descent(X, train, own_eval_set, run.seed)
                stops_early = self._stops_early(own_eval_set is not None)
                self._descend(descent, self._known_rounds(run), run, stops_early=stops_early)
            else:
                self._learn_nothing("there is one class, and nothing to learn")
            self._trace = replace(signature, seed=run.seed)
        return self

    def _previous_fit(self) -> PreviousFit[AnyBoostState] | None:
        if not hasattr(self, "_trace"):
            return None
        state = AnyBoostState(self.estimators_, self.estimator_weights_)
        return PreviousFit(self._trace, self.schema_, getattr(self, "classes_", None), state)

    def _check_continued(self, previous: PreviousFit[AnyBoostState], signature: FitSignature) -> None:
        n_known = len(previous.state.steps)
        check_no_fewer(self.n_estimators, n_known, "rounds")
        check_same_settings(previous.signature, signature, BEGIN_ANEW)
        classes = getattr(self, "classes_", None)
        check_continues(previous, signature, schema=self.schema_, classes=classes, hint=BEGIN_ANEW)

    def _known_rounds(self, run: FitRun) -> list[Any]:
        """Members and step of each round of the last fit, or of the checkpoint."""
        if run.previous is not None:
            state = run.previous.state
            return list(zip(state.members, state.steps, strict=True))
        kept = lists_in_checkpoint(run.checkpoint, "members", "steps")
        check_numbers(kept["steps"])
        if not all(type(own) is list and len(own) == len(self.baseline_) for own in kept["members"]):
            raise ModelFileError("The checkpoint holds rounds with another number of members.")
        return list(zip(kept["members"], kept["steps"], strict=True))

    def _stops_early(self, has_eval_set: bool) -> bool:
        return has_eval_set if isinstance(self.early_stopping, str) else bool(self.early_stopping)

    def _descent(self, X: Any, train: TrainingData, eval_set: EvalSet | None, seed: int) -> Descent:
        """Everything that the first round needs: rows, loss, and where scores begin."""
        learn, aside = self._divided(train, seed, has_eval_set=eval_set is not None)
        y = train.target.values / self._unit if self._unit != 1 else train.target.values
        weight = train.weight
        own_y, own_weight = y[learn], None if weight is None else weight[learn]
        loss = self._loss().on_rows(own_y, own_weight)
        init = InitScore(add_constant=self.init == "constant")
        bound = self._loss().bind(train.target.values[learn], own_weight, 1, init)
        self.baseline_ = bound.baseline
        learner = self._base_learner()
        if learner.is_classifier and bound.n_outputs > 1:
            raise InvalidParameter(
                f"estimator={in_short(learner.model)} is a classifier, whose predictions move one score up or down; "
                f"this loss has {bound.n_outputs} scores for each row. Give estimator= a regressor."
            )
        whole = len(learn) == len(y)
        rows = Rows(X if whole else rows_of(X, learn), own_y, own_weight, self._start(len(learn)))
        if eval_set is not None:
            other = self._eval_rows(eval_set)
        elif len(aside):
            aside_weight = None if weight is None else weight[aside]
            other = Rows(rows_of(X, aside), y[aside], aside_weight, self._start(len(aside)))
        else:
            other = None
        line = isinstance(self.step, str)
        share = self.learning_rate if not isinstance(self.learning_rate, str) else 0.1 if line else 1.0
        rule = StepRule(None if line else float(self.step), float(share))
        return Descent(loss, learner, rows, other, rule, float(self.subsample))

    def _divided(self, train: TrainingData, seed: int, *, has_eval_set: bool) -> tuple[AnyArray, AnyArray]:
        """Rows to learn from and rows to measure on; rows of zero weight are neither."""
        n_rows = train.encoded.n_rows
        kept = np.arange(n_rows) if train.weight is None else np.flatnonzero(train.weight > 0)
        if has_eval_set or not self._stops_early(has_eval_set):
            return kept, kept[:0]
        codes = train.target.values[kept] if self._task == "classification" else None
        learn, aside = holdout_rows(len(kept), self.validation_fraction, seed, codes)
        return kept[learn], kept[aside]

    def _eval_rows(self, given: EvalSet) -> Rows:
        weight, X, y = given.weight, given.X, given.target / self._unit if self._unit != 1 else given.target
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight > 0)
            if len(kept) == 0:
                raise InvalidInput("eval_set: every row has zero weight, which leaves nothing to measure on.")
            X, y, weight = rows_of(X, kept), y[kept], weight[kept]
        return Rows(X, y, weight, self._start(len(y)))

    def _start(self, n_rows: int) -> FloatArray:
        return np.tile(self.baseline_ / self._unit, (n_rows, 1))

    def _descend(
        self,
        descent: Descent,
        known: list[Any],
        run: FitRun,
        *,
        stops_early: bool,
    ) -> None:
        """Rounds that are known are not watched if they are of an earlier fit, and are if a checkpoint holds them."""
        stopping = None
        if stops_early and descent.eval_rows is not None:
            first = descent.eval_rows.mean_loss(descent.loss, descent.eval_rows.scores)
            stopping = EarlyStopping(int(self.n_iter_no_change), float(self.tol), first)
        if run.checkpoint is None:
            why = self._run_rounds(descent, known, run, stopping)
        else:
            lists: dict[str, list[Any]] = {"members": descent.members, "steps": descent.steps}
            kept = CheckpointedLists(run.checkpoint, lists, len(known))
            with run.checkpoint.recording(kept.collect):
                why = self._run_rounds(descent, known, run, stopping, kept)
        self.__dict__.update(self._so_far(descent, None if stopping is None else stopping.best_round))
        self.stopped_because_ = why
        self.inner_products_ = np.array(descent.inner_products)
        self.steps_ = np.array(descent.steps)
        self.train_losses_ = np.array(descent.losses)
        self._first_loss = descent.first_loss
        if descent.eval_rows is not None:
            self.validation_losses_ = np.array(descent.eval_losses)

    def _run_rounds(
        self,
        descent: Descent,
        known: list[Any],
        run: FitRun,
        stopping: EarlyStopping | None,
        kept: CheckpointedLists | None = None,
    ) -> str:
        """The loop; returns why it ended."""
        for number, own_seed in enumerate(spawn_seeds(run.seed, int(self.n_estimators)).tolist()):
            is_known = number < len(known)
            if is_known:
                descent.repeat(*known[number])
            elif not descent.go_on(own_seed):
                return descent.stopped_because
            if kept is not None:
                kept.look()
            is_new = kept is not None or not is_known
            if is_new and run.emit("round", number + 1, fitted=lambda: self._so_far(descent)):
                return "a callback asked to stop"
            if stopping is not None and stopping.reached(descent.eval_losses[-1]):
                return f"the validation loss has not fallen for {stopping.patience} rounds"
        return "all rounds are done"

    def _learn_nothing(self, why: str) -> None:
        self.baseline_ = np.zeros(1)
        self.estimators_ = np.empty((0, 1), dtype=object)
        self.n_estimators_, self._first_loss, self.stopped_because_ = 0, 0.0, why
        for name in ("estimator_weights_", "inner_products_", "steps_", "train_losses_"):
            setattr(self, name, np.zeros(0))

    def _so_far(self, descent: Descent, n_rounds: int | None = None) -> dict[str, Any]:
        """The members of the first rounds, or of all."""
        steps = np.array(descent.steps[:n_rounds], dtype=np.float64)
        members = np.empty((len(steps), len(self.baseline_)), dtype=object)
        for place, own in enumerate(descent.members[: len(steps)]):
            members[place] = own
        return {"estimators_": members, "estimator_weights_": steps, "n_estimators_": len(steps)}

    def _base_learner(self) -> BaseLearner:
        model = default_learner() if self.estimator is None else self.estimator
        return BaseLearner(model, self.n_jobs)

    def _raw_scores(self, X: Any) -> FloatArray:
        """Scores after the last round, shape (n_rows, n_outputs)."""
        return deque(self._staged_scores(X, with_start=True), maxlen=1)[0]

    def _staged_scores(self, X: Any, *, with_start: bool = False) -> Iterator[FloatArray]:
        """Scores after each round, and before the first if that is wished."""
        check_is_fitted(self, "estimators_")
        return self._summed_scores(new_table(self, X), with_start)

    def _summed_scores(self, table: NewTable, with_start: bool) -> Iterator[FloatArray]:
        learner, scores = self._base_learner(), self._start(table.n_rows)
        if with_start:
            yield scores * self._unit
        for members, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
            predicted = [learner.predict_new(table, member) for member in members]
            scores = scores + weight * np.column_stack(predicted)
            yield scores * self._unit

    @property
    def feature_importances_(self) -> FloatArray:
        """What the features were worth to the members, each as much as it lowered the training loss; sums to 1."""
        check_is_fitted(self, "estimators_")
        members = list(self.estimators_.ravel())
        if members and not any(hasattr(member, "feature_importances_") for member in members):
            raise AttributeError(
                f"The members of this {type(self).__name__}, copies of {in_short(self._base_learner().model)}, have no "
                "feature_importances_."
            )
        losses = np.append(self._first_loss, self.train_losses_[: len(self.estimators_)])
        falls = np.repeat(np.maximum(-np.diff(losses), 0.0), self.estimators_.shape[1])
        return mean_importances(members, falls, self.n_features_in_)

    def __sklearn_tags__(self) -> Tags:
        return tags_of_learner(super().__sklearn_tags__(), self._base_learner().model)

    def _read_offset(self, offset: Any, n_rows: int) -> None:
        if offset is not None:
            raise InvalidInput(
                f"eval_set has an offset, which {type(self).__name__} does not have; expected (X, y) or (X, y, "
                "weight)."
            )

    def _has_work(self) -> bool:
        return True
