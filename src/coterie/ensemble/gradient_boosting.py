"""`GradientBoosting*` with the parameters of scikit-learn's: Friedman's boosting, on histograms of the engine."""

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import ensemble as theirs
from sklearn.utils.validation import check_is_fitted

from coterie._storage import Fitted
from coterie._typing import AnyArray
from coterie._value_types import COUNT, FLOAT_VECTOR, INTEGERS, NUMBER
from coterie.boosting import gradient_boosting
from coterie.boosting.friedman import BoostingFit, BoostingHistory, FriedmanBooster, LossHistory
from coterie.boosting.plan import Plan
from coterie.data.prepare import TrainingData, prepare_prediction
from coterie.ensemble._mirror import (
    MemberSequence,
    Mirror,
    as_array,
    errors_as_they_are,
    mirrors,
    unequal_weights,
)
from coterie.ensemble.boosting_parameters import exact_settings, fix_seed, tree_of_boosting
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import Loss
from coterie.losses.huber import Huber
from coterie.losses.quantile import Quantile
from coterie.trees.growth_rules import max_features_of

_TWICE = (
    "squared_error",
    "absolute_error",
    "log_loss",
)  # losses whose values are half of what scikit-learn reports
_UNIT_FREE = ("absolute_error", "quantile")
_HISTORY: Fitted = {
    "train_score_": FLOAT_VECTOR,
    "oob_improvement_": FLOAT_VECTOR,
    "oob_scores_": FLOAT_VECTOR,
    "oob_score_": NUMBER,
    "max_features_": COUNT,
    "_max_depths": INTEGERS,
}


