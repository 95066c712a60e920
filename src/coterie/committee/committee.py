"""Committees: a table in, the best weighted mean of many kinds of members out, within a time limit."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from coterie._documentation import documented
from coterie._params import AnyLabel, MappingLike, OneOf, Params, in_short
from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import (
    AnyArray,
    BoolArray,
    ClassWeight,
    FloatArray,
    OnError,
    RowArray,
    SeedLike,
    Task,
)
from coterie._value_types import (
    BOOL,
    COUNT,
    FLOAT_VECTOR,
    FLOATS,
    LABELS,
    MODEL,
    NONE,
    NUMBER,
    TEXT,
    array,
    dict_of,
    instance,
    list_of,
    pair_of,
)
from coterie.committee._committee_base import COMMITTEE_PARAMS, BaseCommittee
from coterie.committee._committee_data import MemberRecord
from coterie.committee._committee_docs import committee_texts
from coterie.committee.metrics import (
    LogLossMetric,
    Metric,
    RowTargets,
    SquaredErrorMetric,
    ThresholdMetric,
    unweighted,
)
from coterie.committee.weights import OutOfFoldPredictions, apply_temperature
from coterie.data.holdout import rows_held_out
from coterie.data.prepare import read_table
from coterie.data.table_features import TableFeatures
from coterie.data.target import Target
from coterie.errors import InvalidParameter
from coterie.fitting.scoring import ResponseFunctions
from coterie.forests.jackknife import jackknife_plus
from coterie.members.decision_rule import (
    TUNED_SCORES,
    CostMatrixLike,
    DecisionRule,
    DecisionSettings,
    ThresholdChoice,
    ThresholdLike,
    decided_codes,
    parts_of_rows,
)
from coterie.members.intervals import ResidualScale, within_range
from coterie.members.out_of_fold import FoldEnsemble
from coterie.members.prediction_sets import SetMethod, check_alpha, prediction_sets, set_threshold
from coterie.members.response import ResponseMethod

_COMMITTEE: Fitted = {
    "scoring_": TEXT,
    "members_": list_of(TEXT),
    "weights_": FLOATS,
    "n_iter_": COUNT,
    "oof_score_": NUMBER,
    "oof_score_error_": NUMBER,
    "member_scores_": dict_of(TEXT, NUMBER),
    "oof_predictions_": dict_of(TEXT, FLOATS),
    "fit_time_": NUMBER,
    "fit_times_": dict_of(TEXT, NUMBER),
    "predict_times_": dict_of(TEXT, NUMBER),
    "sizes_": dict_of(TEXT, COUNT | NONE),
    "skipped_": dict_of(TEXT, TEXT),
    "dropped_": dict_of(TEXT, TEXT),
    "stopped_": list_of(TEXT),
    "n_tried_": COUNT,
    "interrupted_": BOOL,
    "n_folds_": COUNT,
    "estimators_": list_of(instance(FoldEnsemble)),
    "named_estimators_": dict_of(TEXT, instance(FoldEnsemble)),
    "_answers": instance(OutOfFoldPredictions),
    "_truth": instance(RowTargets),
    "_shares": FLOATS,
    "_questions": list_of(instance(ResponseMethod)),
    "_learners": list_of(pair_of(MODEL, COUNT | NONE)),
    "_has_folds": BOOL,
    "record_": list_of(instance(MemberRecord)),
    "_seed": COUNT,
    "_class_weights": FLOATS | NONE,
}
COMMITTEE_CLASSIFIER_FITTED: Fitted = {
    **_COMMITTEE,
    "classes_": LABELS,
    "oof_proba_": array("f", 2),
    "temperature_": NUMBER,
    "_temperature_alone": NUMBER,
    "threshold_": NUMBER | NONE,
    "decision_": instance(DecisionRule) | NONE,
}
COMMITTEE_REGRESSOR_FITTED: Fitted = {**_COMMITTEE, "oof_prediction_": FLOAT_VECTOR}


def verify_committee(model: Any) -> None:
    held = vars(model)
    if "estimators_" not in held:
        return
    n_members = len(model.estimators_)
    for name in ("_shares", "_questions", "_learners"):
        expect(name in held and len(held[name]) == n_members, f"has {name} of other members than its own")
    expect(n_members > 0, "has no members")
    expect("n_folds_" in held and "_has_folds" in held, "lacks the number of its folds")
    n_models = {len(member.models) for member in model.estimators_}
    expect(n_models <= {1, model.n_folds_ if model._has_folds else 1}, "has members of different folds")


_MOST_ROWS = 2_000
_MOST_SCALED_ROWS = 10_000  # that the scale of residuals is learned from


def calibration_rows(nested: FloatArray, oof: OutOfFoldPredictions) -> RowArray:
    """At most 2,000 rows that calibrate intervals: evenly spaced in the order of their targets, by weight.

    Examples
    --------
    Rows that all count alike are all there, each once.

    >>> from coterie.committee.metrics import RowTargets
    >>> rows = RowTargets(np.array([3.0, 1.0, 2.0]), np.ones(3))
    >>> oof = OutOfFoldPredictions(np.zeros((1, 3, 1)), rows, np.ones(3, dtype=bool), [])
    >>> calibration_rows(np.zeros((3, 1)), oof)
    array([1, 2, 0])
    """
    rows = np.flatnonzero(~np.isnan(nested).any(axis=1) & oof.known)
    rows = rows[np.argsort(oof.rows.truth[rows], kind="stable")]
    n_chosen = min(len(rows), _MOST_ROWS)
    reached = np.cumsum(oof.rows.weight[rows])
    wanted = (np.arange(n_chosen) + 0.5) / n_chosen * reached[-1]
    return np.asarray(rows[np.searchsorted(reached, wanted)], dtype=np.int64)


def held_out(rows: RowArray, oof: OutOfFoldPredictions) -> BoolArray:
    """Which folds held which rows out, shape (n_rows, n_folds)."""
    out = np.zeros((len(oof.known), len(oof.folds)), dtype=bool)
    for number, fold in enumerate(oof.folds):
        out[fold.test, number] = True
    return np.asarray(out[rows])


@storable_estimator(verify=verify_committee)
@documented(committee_texts)
class CommitteeClassifier(ClassifierMixin, BaseCommittee):
    """The best committee of classifiers for a table within a time limit.

    Members of many kinds are fitted to the folds of the table, one after the other: gradient boosting in several
    manners, forests, AdaBoost, a linear model, nearest neighbours. Their predictions for rows held out give each a
    weight, an estimate of how good the committee is, and of whether its probabilities are too certain. The models of
    the folds are kept, and the committee predicts by their mean.

    Any table will do: categories and missing values stay as they are.

    Examples
    --------
    >>> from coterie import CommitteeClassifier
    >>> from coterie.datasets import load_table
    >>> X, y = load_table("wine")
    >>> model = CommitteeClassifier(time_limit=None, max_members=3, random_state=0).fit(X, y)
    >>> model.members_, float(model.weights_.sum().round(9))
    (['quick_boosting', 'linear', 'boosting'], 1.0)
    >>> bool(model.oof_score_ >= max(model.member_scores_.values()) - 0.01)
    True

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes, Ensemble selection from libraries of models (2004); Erickson and others,
    AutoGluon-Tabular (2020).
    """

    FITTED: ClassVar[Fitted] = COMMITTEE_CLASSIFIER_FITTED
    _task: ClassVar[Task] = "classification"
    PARAMS: ClassVar[Params] = {
        **COMMITTEE_PARAMS,
        "calibration": [OneOf("temperature"), None],
        "threshold": [ThresholdChoice("auto"), None],
        "cost_matrix": [CostMatrixLike(), None],
        "pos_label": [AnyLabel(), None],
        "class_weight": [OneOf("balanced"), MappingLike(), None],
    }

    classes_: AnyArray
    temperature_: float
    decision_: DecisionRule | None

    def __init__(
        self,
        time_limit: float | None = 60,
        *,
        scoring: Any = None,
        cv: Any = 5,
        portfolio: Any = "auto",
        max_members: int | None = None,
        memory_limit: float | None = None,
        max_iter: int = 25,
        calibration: Literal["temperature"] | None = "temperature",
        threshold: ThresholdLike = "auto",
        cost_matrix: Any = None,
        pos_label: Any = None,
        class_weight: ClassWeight = None,
        on_error: OnError = "drop",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
        checkpoint: Any = None,
        features: TableFeatures | Literal["auto"] | None = "auto",
        max_predict_time: float | None = None,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> AnyArray:
        """The class of each row that `decision_` decides for; without one the most probable, on a tie the first."""
        codes = decided_codes(self, self.predict_proba(X))
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> FloatArray:
        """The weighted mean of the members' probabilities at the temperature, shape (n_rows, n_classes)."""
        return apply_temperature(self._mean_predictions(X), self.temperature_)

    def predict_set(self, X: Any, alpha: float = 0.1, *, method: SetMethod = "adaptive") -> BoolArray:
        """Which classes each row may well have, so that the true one is missed a share `alpha` of the time.

        Parameters
        ----------
        X : a table with the columns of `fit`
        alpha : float in (0, 1)
        method : {"adaptive", "threshold"}
            Sets that are right about as often for easy rows as for hard ones, or sets that are small on average.

        Returns
        -------
        bool array of shape (n_rows, n_classes), in the order of `classes_`; at least one class in each row
        """
        check_alpha(alpha)
        proba = self.predict_proba(X)
        weight = np.where(self._answers.known, self._truth.weight, 0.0)
        threshold = set_threshold(self.oof_proba_, self._truth.truth, weight, alpha, method)
        return prediction_sets(proba, threshold, method)

    def _labels_of(self, proba: FloatArray) -> AnyArray:
        return np.asarray(self.classes_[proba.argmax(axis=1)])

    def _check_parameters(self) -> None:
        if self.cost_matrix is not None and self.threshold != "auto":
            raise InvalidParameter.expecting(
                f"threshold={in_short(self.threshold)} and a cost_matrix were given, and each alone decides",
                "threshold='auto' beside a cost_matrix",
                "threshold",
                self.threshold,
            )

    def _settings(self) -> DecisionSettings:
        """What decisions are tuned to; "auto" is the score, if it is one of decisions."""
        threshold = self.threshold
        if isinstance(threshold, str) and threshold == "auto":
            tunable = isinstance(self.scoring, str) and self.scoring in TUNED_SCORES
            for_several = self.scoring == "balanced_accuracy"
            threshold = self.scoring if tunable and (len(self.classes_) == 2 or for_several) else None
        return DecisionSettings(threshold, self.cost_matrix, self.pos_label, self.classes_)

    def _metric(self) -> Metric:
        settings = self._settings() if hasattr(self, "classes_") else None
        is_tuned = settings is not None and len(self.classes_) == 2 and settings.threshold == self.scoring
        if settings is None or not is_tuned or self.scoring is None:
            return super()._metric()
        objective = settings.objective()
        assert objective is not None
        return ThresholdMetric(objective, settings.positive, getattr(self, "_class_weights", None))

    def _set_decision(self) -> None:
        rows = np.flatnonzero(~np.isnan(self.oof_proba_).any(axis=1) & self._answers.known)
        own = self._truth.take(rows)
        weight = unweighted(own, self._class_weights)
        part = parts_of_rows(len(rows), own.groups)
        self.decision_ = self._settings().rule(self.oof_proba_[rows], own.truth, weight, part)
        self.threshold_ = None if self.decision_ is None else self.decision_.threshold

    def _decision_notes(self) -> list[str]:
        rule = getattr(self, "decision_", None)
        return [] if rule is None else [rule.describe(self.classes_)]

    def _set_models_alone(self) -> None:
        rule = getattr(self, "decision_", None)
        if rule is not None:  # the same decisions at the temperature of one model for each member
            self.decision_ = rule.at_power(self.temperature_ / self._temperature_alone)
            self.threshold_ = self.decision_.threshold
        self.temperature_ = self._temperature_alone

    def _calibrates(self) -> bool:
        return self.calibration is not None and len(self.classes_) > 1

    def _set_target(self, target: Target) -> None:
        assert isinstance(target.classes, np.ndarray)
        self.classes_ = target.classes

    def _set_nested(self, nested: FloatArray, temperature: float) -> None:
        self.oof_proba_ = nested
        self._temperature_alone, self.temperature_ = temperature, min(1.0, temperature)

    def _nested(self) -> FloatArray:
        return self.oof_proba_

    def _default_metric(self) -> Metric:
        return LogLossMetric()

    def _response_functions(self) -> ResponseFunctions:
        # Members are scored before the temperature, which is that of the committee.
        return {"predict": self._labels_of, "predict_proba": self._output}

    def _decoded(self, truth: AnyArray) -> AnyArray:
        return np.asarray(self.classes_[truth])

    def _output(self, raw: FloatArray) -> FloatArray:
        return raw


