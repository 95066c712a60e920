"""A threshold for any classifier: decisions that are tuned to a score or to costs, out of fold."""

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from coterie._params import AnyLabel, Boolean, EstimatorLike, Integer, OneOf, Params, Seed, in_short
from coterie._storage import Fitted, storable_estimator
from coterie._typing import AnyArray, FloatArray, SeedLike
from coterie._value_types import FLOATS, LABELS, MODEL, NONE, NUMBER, instance
from coterie.data.parts import check_columns, row_indexable, schema_of, table_shape
from coterie.data.table import Schema
from coterie.data.target import read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidParameter
from coterie.fitting.estimator import Estimator
from coterie.fitting.fitted_state import verify_columns
from coterie.members.decision_rule import (
    CostMatrixLike,
    DecisionRule,
    DecisionSettings,
    ThresholdChoice,
    ThresholdLike,
    decided_codes,
    parts_of_rows,
)
from coterie.members.fit_members import Member
from coterie.members.out_of_fold import (
    CrossFit,
    CrossFitPlan,
    Fold,
    Splitter,
    cross_fit,
    folds_of,
    prefit_members,
    splitter_of,
)
from coterie.members.response import ResponseMethod, method_of
from coterie.members.weight_parameter import params_of_learner, router_of, take_input_tags, weight_params
from coterie.trees.decision_tree import DecisionTreeClassifier

_NAME = "estimator"
_N_FOLDS = 5


def _learner_of(model: Any) -> Any:
    return DecisionTreeClassifier(max_depth=5) if model.estimator is None else model.estimator