class GradientBoostingMirror(Mirror, MemberSequence):
    """What both share: from scikit-learn's parameters to a plan, and what is known after each round."""

    # What ours has beside scikit-learn's parameters.
    quantile = None
    dropout_rate = 0.0
    refit = False
    scoring = None
    linear_leaves = False
    class_weight = None
    categorical_features = "auto"
    unknown_category = "missing"
    n_jobs = None
    checkpoint = None

    _records_curves = False  # it has those of scikit-learn
    _takes_several_targets = False

    def _rounds_of_a_line(self) -> int:
        return 0

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, monitor: Callable[..., Any] | None = None
    ) -> Self:
        """Grow the trees.

        `monitor(i, model, variables)` is called after each round, and ends the fit by returning True.
        """
        own: Any = self
        if own.criterion != "deprecated":
            warnings.warn(
                "The parameter `criterion` is deprecated and will be removed in 1.11. It has no effect. Leave it to "
                "its default value to avoid this warning.",
                FutureWarning,
                stacklevel=2,
            )
        self._monitor, self._history, self._begun = monitor, BoostingHistory(), time.time()
        known = (
            {name: getattr(self, name) for name in _HISTORY if hasattr(self, name)} if own.warm_start else {}
        )
        self._known_history = known
        try:
            parent: Any = super()
            with errors_as_they_are():
                # An estimator that begins is given the weights, if it takes weights.
                weight = sample_weight if hasattr(own.init, "fit") else unequal_weights(sample_weight)
                parent.fit(X, as_array(y), weight)
        finally:
            for name in ("_monitor", "_history", "_known_history", "_begun"):
                self.__dict__.pop(name, None)
        return self

    def _plan(self, data: Any, *, has_eval_set: bool) -> Plan:
        own: Any = self
        n_features = data.train.encoded.n_features
        weight = data.train.weight
        own.max_features_ = max_features_of(own.max_features, n_features)
        params = exact_settings(
            own.get_params(deep=False),
            n_rows=data.n_rows,
            share_of_features=own.max_features_ / n_features,
            total_weight=None if weight is None else float(weight.sum()),
        )
        parent: Any = super()
        plan: Plan = parent._plan_of(params, data, has_eval_set=has_eval_set)
        return replace(plan, fewer_bins=False, unit_free=own.loss in _UNIT_FREE)

    def _begin(self, run: Any, data: Any, plan: Plan) -> Any:
        own: Any = self
        if own.subsample == 1 and own.max_features is None and own.n_iter_no_change is None:
            fix_seed(run, own.random_state)
        parent: Any = super()
        return parent._begin(run, data, plan)

    def _boosting_fit(self, run: Any, data: Any, plan: Plan) -> BoostingFit:
        parent: Any = super()
        own: Any = self
        fit: BoostingFit = parent._boosting_fit(run, data, plan)
        n_known = 0 if run.previous is None else int(run.previous.state.rounds.max())
        booster = partial(
            FriedmanBooster,
            target=data.train.target.values,
            weight=data.train.weight,
            subsample=float(own.subsample),
            history=self._history,
        )
        patience = own.n_iter_no_change or 1
        rule = lambda _: LossHistory(patience, float(own.tol) / self._factor(), n_known)  # noqa: E731
        return replace(fit, booster=booster, stopping_rule=rule)

    def _factor(self) -> float:
        """Log loss of several classes is reported as it is; half of a square and half of a deviance, twice."""
        own: Any = self
        return 1.0 if own.loss not in _TWICE or len(getattr(self, "classes_", ())) > 2 else 2.0

    def _on_round(self, run: Any) -> Any:
        own: Any = self
        parent: Any = super()
        inner = parent._on_round(run)
        if self._monitor is None and not own.verbose and inner is None:
            return None
        n_known = 0 if run.previous is None else int(run.previous.state.rounds.max())
        report = _Progress(int(own.n_estimators), has_oob=own.subsample < 1, verbose=int(own.verbose))

        def on_round(done: int, fitted: Callable[[], dict[str, Any]]) -> bool:
            stop = inner is not None and inner(done, fitted)
            if done <= n_known:
                return stop
            self._set_history(done)
            report.after(done, self)
            if self._monitor is not None:
                for name, value in fitted().items():
                    setattr(self, name, value)
                own.rounds_, own.n_estimators_ = np.array([done]), done
                stop = bool(self._monitor(done - 1, self, {"self": self, "i": done - 1})) or stop
            return stop

        return on_round

    def _conclude(self, trained: Any, signature: Any) -> None:
        parent: Any = super()
        parent._conclude(trained, signature)
        own: Any = self
        self._set_history(own.n_estimators_)

    def _set_history(self, n_rounds: int) -> None:
        """The attributes of rounds, those of the fit that is continued first."""
        own: Any = self
        known, factor, new = self._known_history, self._factor(), self._history
        train = np.array([factor * loss for loss in new.train_losses])
        self.train_score_ = np.concatenate([known.get("train_score_", np.zeros(0)), train])[:n_rounds]
        depths = np.full(len(train), 0 if own.max_depth is None else int(own.max_depth))
        self._max_depths = np.concatenate([known.get("_max_depths", np.zeros(0, np.int64)), depths])[
            :n_rounds
        ]
        if not new.oob_losses and "oob_scores_" not in known:
            return
        n_known = n_rounds - len(train)
        before = known.get("oob_scores_", np.zeros(max(n_known, 0)))
        gained = known.get("oob_improvement_", np.zeros(max(n_known, 0)))
        if new.oob_losses:
            losses = factor * np.array(new.oob_losses)
            first = before[-1] if len(before) and before[-1] else factor * (new.first_oob_loss or 0.0)
            gained = np.concatenate([gained, -np.diff(losses, prepend=first)])
            before = np.concatenate([before, losses])
        self.oob_scores_, self.oob_improvement_ = before[:n_rounds], gained[:n_rounds]
        self.oob_score_ = float(self.oob_scores_[-1])

    @property
    def n_trees_per_iteration_(self) -> int:
        """One, or one for each of several classes."""
        check_is_fitted(self, "forest_")
        own: Any = self
        return int(own.forest_.n_outputs)

    @property
    def estimators_(self) -> AnyArray:
        """The trees, each made when it is requested: an array of shape (n_estimators_, n_trees_per_iteration_)."""
        own: Any = self
        check_is_fitted(self, "forest_")
        trees = np.empty((own.n_estimators_, own.forest_.n_outputs), dtype=object)
        for place in range(trees.size):
            depth = int(self._max_depths[place // trees.shape[1]]) or None
            trees.flat[place] = tree_of_boosting(self, own.forest_.tree(place), depth)
        return trees

    def apply(self, X: Any) -> AnyArray:
        """The number of the leaf that each row ends in, for each tree."""
        own: Any = self
        check_is_fitted(self, "forest_")
        encoded = prepare_prediction(self, X)
        leaves = np.empty(encoded.n_rows * len(own.forest_), np.uint32)
        own.forest_.find_leaves(encoded.values, encoded.n_levels, leaves, own._n_threads())
        shaped = leaves.reshape(encoded.n_rows, own.n_estimators_, -1).astype(np.float64)
        return shaped if own._task == "classification" else shaped[:, :, 0]


class _Progress:
    """The lines of `verbose`: all of the first ten rounds, then of every tenth; with 2, of all."""

    def __init__(self, total: int, *, has_oob: bool, verbose: int) -> None:
        self._total, self._has_oob, self._verbose = total, has_oob, verbose
        self._begun, self._n_shown, self._every = time.time(), 0, 1
        if verbose:
            titles = ["Train Loss", *(["OOB Improve"] if has_oob else []), "Remaining Time"]
            _write(f"{'Iter':>10} " + " ".join(f"{title:>16}" for title in titles))

    def after(self, done: int, model: Any) -> None:
        self._n_shown += 1
        if not self._verbose or self._n_shown % self._every:
            return
        left = (self._total - done) * (time.time() - self._begun) / self._n_shown
        shown = [f"{model.train_score_[done - 1]:16.4f}"]
        shown += [f"{model.oob_improvement_[done - 1]:16.4f}"] if self._has_oob else []
        _write(
            f"{done:>10} " + " ".join(shown) + f" {f'{left / 60:.2f}m' if left > 60 else f'{left:.2f}s':>16}"
        )
        if self._verbose == 1 and self._n_shown // (self._every * 10) > 0:
            self._every *= 10


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


@mirrors(theirs.GradientBoostingClassifier)
class GradientBoostingClassifier(GradientBoostingMirror, gradient_boosting.GradientBoostingClassifier):
    """Gradient boosting for classes, as `sklearn.ensemble.GradientBoostingClassifier` is called.

    Splits lie between 255 bins of each feature, which are all values where there are no more; trees are grown on
    gradients, and leaves take Newton's step, as in scikit-learn. `coterie.GradientBoostingClassifier` is another
    recipe, with other parameters.
    """

    FITTED: ClassVar[Fitted] = {**gradient_boosting.GradientBoostingClassifier.FITTED, **_HISTORY}

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "deprecated",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: Any = None,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
    ) -> None:
        self._store(locals())

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        check_is_fitted(self, "classes_")
        return len(self.classes_)

    def _set_target(self, train: TrainingData) -> None:
        super()._set_target(train)
        codes = train.target.values
        counts = np.bincount(codes if train.weight is None else codes[train.weight > 0], minlength=1)
        if (counts > 0).sum() < 2:
            raise InvalidInput(
                f"y contains {(counts > 0).sum()} class after sample_weight trimmed classes with zero weights, while a "
                "minimum of 2 classes are required.",
                parameter="y",
                received=np.asarray(self.classes_).tolist(),
                allowed="at least two classes with weight",
            )
        if self.loss == "exponential" and len(self.classes_) > 2:
            raise InvalidParameter(
                f"loss='exponential' is only suitable for a binary classification problem, you have "
                f"{len(self.classes_)} classes. Please use loss='log_loss' instead.",
                parameter="loss",
                received=self.loss,
                allowed="'log_loss'",
            )
        if self.n_iter_no_change is not None and counts.min() < 2:
            few = [_as_number(label) for label in self.classes_[counts < 2].tolist()]
            raise InvalidInput(
                f"The least populated classes in y have only {counts.min()} member, which is too few to leave rows of "
                f"each class out, as n_iter_no_change does. Classes with too few members are: {few}",
                parameter="y",
                received=few,
                allowed="two rows of each class at least",
            )


def _as_number(label: Any) -> Any:
    return float(label) if isinstance(label, int | float) else label


@mirrors(theirs.GradientBoostingRegressor)
class GradientBoostingRegressor(GradientBoostingMirror, gradient_boosting.GradientBoostingRegressor):
    """Gradient boosting for numbers, as `sklearn.ensemble.GradientBoostingRegressor` is called.

    Splits lie between 255 bins of each feature, which are all values where there are no more; trees are grown on
    gradients, and leaves hold means or quantiles of what is left, as in scikit-learn.
    `coterie.GradientBoostingRegressor` is another recipe, with other parameters.
    """

    FITTED: ClassVar[Fitted] = {**gradient_boosting.GradientBoostingRegressor.FITTED, **_HISTORY}

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "deprecated",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: Any = None,
        alpha: float = 0.9,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
    ) -> None:
        self._store(locals())

    def _loss_of_one(self) -> str | Loss:
        settings: dict[str, Loss] = {
            "huber": Huber(float(self.alpha)),
            "quantile": Quantile(float(self.alpha)),
        }
        return settings.get(self.loss) or str(self.loss)
