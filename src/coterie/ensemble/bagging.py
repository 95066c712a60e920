"""Bagging with the parameters of scikit-learn's, and bags that are drawn as its bags are.

Rows are drawn by their numbers, with their weights as probabilities. A learner that takes weights is given all rows,
and how often each was drawn; any other is given the rows as often.
"""

import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn import ensemble as theirs
from sklearn import get_config
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from coterie._typing import AnyArray, FloatArray, SeedArray
from coterie.bagging import bagging
from coterie.bagging.bags import Bag, BagFitSignature, BaggingData, Bags
from coterie.data.parts import TableShape
from coterie.data.target import Target
from coterie.ensemble._mirror import MemberSequence, Mirror, as_array, mirrors
from coterie.errors import InvalidParameter
from coterie.fitting.warm_start import PreviousFit, check_no_fewer
from coterie.forests.plan import BagPlan
from coterie.members.fit_members import FitTask
from coterie.members.response import ResponseMethod


class BaggingMirror(Mirror, MemberSequence):
    """What bagging of classes and of numbers share."""

    on_error = "raise"
    checkpoint = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the members; weights are how often rows are drawn, and what else is given goes to the learner."""
        own: Any = self
        if sample_weight is not None and not own.bootstrap:
            warnings.warn(
                f"When fitting {type(self).__name__} with sample_weight it is recommended to use bootstrap=True, got "
                f"bootstrap={own.bootstrap}: without it, rows of weight 2 are not what two rows are.",
                UserWarning,
                stacklevel=2,
            )
        if own.warm_start and len(getattr(self, "estimators_", ())) == own.n_estimators:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=2,
            )
            self.__dict__.pop("oob_score_", None)
            return self
        parent: Any = super()
        parent.fit(X, as_array(y), sample_weight, **fit_params)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        own: Any = self
        if own.warm_start and own.oob_score:
            raise InvalidParameter(
                "Out of bag estimate only available if warm_start=False.",
                parameter="oob_score",
                received=own.oob_score,
                allowed="False with warm_start=True",
            )

    def _prepare(self, X: Any, y: Any, sample_weight: Any, others: dict[str, Any]) -> BaggingData:
        parent: Any = super()
        data: BaggingData = parent._prepare(X, y, sample_weight, others)
        return replace(data, weight=None, draw_weight=data.weight)

    def _contents(self, X: Any, outline: TableShape, target: Target) -> SeedArray:
        return np.arange(outline.n_rows, dtype=np.uint64)

    def _bags_for(self, data: BaggingData, learner: Any) -> Bags:
        own: Any = self
        weight = data.draw_weight
        n_draws = _n_draws(own.max_samples, data.n_rows, weight)
        if not own.bootstrap and n_draws > data.n_rows:
            raise InvalidParameter(
                f"Effective max_samples={n_draws} must be <= n_samples={data.n_rows} to be able to sample without "
                "replacement.",
                parameter="max_samples",
                received=own.max_samples,
                allowed=f"at most {data.n_rows} rows",
            )
        takes_all = n_draws == data.n_rows and weight is None
        kind = "bootstrap" if own.bootstrap else "all" if takes_all else "subsample"
        plan = BagPlan(kind, n_draws, float(n_draws))
        weight = np.ones(data.n_rows) if weight is None else weight
        return Bags.of(plan, data.contents, None, weight, takes_weight=False)

    def _check_continued(self, previous: PreviousFit[Any], signature: BagFitSignature, bags: Bags) -> None:
        """Other rows and other bags are welcome; there cannot be fewer members."""
        own: Any = self
        check_no_fewer(own.n_estimators, previous.state.n_tried, "members")

    def _task_of(self, task: FitTask, bag: Bag, data: BaggingData) -> FitTask:
        if not _consumes_weight(task.member.estimator):
            return task
        counts = np.bincount(bag.repeated(), minlength=data.n_rows)
        return replace(task, rows=None, params={**task.params, "sample_weight": counts})

    def get_metadata_routing(self) -> MetadataRouter:
        """Who may be given what: everything goes to the method of the learner that does the work."""
        own: Any = self
        learner = own._default() if own.estimator is None else own.estimator
        proba = "predict_proba" if hasattr(learner, "predict_proba") else "predict"
        log_proba = "predict_log_proba" if hasattr(learner, "predict_log_proba") else proba
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping.add(caller="decision_function", callee="decision_function")
        mapping.add(caller="predict", callee=proba).add(caller="predict_proba", callee=proba)
        mapping.add(caller="predict_log_proba", callee=log_proba)
        return MetadataRouter(owner=self).add(estimator=learner, method_mapping=mapping)

    def _mean_with(self, caller: str, X: Any, params: dict[str, Any]) -> FloatArray:
        """The mean prediction; `params` of the caller go to the method of the members that does the work."""
        own: Any = self
        if not params:
            mean: FloatArray = own._mean_predictions(X)
            return mean
        check_is_fitted(self, "estimators_")
        routed = dict(_routed(self, caller, params).items())
        method = next(iter(routed))
        response = own._question
        if method != response.method:
            response = ResponseMethod(method, response.classes, response.is_vote)
        mean = own._mean(lambda: own._member_predictions(X, response, routed[method]))
        return np.exp(mean) if method == "predict_log_proba" else mean


def _n_draws(max_samples: float | None, n_rows: int, weight: FloatArray | None) -> int:
    """How many rows a member draws: a share is one of the rows, or of the sum of the weights."""
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, Integral):
        return int(max_samples)
    whole = float(n_rows if weight is None else weight.sum())
    n_draws = max(int(max_samples * whole), 1)
    if n_draws < max(10, n_rows ** (1 / 3)):
        what = (
            f"number of samples is {n_rows}" if weight is None else f"total sum of sample weights is {whole}"
        )
        warnings.warn(
            f"Using the fractional value max_samples={max_samples} when the {what} results in a low number ({n_draws}) "
            "of bootstrap samples. We recommend passing `max_samples` as an integer.",
            UserWarning,
            stacklevel=2,
        )
    return n_draws


def _consumes_weight(learner: Any) -> bool:
    if get_config()["enable_metadata_routing"]:
        return bool(get_routing_for_object(learner).consumes("fit", ("sample_weight",)))
    return bool(has_fit_parameter(learner, "sample_weight"))


def _routed(model: Any, caller: str, params: dict[str, Any]) -> Any:
    if not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"Passing extra keyword arguments to {type(model).__name__}.{caller} is only supported if "
            "enable_metadata_routing=True, which you can set using `sklearn.set_config`. Extra parameters passed are: "
            f"{set(params)}"
        )
    return process_routing(model, caller, **params).estimator


def _members_have_scores(ensemble: Any) -> bool:
    learner = ensemble._default() if ensemble.estimator is None else ensemble.estimator
    return hasattr(learner, "decision_function")


@mirrors(theirs.BaggingClassifier)
class BaggingClassifier(BaggingMirror, bagging.BaggingClassifier):
    """Bagging of a classifier, as `sklearn.ensemble.BaggingClassifier` is called.

    Trees that `estimator=None` stands for grow together in the engine. MemberSequence see labels as they are in y.
    """

    voting = "auto"

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any, **params: Any) -> AnyArray:
        """The class of each row; `params` go to the members by metadata routing."""
        return self._labels_of(self._mean_with("predict", X, params))

    def predict_proba(self, X: Any, **params: Any) -> FloatArray:
        """The mean of the members' probabilities, or their shares of votes."""
        return self._mean_with("predict_proba", X, params)

    def predict_log_proba(self, X: Any, **params: Any) -> FloatArray:
        """The logarithm of `predict_proba`; minus infinity where a class is absent."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._mean_with("predict_log_proba", X, params)))

    @available_if(_members_have_scores)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, **params: Any) -> FloatArray:
        """The mean of the members' scores, shape (n_rows,) for two classes, else (n_rows, n_classes)."""
        check_is_fitted(self, "estimators_")
        given = _routed(self, "decision_function", params).decision_function if params else {}
        response = ResponseMethod("decision_function", (self.classes_,))
        scores = self._mean(lambda: self._member_predictions(X, response, given))
        return scores[:, 0] if scores.shape[1] == 1 else scores


@mirrors(theirs.BaggingRegressor)
class BaggingRegressor(BaggingMirror, bagging.BaggingRegressor):
    """Bagging of a regressor, as `sklearn.ensemble.BaggingRegressor` is called.

    Trees that `estimator=None` stands for grow together in the engine.
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any, **params: Any) -> FloatArray:
        """The mean prediction of the members; `params` go to them by metadata routing."""
        return self._column(self._mean_with("predict", X, params))