@storable_estimator(verify=verify_columns)
class TunedThresholdClassifier(ClassifierMixin, Estimator):
    """Any classifier with probabilities, and a threshold that is tuned to what is wanted of its decisions.

    The classifier is fitted to folds, and the threshold is chosen by its probabilities for rows held out. The score of
    each threshold is averaged over bootstrap samples, since the best threshold of few positive rows is mostly luck.
    Then the classifier is fitted to all rows. Probabilities stay as they are; only `predict` decides otherwise.

    Parameters
    ----------
    estimator : classifier with predict_proba, or None
        None: a `DecisionTreeClassifier` of depth 5. Default None: the usual learner of this method, which takes any
        table without preparation.
    threshold : str, tuple, float or None
        How to decide between two classes. "f1", "balanced_accuracy", "jaccard" or "matthews_corrcoef": the threshold
        that is best out of fold. ("precision_at_recall", 0.8): the greatest precision with at least that recall, and
        ("recall_at_precision", 0.8) the other way round. A number: this threshold. None: the most probable class. Of
        more than two classes only "balanced_accuracy" can be tuned. Default "balanced_accuracy": scikit-learn's
        default for a tuned threshold.
    cost_matrix : array of shape (n_classes, n_classes), dict or None
        What decisions cost, a row for each true class and a column for each predicted one; or a dict from classes to
        the cost of missing them, 1 for those not in it. It takes the place of `threshold`. Of two classes the
        threshold is tuned to the least cost, of more the class with the least expected cost is predicted. Default
        None: all errors cost the same.
    pos_label : label or None
        The positive class of a threshold. None is the second of `classes_`. Default None: scikit-learn's rule.
    cv : int, splitter, list of (train, test), "prefit" or None
        How rows are held out: folds with each class spread evenly, or any splitter of scikit-learn. None is 5 folds.
        "prefit": the estimator is fitted already, and the rows that `fit` is given are new to it. Default None: five
        folds, as in scikit-learn.
    n_jobs : int or None
        Threads in all. Folds are fitted side by side. None: one after the other. Default None: members decide
        themselves, so that threads do not compete.
    random_state : int, RandomState, Generator or None
        The seed of the estimator, if its own random_state is None. Default None: a new seed for each fit, as in
        scikit-learn; a number makes it repeatable.
    verbose : int or bool
        Print a line when a fold is fitted. Default 0: silent.

    Attributes
    ----------
    classes_ : array of the labels
    estimator_ : the classifier, fitted to all rows
    threshold_ : float or None
        The least probability of the positive class with which it is predicted; None for more than two classes.
    decision_ : DecisionRule or None
        How `predict` decides, what it was tuned to, and what that is out of fold.
    oof_proba_ : array of shape (n_rows, n_classes)
        Probabilities out of fold, NaN for a row that was never held out; if there was anything to tune.
    n_features_in_ : int
    feature_names_in_ : array of str, if the table had names

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import RandomForestClassifier, TunedThresholdClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = rng.random(1000) < 0.25 / (1 + np.exp(-2 * X[:, 0]))
    >>> forest = RandomForestClassifier(50, min_samples_leaf=10, random_state=0)
    >>> model = TunedThresholdClassifier(forest, threshold="f1").fit(X, y)
    >>> model.threshold_ < 0.3, bool(model.decision_.score > model.decision_.default_score + 0.2)
    (True, True)

    See Also
    --------
    CommitteeClassifier : has the same parameters, and tunes its threshold without a further fit.

    Notes
    -----
    `sklearn.model_selection.TunedThresholdClassifierCV` takes the mean of the curves of the folds at equally spaced
    thresholds. Here probabilities of all folds are pooled, and every probability is a candidate.
    """

    PARAMS: ClassVar[Params] = {
        "estimator": [EstimatorLike(), None],
        "threshold": [ThresholdChoice(), None],
        "cost_matrix": [CostMatrixLike(), None],
        "pos_label": [AnyLabel(), None],
        "cv": [Integer(2), Splitter(), OneOf("prefit"), None],
        "n_jobs": [Integer(), None],
        "random_state": [Seed()],
        "verbose": [Integer(0), Boolean()],
    }
    FITTED: ClassVar[Fitted] = {
        "classes_": LABELS,
        "estimator_": MODEL,
        "threshold_": NUMBER | NONE,
        "decision_": instance(DecisionRule) | NONE,
        "oof_proba_": FLOATS,
        "_schema": instance(Schema) | NONE,
        "_response": instance(ResponseMethod),
    }
    _has_members = True

    classes_: AnyArray
    _schema: Schema | None
    _response: ResponseMethod

    def __init__(
        self,
        estimator: Any = None,
        *,
        threshold: ThresholdLike = "balanced_accuracy",
        cost_matrix: Any = None,
        pos_label: Any = None,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the classifier to folds, choose the threshold, and fit the classifier to all rows.

        Parameters
        ----------
        X : any table, as the classifier takes it
        y : labels of any type, one for each row
        sample_weight : how often each row counts, in the classifier, which must take it, and in the score
        **fit_params : what the classifier requests by scikit-learn's metadata routing, if that is on
        """
        with self._fitting(X, y):
            shape, name = table_shape(X), type(self).__name__
            target = read_target(y, task="classification", estimator_name=name, n_rows=shape.n_rows)
            weight = combined_weight(read_weight(sample_weight, shape.n_rows), None)
            assert isinstance(target.classes, np.ndarray)
            self.classes_ = target.classes
            self._schema = schema_of(shape)
            if self._schema is not None:
                self._schema.set_feature_names(self)
            crossed = self._crossed(row_indexable(X), target.values, weight, fit_params)
            self.estimator_, self._response = crossed.models[0], crossed.questions[0]
            self.decision_ = self._rule(crossed, target.values, weight)
            self.threshold_ = None if self.decision_ is None else self.decision_.threshold
        return self

    def _check_parameters(self) -> None:
        learner = _learner_of(self)
        if not hasattr(learner, "predict_proba"):
            raise InvalidParameter.expecting(
                f"estimator={in_short(learner)} has no predict_proba",
                "a classifier with predict_proba",
                _NAME,
                learner,
                hint="CalibratedClassifierCV of scikit-learn gives probabilities to classifiers without.",
            )

    def _crossed(
        self, X: Any, codes: AnyArray, weight: FloatArray | None, fit_params: dict[str, Any]
    ) -> CrossFit:
        """The fitted classifier, and its probabilities for rows that it was not fitted to."""
        learner, n_rows = _learner_of(self), len(codes)
        member = Member(_NAME, learner)
        response = ResponseMethod(method_of(_NAME, learner, "predict_proba"), (self.classes_,))
        if isinstance(self.cv, str):
            return prefit_members([member], [response], X, n_rows, self.n_jobs)
        labels = np.asarray(self.classes_[codes])
        params = {**params_of_learner(self, fit_params), **weight_params(learner, weight)}
        plan = CrossFitPlan(
            [member],
            [response],
            [labels],
            [params],
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=self.verbose,
            owner=type(self).__name__,
        )
        folds = []
        if self._settings().objective() is not None:
            folds = self._folds(X, labels, codes, weight)
        return cross_fit(plan, X, folds, n_rows)

    def _folds(self, X: Any, labels: AnyArray, codes: AnyArray, weight: FloatArray | None) -> list[Fold]:
        """Folds that hold each row out once; of a number of folds without rows that have no weight."""
        if self.cv is not None and not Integer(2).accepts(self.cv):
            splitter = splitter_of(self.cv, labels, classifier=True)
            return folds_of(splitter, X, labels, len(codes), type(self).__name__)
        rows = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
        n_folds = min(_N_FOLDS if self.cv is None else int(self.cv), len(rows))
        if n_folds < 2:
            return []
        spread = np.bincount(codes[rows]).max() >= n_folds
        kind = StratifiedKFold if spread else KFold
        with warnings.catch_warnings():
            # A fold without a rare class gives it no probability.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            pairs = list(kind(n_folds).split(np.zeros((len(rows), 1)), codes[rows]))
        return [Fold(rows[train], rows[test]) for train, test in pairs]

    def _settings(self) -> DecisionSettings:
        return DecisionSettings(self.threshold, self.cost_matrix, self.pos_label, self.classes_)

    def _rule(self, crossed: CrossFit, codes: AnyArray, weight: FloatArray | None) -> DecisionRule | None:
        settings = self._settings()
        if settings.objective() is None:
            none = np.zeros((0, len(self.classes_)))
            return settings.rule(none, codes[:0], np.zeros(0), np.zeros(0, dtype=np.int64))
        if not crossed.answers:  # too few rows to hold any out
            return None
        self.oof_proba_ = crossed.answers[0]
        rows = np.flatnonzero(crossed.covered(weight))
        own = np.ones(len(rows)) if weight is None else weight[rows]
        return settings.rule(self.oof_proba_[rows], codes[rows], own, parts_of_rows(len(rows)))

    def predict(self, X: Any) -> AnyArray:
        """The class of each row that `decision_` decides for; without one the most probable, on a tie the first."""
        codes = decided_codes(self, self.predict_proba(X))
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities of the classifier, in the order of `classes_`."""
        check_is_fitted(self, "estimator_")
        if self._schema is not None:
            check_columns(self._schema, X, type(self).__name__)
        return self._response.predict_with(_NAME, self.estimator_, row_indexable(X))

    @property
    def best_threshold_(self) -> float | None:
        """`threshold_`, by the name of scikit-learn."""
        check_is_fitted(self, "estimator_")
        threshold: float | None = self.threshold_
        return threshold

    @property
    def best_score_(self) -> float | None:
        """The score of decisions out of fold; of costs, minus the mean cost of a row."""
        check_is_fitted(self, "estimator_")
        return None if self.decision_ is None else self.decision_.score

    def get_metadata_routing(self) -> MetadataRouter:
        """Who may be given what: weights to this estimator, everything else to `fit` of the classifier."""
        return router_of(self, _learner_of(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        take_input_tags(tags, _learner_of(self))
        return tags
