"""Bagging: copies of any learner, each fitted to rows and columns of its own, whose predictions are averaged."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from coterie._documentation import documented
from coterie._params import ArrayLike, Boolean, OneOf, Params
from coterie._storage import Fitted, storable_estimator, stored_as
from coterie._typing import AnyArray, Auto, FloatArray, MaxFeatures, OnError, SeedLike, Task
from coterie._value_types import (
    ANY,
    COUNT,
    FLOAT_VECTOR,
    INTEGERS,
    LABELS,
    MODEL,
    NONE,
    NUMBER,
    TEXT,
    array,
    dict_of,
    instance,
    list_of,
)
from coterie.bagging._bagged_trees import KnownOob
from coterie.bagging._bags import Bags, OobSums
from coterie.bagging._base import BaseBagging
from coterie.bagging._plan import BAGGING_PARAMS, BagFitSignature
from coterie.data.parts import Columns
from coterie.data.table import Schema
from coterie.data.target import Target
from coterie.fitting.fitted_state import PRUNED_FITTED
from coterie.fitting.scoring import ResponseFunctions
from coterie.forests.tree_members import FORESTS, Members
from coterie.members.named_members import verify_members
from coterie.members.parameter_docs import MEMBER_WORDS
from coterie.members.response import ResponseMethod, method_of
from coterie.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor

_PARAMETERS = """\
    estimator : estimator or None
        The learner, of which every member is a copy; None: {default}. Default None: deep trees gain most
        from averaging, and take any table.
    n_estimators : int or "auto"
        Members. "auto" fits 25 at a time, from 50 to 1,000, until the last doubling of their number has lowered the
        out-of-bag error by less than 0.5 %. Default 10: scikit-learn's number; more is better and slower.
    max_samples : int, float or None
        Rows that each member draws: a number, a fraction, or as many as there are. Default None: as many as there
        are, as in Breiman's bootstrap.
    max_features : int, float, {{"sqrt", "log2"}} or None
        Columns that each member sees, drawn for each of them: a number, a fraction, or all. Default 1.0: members
        differ enough by their rows.
    bootstrap : {bootstrap}
        Which rows each member sees, its bag. True: drawn with replacement. False: `max_samples` of them, each at most
        once, or all. "partition": parts of `max_samples` rows that do not overlap, then new parts.{balanced} A list
        holds the numbers of the rows of each member: bags of one's own, such as whole groups or blocks of time.
        Default True: draws with replacement leave a third of the rows to estimate the error with.
    bootstrap_features : bool
        Whether columns are drawn with replacement. A column that is drawn twice is seen once, so members see about 63
        % of as many columns as there are. Default False: a column that is drawn twice would count as one.
    oob_score : bool, "auto", str or callable
        Whether training rows are scored by the members that did not draw them. "auto": wherever there are such rows.
        By {metric}; by the name of a scikit-learn scorer, a scorer, or a function of true and predicted targets.
        Unless it is "auto", a warning says how many rows no member left out. Default "auto": it costs little and
        needs no rows set aside.
{voting}{on_error}    warm_start : bool
        Continue from the last fit to the same rows with more members; the result is that of one longer fit.
        Default False: a fit forgets the last one, as in scikit-learn.
{n_jobs}    random_state : int, RandomState, Generator or None
        The seed of what is drawn, and of members whose own random_state is None. Draws depend on what rows hold, not on
        their order. Default None: a new seed for each fit, as in scikit-learn; a number makes it repeatable.
{verbose}    checkpoint : str, path, Checkpoint or None
        A folder to keep members in while others are fitted, so that `fit(resume=True)` goes on if the fit is
        interrupted. Default None: most fits are short, and nothing should be written without being told to.

    Attributes
    ----------
    estimator_ : the learner
    estimators_ : list of fitted members
    n_estimators_ : int, their number
    estimators_samples_ : list of arrays
        The rows that each member drew, as often as it drew them.
    estimators_features_ : list of arrays
        The places of the columns that each member sees.
{classes}    dropped_ : dict
        Why members failed, by name; empty unless on_error="drop".
    feature_importances_ : array of shape (n_columns,)
        The mean of the members' importances, if they have them.
    oob_score_ : float
    {oob} : array
        The mean prediction of the members that did not draw a row; NaN where there are none.
    oob_coverage_ : array of ints, how many members these are
    oob_errors_ : array of shape (n_estimators_,)
        After each member, {error} out of bag.
    oob_member_errors_ : array of shape (n_estimators_,)
        The same of each member alone, on the rows that it did not draw.
    pruning_path_ : Bunch
        The order of the members and the loss after each, if `coterie.prune` chose from them.
"""
_VOTING = """\
    voting : {"auto", "soft", "hard"}
        "soft": the mean of the members' probabilities. "hard": each member votes for a class. "auto": soft where
        members have probabilities, else hard. Default "auto": probabilities say more than votes, where there are any.
