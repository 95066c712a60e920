"""`HistGradientBoosting*` with the parameters of scikit-learn's, on the booster of ours that is closest to it."""

import copy
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import ensemble as theirs
from sklearn.utils.validation import check_is_fitted

from coterie._sklearn import check_monotonic_cst
from coterie._storage import Fitted
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie._value_types import BOOL, FLOAT_VECTOR
from coterie.boosting import gradient_boosting
from coterie.boosting.friedman import BoostingFit, BoostingHistory, HistoryBooster, ScoreHistory
from coterie.boosting.plan import Plan
from coterie.data.parts import rows_of
from coterie.data.prepare import TrainingData
from coterie.ensemble._mirror import Mirror, as_array, mirrors
from coterie.ensemble.boosting_parameters import fix_seed, histogram_settings
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.scoring import RoundScorer

_MANY_ROWS = 10_000  # above which early_stopping="auto" is True, and at most so many training rows are scored
_HISTORY: Fitted = {
    "train_score_": FLOAT_VECTOR,
    "validation_score_": FLOAT_VECTOR,
    "do_early_stopping_": BOOL,
}


class HistGradientBoostingMirror(Mirror):
    """What both share: from scikit-learn's parameters to a plan, and the scores after each round."""

    # What ours has beside scikit-learn's parameters.
    dropout_rate = 0.0
    refit = False
    linear_leaves = False
    init = None
    unknown_category = "missing"
    n_jobs = None
    checkpoint = None

    _records_curves = False  # it has those of scikit-learn
    _takes_several_targets = False

    def _rounds_of_a_line(self) -> int:
        return 0

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Grow the trees; rows of `X_val` decide when to stop, if they are given."""
        own: Any = self
        self._validation = self._given_validation(X_val, y_val, sample_weight_val)
        self._history = BoostingHistory()
        self._rule: ScoreHistory | None = None
        begun = time.time()
        if own.verbose:
            _write("Fitting gradient boosted rounds:")
        try:
            eval_set = self._validation
            if eval_set is None and own.validation_fraction is None and self._may_stop(X):
                eval_set = (X, y, sample_weight)  # no row is left out, and all are measured
            parent: Any = super()
            parent.fit(self._without_negative(X), as_array(y), sample_weight, eval_set=eval_set)
            if own.verbose:
                _write(f"Fit {len(own.forest_)} trees in {time.time() - begun:.3f} s")
        finally:
            for name in ("_validation", "_history", "_rule"):
                self.__dict__.pop(name, None)
        return self

    def _without_negative(self, X: Any) -> Any:
        """The table with negative numbers missing where an array has columns of categories, as scikit-learn has it."""
        own: Any = self
        given = own.categorical_features
        is_array = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "if"
        if (
            not is_array
            or given is None
            or isinstance(given, str)
            or np.asarray(given).dtype.kind not in "bi"
        ):
            return X
        columns = np.zeros(X.shape[1], dtype=bool)
        try:
            columns[np.asarray(given)] = True
        except IndexError:  # fit says what is wrong
            return X
        wrong = columns & (X < 0)
        return np.where(wrong, np.nan, X) if wrong.any() else X

    def _start_of(self, X: Any, offset: Any) -> Any:
        parent: Any = super()
        return parent._start_of(self._without_negative(X), offset)

    def _given_validation(self, X_val: Any, y_val: Any, weight: Any) -> Any:
        own: Any = self
        if X_val is None and y_val is None:
            return None
        if y_val is None or X_val is None:
            given, missing = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
            raise ValueError(f"{given} is provided, but {missing} was not provided.")
        if own.early_stopping is False:
            raise ValueError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False. When passing X_val "
                "and y_val to fit,early_stopping should be set to either 'auto' or True."
            )
        return (X_val, y_val, weight)

    def _may_stop(self, X: Any) -> bool:
        own: Any = self
        if own.early_stopping != "auto":
            return bool(own.early_stopping)
        return (X.shape[0] if hasattr(X, "shape") else len(X)) > _MANY_ROWS

    @property
    def n_estimators(self) -> int:
        """What ours calls `max_iter`."""
        own: Any = self
        return int(own.max_iter)

    @property
    def n_iter_(self) -> int:
        """Rounds that were grown."""
        check_is_fitted(self, "forest_")
        own: Any = self
        return int(own.n_estimators_)

    @property
    def n_trees_per_iteration_(self) -> int:
        """One, or one for each of several classes."""
        check_is_fitted(self, "forest_")
        own: Any = self
        return int(own.forest_.n_outputs)

    @property
    def is_categorical_(self) -> AnyArray | None:
        """Which columns are categories; None if none is."""
        check_is_fitted(self, "forest_")
        own: Any = self
        nominal = own.encoder_.n_levels > 0
        return nominal if nominal.any() else None

    def _prepare(self, X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any) -> Any:
        own: Any = self
        parent: Any = super()
        given = own.categorical_features
        if isinstance(given, str) and given == "from_dtype":
            own.categorical_features = "auto"
        try:
            return parent._prepare(X, y, sample_weight, offset, groups)
        finally:
            own.categorical_features = given

    def _plan(self, data: Any, *, has_eval_set: bool) -> Plan:
        own: Any = self
        if own.monotonic_cst is not None:
            check_monotonic_cst(own, own.monotonic_cst)
            if len(getattr(self, "classes_", ())) > 2:
                raise InvalidParameter(
                    "monotonic constraints are not supported for multiclass classification.",
                    parameter="monotonic_cst",
                    received=own.monotonic_cst,
                    allowed="None with more than two classes",
                )
        stops = self._may_stop_rows(data.n_rows)
        params = histogram_settings(own.get_params(deep=False), n_rows=data.n_rows, stops=stops)
        own.do_early_stopping_ = stops
        parent: Any = super()
        plan: Plan = parent._plan_of(params, data, has_eval_set=has_eval_set)
        return replace(plan, fewer_bins=False)

    def _may_stop_rows(self, n_rows: int) -> bool:
        own: Any = self
        if self._validation is not None:
            return True
        return n_rows > _MANY_ROWS if own.early_stopping == "auto" else bool(own.early_stopping)

    def _begin(self, run: Any, data: Any, plan: Plan) -> Any:
        own: Any = self
        if own.max_features == 1 and not plan.stops_early:
            fix_seed(run, own.random_state)
        n_known = 0 if run.previous is None else int(run.previous.state.rounds.max())
        if own.max_iter < n_known:
            raise InvalidParameter(
                f"max_iter={own.max_iter} must be larger than or equal to n_iter_={n_known} when warm_start==True",
                parameter="max_iter",
                received=own.max_iter,
                allowed=f"at least {n_known}",
            )
        parent: Any = super()
        return parent._begin(run, data, plan)

    def _boosting_fit(self, run: Any, data: Any, plan: Plan) -> BoostingFit:
        own: Any = self
        parent: Any = super()
        fit: BoostingFit = parent._boosting_fit(run, data, plan)
        n_known = 0 if run.previous is None else int(run.previous.state.rounds.max())
        by_loss = self._by_loss()
        fit = replace(fit, scorer=None if by_loss else self._round_scorer)
        if not plan.stops_early:
            return fit

        def rule(first: float) -> ScoreHistory:
            found = self._rule = ScoreHistory(first, plan.patience, float(own.tol), n_known)
            return found

        booster = partial(
            HistoryBooster,
            target=data.train.target.values,
            weight=data.train.weight,
            history=self._history,
            measure=None if by_loss else self._measure(data),
        )
        return replace(fit, booster=booster, stopping_rule=rule)

    def _by_loss(self) -> bool:
        own: Any = self
        return isinstance(own.scoring, str) and own.scoring == "loss"

    def _round_scorer(self, X: Any, target: AnyArray, weight: FloatArray | None) -> RoundScorer:
        """A scorer of rows; without `scoring` it is that of `score`."""
        own: Any = self
        scored = copy.copy(own)
        if own.scoring is None:
            scored.scoring = "accuracy" if own._task == "classification" else "r2"
        return RoundScorer(scored, X, own._decoded(target), weight)

    def _measure(self, data: Any) -> Callable[[FloatArray, RowArray], float]:
        """Minus the score of the training rows, or of ten thousand of them."""
        scorers: dict[int, tuple[RowArray, RoundScorer]] = {}

        def measure(raw: FloatArray, rows: RowArray) -> float:
            if 0 not in scorers:
                step = -(-len(rows) // _MANY_ROWS)
                some = np.arange(0, len(rows), step)
                weight = data.train.sample_weight
                own_weight = None if weight is None else weight[rows[some]]
                table = rows_of(data.X, rows[some])
                scorers[0] = some, self._round_scorer(table, data.train.target.values[rows[some]], own_weight)
            some, scorer = scorers[0]
            return -scorer.score(raw[some])

        return measure

    def _on_round(self, run: Any) -> Any:
        own: Any = self
        parent: Any = super()
        inner = parent._on_round(run)
        if own.verbose < 2:
            return inner

        def on_round(done: int, fitted: Callable[[], dict[str, Any]]) -> bool:
            known = self._history.train_losses
            _write(f"[{done}/{own.max_iter}]" + (f" train score: {-known[-1]:.5f}" if known else ""))
            return inner is not None and inner(done, fitted)

        return on_round

    def _conclude(self, trained: Any, signature: Any) -> None:
        parent: Any = super()
        parent._conclude(trained, signature)
        rule = self._rule
        own: Any = self
        self.train_score_ = -np.array(self._history.train_losses)
        uses_rows = own.validation_fraction is not None or self._validation is not None
        self.validation_score_ = -np.array(rule.losses if rule is not None and uses_rows else [])


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


@mirrors(theirs.HistGradientBoostingClassifier)
class HistGradientBoostingClassifier(
    HistGradientBoostingMirror, gradient_boosting.GradientBoostingClassifier
):
    """Gradient boosting for classes, as `sklearn.ensemble.HistGradientBoostingClassifier` is called.

    Text columns are categories, and a category column may have more values than `max_bins`.
    """

    FITTED: ClassVar[Fitted] = {**gradient_boosting.GradientBoostingClassifier.FITTED, **_HISTORY}

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
        class_weight: Any = None,
    ) -> None:
        self._store(locals())


@mirrors(theirs.HistGradientBoostingRegressor)
class HistGradientBoostingRegressor(HistGradientBoostingMirror, gradient_boosting.GradientBoostingRegressor):
    """Gradient boosting for numbers, as `sklearn.ensemble.HistGradientBoostingRegressor` is called.

    Text columns are categories, and a category column may have more values than `max_bins`.
    """

    FITTED: ClassVar[Fitted] = {**gradient_boosting.GradientBoostingRegressor.FITTED, **_HISTORY}
    class_weight = None

    def _set_target(self, train: TrainingData) -> None:
        super()._set_target(train)
        y = train.target.values
        allowed = None
        if self.loss == "gamma" and (y <= 0).any():
            allowed = "strictly positive y."
        elif self.loss == "poisson" and ((y < 0).any() or not y.any()):
            allowed = "non-negative y and sum(y) > 0."
        if allowed is not None:
            raise InvalidInput(f"loss={self.loss!r} requires {allowed}", parameter="y", allowed=allowed)

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self._store(locals())