@storable_estimator(verify=verify_committee)
@documented(committee_texts)
class CommitteeRegressor(RegressorMixin, BaseCommittee):
    """The best committee of regressors for a table within a time limit.

    Members of many kinds are fitted to the folds of the table, one after the other: gradient boosting in several
    manners, forests, a linear model, nearest neighbours. Their predictions for rows held out give each a weight, an
    estimate of how good the committee is, and of how wide intervals have to be. The models of the folds are kept, and
    the committee predicts by their mean.

    Any table will do: categories and missing values stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import CommitteeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = 2 * X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=300)
    >>> model = CommitteeRegressor(time_limit=None, max_members=3, random_state=0).fit(X, y)
    >>> model.members_
    ['quick_boosting', 'linear', 'boosting']
    >>> max(model.member_scores_, key=model.member_scores_.get)
    'boosting'
    >>> low, high = model.predict_interval(X[:1], alpha=0.1)[0]
    >>> bool(low < y[0] < high)
    True

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes, Ensemble selection from libraries of models (2004); Erickson and others,
    AutoGluon-Tabular (2020).
    """

    FITTED: ClassVar[Fitted] = COMMITTEE_REGRESSOR_FITTED
    _task: ClassVar[Task] = "regression"

    def __init__(
        self,
        time_limit: float | None = 60,
        *,
        scoring: Any = None,
        cv: Any = 5,
        portfolio: Any = "auto",
        max_members: int | None = None,
        memory_limit: float | None = None,
        max_iter: int = 25,
        on_error: OnError = "drop",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
        checkpoint: Any = None,
        features: TableFeatures | Literal["auto"] | None = "auto",
        max_predict_time: float | None = None,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> FloatArray:
        """The weighted mean of the members' predictions."""
        return self._output(self._mean_predictions(X))

    def predict_interval(self, X: Any, alpha: float = 0.1) -> FloatArray:
        """Where the target will be, all but a share `alpha` of the time: scaled CV+ from out-of-fold predictions.

        Parameters
        ----------
        X : a table with the columns of `fit`
        alpha : float in (0, 1), how often the interval may miss

        Returns
        -------
        array of shape (n_rows, 2), the lower and the upper end; infinite if there are too few rows for this alpha

        Notes
        -----
        For each training row, the committee of its fold predicts the new row, and was wrong by so much about the
        training row: the interval is made of all these. Residuals are divided by a scale, and multiplied by that of the
        new row: it follows the residuals of rows with similar predictions. Ends stay within the range of a target
        without negative values.

        If rows are exchangeable and the scale is given, the target is inside with a chance of 1 - 2 alpha at least, and
        in practice close to 1 - alpha. At most 2,000 training rows take part, evenly spaced in the order of their
        targets. After `refit` there is one committee in place of one for each fold.

        References
        ----------
        Barber, Candes, Ramdas and Tibshirani, Predictive inference with the jackknife+ (2021); Lei and others,
        Distribution-free predictive inference for regression (2018), for scaled residuals.
        """
        check_alpha(alpha)
        read_table(X)
        by_fold = self._predictions_by_fold(X)[:, :, 0].T
        rows = calibration_rows(self.oof_prediction_[:, None], self._answers)
        own, residuals = self.oof_prediction_[rows], np.abs(self._truth.truth - self.oof_prediction_)
        out = held_out(rows, self._answers) if self._has_folds else np.ones((len(rows), 1), dtype=bool)
        weight = np.where(self._answers.known, self._truth.weight, 0.0)
        known = rows_held_out(self.oof_prediction_, weight, _MOST_SCALED_ROWS)
        scale = ResidualScale.of(self.oof_prediction_[known], residuals[known], weight[known], alpha)
        unit = scale(by_fold.mean(axis=1))[:, None]
        ends = (
            np.column_stack(jackknife_plus(by_fold / unit, out, residuals[rows] / scale(own), alpha)) * unit
        )
        return within_range(ends, self._truth.truth, self._truth.weight)

    def _set_nested(self, nested: FloatArray, temperature: float) -> None:
        self.oof_prediction_ = nested[:, 0]

    def _nested(self) -> FloatArray:
        return self.oof_prediction_[:, None]

    def _default_metric(self) -> Metric:
        return SquaredErrorMetric()

    def _response_functions(self) -> ResponseFunctions:
        return {"predict": self._output}

    def _decoded(self, truth: AnyArray) -> AnyArray:
        return truth

    def _output(self, raw: FloatArray) -> FloatArray:
        return np.asarray(raw[:, 0])