"""
_BALANCED = """
        "balanced": as many of each class, with replacement, as the rarest class has rows, or `max_samples` of each.
       """
_CLASSES = """\
    classes_ : array of the labels
    n_classes_ : int
"""


def bagging_texts(estimator: type) -> str:
    """Parameters and attributes of a class of bagging."""
    of_classes = issubclass(estimator, ClassifierMixin)
    return _PARAMETERS.format(
        **{name: MEMBER_WORDS[name] for name in ("on_error", "n_jobs", "verbose")},
        default="a `DecisionTreeClassifier`" if of_classes else "a `DecisionTreeRegressor`",
        bootstrap='bool, "balanced", "partition" or list of arrays'
        if of_classes
        else 'bool, "partition" or list of arrays',
        balanced=_BALANCED if of_classes else "",
        metric="accuracy" if of_classes else "R2",
        voting=_VOTING if of_classes else "",
        classes=_CLASSES if of_classes else "    n_outputs_ : int\n",
        oob="oob_decision_function_" if of_classes else "oob_prediction_",
        error="the share of wrong classes" if of_classes else "the mean squared error",
    )


_BAGGING: Fitted = {
    **PRUNED_FITTED,
    "estimator_": MODEL,
    "estimators_": list_of(MODEL) | instance(Members),
    "estimators_features_": list_of(INTEGERS),
    "n_estimators_": COUNT,
    "oob_score_": NUMBER,
    "dropped_": dict_of(ANY, TEXT),
    "_bags": instance(Bags),
    "_columns": list_of(instance(Columns) | NONE),
    "_n_tried": COUNT,
    "_numbers": list_of(COUNT),
    "_oob": instance(KnownOob, OobSums) | NONE,
    "_oob_member_errors": FLOAT_VECTOR | NONE,
    "_question": instance(ResponseMethod),
    "_schema": instance(Schema) | NONE,
    "_seeds": array("iu"),
    "_trace": instance(BagFitSignature),
    "_trees": stored_as(*FORESTS) | NONE,
}
BAGGING_CLASSIFIER_FITTED: Fitted = {**_BAGGING, "classes_": LABELS, "n_classes_": COUNT}
BAGGING_REGRESSOR_FITTED: Fitted = {**_BAGGING, "n_outputs_": COUNT}


def _has_scores(ensemble: Any) -> bool:
    """Whether members have scores."""
    learner = ensemble._default() if ensemble.estimator is None else ensemble.estimator
    if not hasattr(learner, "decision_function"):
        raise AttributeError(
            f"decision_function is not available: {type(learner).__name__} does not have it."
        )
    return True


@storable_estimator(verify=verify_members)
@documented(bagging_texts)
class BaggingClassifier(ClassifierMixin, BaseBagging):
    """Bagging of a classifier.

    Each member is a copy of the learner that is fitted to a bag: rows drawn with replacement, or as `bootstrap` and
    `max_samples` define, and perhaps some of the columns. Together they are steadier than one. Rows that a member did
    not draw are out of its bag, and its predictions for them are honest.

    The table is handed on as it is: a data frame stays a data frame and keeps its names. A learner that takes
    `sample_weight` is given how often rows were drawn; any other is given the rows as often.

    Examples
    --------
    >>> from coterie import BaggingClassifier
    >>> from coterie.datasets import load_table
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import pandas as pd
    >>> X, y = load_table("wine")
    >>> few = BaggingClassifier(KNeighborsClassifier(), 50, max_features=4, random_state=0).fit(pd.DataFrame(X), y)
    >>> few.oob_score_ > 0.9, list(few.estimators_[0].feature_names_in_)
    (True, ['alcohol', 'alcalinity_of_ash', 'magnesium', 'proline'])

    References
    ----------
    Breiman, Bagging predictors (1996) and Pasting small votes (1999); Ho (1998) for columns; Louppe and Geurts (2012)
    for both.
    """

    FITTED: ClassVar[Fitted] = BAGGING_CLASSIFIER_FITTED
    PARAMS: ClassVar[Params] = {
        **BAGGING_PARAMS,
        "bootstrap": [Boolean(), OneOf("balanced", "partition"), ArrayLike()],
        "voting": [OneOf("auto", "soft", "hard")],
    }
    _task: ClassVar[Task] = "classification"

    classes_: AnyArray
    n_classes_: int

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Auto = 10,
        *,
        max_samples: float | None = None,
        max_features: MaxFeatures = 1.0,
        bootstrap: bool | Literal["balanced", "partition"] | Sequence[Any] = True,
        bootstrap_features: bool = False,
        oob_score: Any = "auto",
        voting: Literal["auto", "soft", "hard"] = "auto",
        on_error: OnError = "raise",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> AnyArray:
        """The class of each row: the most probable, or the one with most votes; on a tie, the first of them."""
        return self._labels_of(self._mean_predictions(X))

    def predict_proba(self, X: Any, return_std: bool = False) -> Any:
        """The mean of the members' probabilities, or their shares of votes.

        Parameters
        ----------
        X : a table with the columns of `fit`
        return_std : bool, whether to return how much the members differ, too

        Returns
        -------
        array of shape (n_rows, n_classes); with `return_std` a pair of them, the second one the standard deviation of
        the members' predictions
        """
        return self._means_and_spreads(X) if return_std else self._mean_predictions(X)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithm of `predict_proba`; minus infinity where a class is absent."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @available_if(_has_scores)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """The mean of the members' scores, shape (n_rows,) for two classes, else (n_rows, n_classes)."""
        response = (
            ResponseMethod("decision_function", (self.classes_,)) if hasattr(self, "classes_") else None
        )
        scores = self._mean(lambda: self._member_predictions(X, response))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @property
    def oob_decision_function_(self) -> FloatArray:
        """The probabilities, for each training row, by the members that did not draw it; NaN without any."""
        return self._known_oob("oob_decision_function_").means

    def _labels_of(self, means: FloatArray) -> AnyArray:
        return np.asarray(self.classes_[means.argmax(axis=1)])

    def _response_functions(self) -> ResponseFunctions:
        # Out of bag there are probabilities alone, whatever else members may have.
        return {"predict": self._labels_of, "predict_proba": lambda means: means}

    def _default(self) -> Any:
        return DecisionTreeClassifier()

    def _response_method(self, learner: Any) -> ResponseMethod:
        soft = self.voting == "soft" or (self.voting == "auto" and hasattr(learner, "predict_proba"))
        method = method_of(type(learner).__name__, learner, "predict_proba" if soft else "predict")
        return ResponseMethod(method, (self.classes_,), is_vote=not soft)

    def _set_target(self, target: Target) -> None:
        assert isinstance(target.classes, np.ndarray)
        self.classes_ = target.classes
        self.n_classes_ = len(target.classes)

    def _truth(self, target: Target) -> AnyArray:
        return target.values

    def _n_columns(self) -> int:
        return self.n_classes_


@storable_estimator(verify=verify_members)
@documented(bagging_texts)
class BaggingRegressor(RegressorMixin, BaseBagging):
    """Bagging of a regressor.

    Each member is a copy of the learner that is fitted to a bag: rows drawn with replacement, or as `bootstrap` and
    `max_samples` define, and perhaps some of the columns. The mean of their predictions varies less than any of them,
    and how far they lie apart shows how sure one can be. Rows that a member did not draw are out of its bag, and its
    predictions for them are honest.

    The table is handed on as it is: a data frame stays a data frame and keeps its names. A learner that takes
    `sample_weight` is given how often rows were drawn; any other is given the rows as often.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import BaggingRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = BaggingRegressor(n_estimators=30, random_state=0).fit(X, X[:, 0] > 49)
    >>> mean, spread = model.predict([[10.0], [49.5]], return_std=True)
    >>> mean[0], spread[0], bool(spread[1] > 0.1)
    (np.float64(0.0), np.float64(0.0), True)

    References
    ----------
    Breiman, Bagging predictors (1996) and Pasting small votes (1999); Ho (1998) for columns; Louppe and Geurts (2012)
    for both.
    """

    FITTED: ClassVar[Fitted] = BAGGING_REGRESSOR_FITTED
    _task: ClassVar[Task] = "regression"

    n_outputs_: int

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Auto = 10,
        *,
        max_samples: float | None = None,
        max_features: MaxFeatures = 1.0,
        bootstrap: bool | Literal["partition"] | Sequence[Any] = True,
        bootstrap_features: bool = False,
        oob_score: Any = "auto",
        on_error: OnError = "raise",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean prediction of the members.

        Parameters
        ----------
        X : a table with the columns of `fit`
        return_std : bool, whether to return how much the members differ, too

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_outputs); with `return_std` a pair of them, the second one the standard
        deviation of the members' predictions
        """
        if not return_std:
            return self._column(self._mean_predictions(X))
        mean, spread = self._means_and_spreads(X)
        return self._column(mean), self._column(spread)

    @property
    def oob_prediction_(self) -> FloatArray:
        """The mean prediction, for each training row, of the members that did not draw it; NaN without any."""
        return self._column(self._known_oob("oob_prediction_").means)

    def _column(self, values: FloatArray) -> FloatArray:
        return values[:, 0] if values.shape[1] == 1 else values

    def _response_functions(self) -> ResponseFunctions:
        return {"predict": self._column}

    def _default(self) -> Any:
        return DecisionTreeRegressor()

    def _response_method(self, learner: Any) -> ResponseMethod:
        return ResponseMethod(method_of(type(learner).__name__, learner, "predict"))

    def _set_target(self, target: Target) -> None:
        self.n_outputs_ = target.n_outputs

    def _truth(self, target: Target) -> AnyArray:
        return target.values.reshape(len(target.values), -1)

    def _n_columns(self) -> int:
        return self.n_outputs_
