"""Stacks of classes and of numbers: how y is read, the default final estimator, all parameters in words."""

from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coterie._params import OneOf, Params
from coterie._storage import Fitted
from coterie._typing import AnyArray, FloatArray, Task
from coterie._value_types import LABELS, list_of
from coterie.combining._stacking_base import STACKING_FITTED, STACKING_PARAMS, BaseStacking
from coterie.members.parameter_docs import MEMBER_WORDS, OOF_WORDS
from coterie.members.response import ResponseMethod

_CV = """\
    cv : int, splitter, list of (train, test), "prefit" or None
        How rows are held out, as in scikit-learn; None is 5 folds, stratified for classes. It need not be a
        partition: a row that is held out several times has the mean of its predictions, and one that never is is fit
        data of members alone. "prefit": members were fitted before, to other rows than those given to `fit`. Default
        None: five folds, as in scikit-learn.
"""
_HOLDOUT = """\
    cv : float, array of row numbers, mask, splitter or list of (train, test)
        Which rows are held out: a share of them, a quarter, with the classes as they are; the rows themselves; or
        what a splitter holds out. Default 0.25: a quarter is enough to fit a small final model, and three quarters
        are left for members.
    order : {"random", "last_rows"}
        Which share is held out: rows drawn at random, or the last ones, for tables in the order of time. Default
        "random": most tables have no order.
"""
_METHOD = """\
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}
        The method that members predict with. "auto": the first of these that they have. Of two probabilities the
        final estimator sees the second. Default "auto": probabilities tell the final estimator the most.
"""
_MEMBERS = """\
    members : {"refit", "folds"}
        What `predict` uses: members fitted to all rows, or the mean of the models of the folds, which saves a fit.
        Default "refit": members learn from all rows.
"""
_BLEND_MEMBERS = """\
    members : {"folds", "refit"}
        What `predict` uses: the members as they were fitted without the rows held out, or members fitted once more,
        to all rows. Default "folds": members that the final estimator was fitted to, and no second fit.
"""
_PARAMETERS = """\
{estimators}    final_estimator : {kind} or None
        Learns from what members predict. None: {default}. It may be a stack itself: then there are several layers.
        Default None: a regularised linear model, because a flexible one would learn the noise of few columns that
        are much alike.
{held}{method}    passthrough : bool, or columns
        Columns of X that the final estimator sees beside the predictions: all, none, or those named, by place, by mask,
        by slice or by a function of X. They stay as they are; text and categories need a final estimator that takes
        them. Default False: the final estimator stays small.
{members}    oof_score : bool
        Whether the final estimator is scored: it is fitted once for each fold, without the rows it is scored on.
        Default True: a score on rows held out is worth a few fits of the small final model.
    leak_guard : bool
        Fit a trial without the last fold first, and warn if it does worse on those rows than it promised. Costs about
        as much again. Default False: it takes about twice the time.
{on_error}{n_jobs}{random_state}{verbose}
    Attributes
    ----------
{classes}    estimators_ : list of fitted members
    named_estimators_ : Bunch of fitted members by name
    final_estimator_ : the fitted final estimator{codes}
    stack_method_ : list of str
        The method that each member predicts with.
    dropped_ : dict
        Why members failed, by name; empty unless on_error="drop".
{oof}    leak_guard_ : Bunch
        The score that was promised and the one that was kept, with standard errors, and whether that `leaks`.
"""


def stacking_texts(estimator: type) -> str:
    """Parameters and attributes of a class of stacking or blending."""
    of_classes = issubclass(estimator, ClassifierMixin)
    blends = "order" in vars(estimator)["PARAMS"]
    return _PARAMETERS.format(
        **MEMBER_WORDS,
        kind="classifier" if of_classes else "regressor",
        default="logistic regression" if of_classes else "ridge regression",
        held=_HOLDOUT if blends else _CV,
        method=_METHOD if of_classes else "",
        members=_BLEND_MEMBERS if blends else _MEMBERS,
        classes="    classes_ : array of the labels, or a list of them for several outputs\n"
        if of_classes
        else "",
        codes="\n        It is taught the numbers of the classes, in the order of `classes_`."
        if of_classes
        else "",
        oof=OOF_WORDS,
    )


STACK_OF_CLASSES_PARAMS: Params = {
    **STACKING_PARAMS,
    "stack_method": [OneOf("auto", "predict_proba", "decision_function", "predict")],
}


def _routes() -> bool:
    """Whether scikit-learn's metadata routing is on; then a default has to request weights."""
    return bool(get_config()["enable_metadata_routing"])


def _final_can(method: str) -> Any:
    """Whether the final estimator has a method, before and after `fit`."""

    def has(stack: Any) -> bool:
        final = getattr(stack, "final_estimator_", stack.final_estimator)
        getattr(stack._default_final() if final is None else final, method)  # its error says what is missing
        return True

    return available_if(has)


class BaseStackingClassifier(ClassifierMixin, BaseStacking):
    """A stack whose final estimator names classes."""

    FITTED: ClassVar[Fitted] = {**STACKING_FITTED, "classes_": LABELS | list_of(LABELS)}
    PARAMS: ClassVar[Params] = STACK_OF_CLASSES_PARAMS
    _task: ClassVar[Task] = "classification"
    _regressors_too: ClassVar[bool] = True

    classes_: AnyArray | list[AnyArray]

    @_final_can("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any, **predict_params: Any) -> AnyArray:
        """The class of each row, or the classes of several outputs.

        Parameters
        ----------
        X : any table, as the members take it
        **predict_params : what `predict` of the final estimator is given
        """
        codes = np.asarray(self._final_predict(X, predict_params)).astype(np.int64)
        if isinstance(self.classes_, list):
            return np.column_stack([own[codes[:, output]] for output, own in enumerate(self.classes_)])
        return np.asarray(self.classes_[codes])

    @_final_can("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, shape (n_rows, n_classes); of several outputs, as the final one has it."""
        table = self._meta_table(X)
        if isinstance(self.classes_, list):
            return self.final_estimator_.predict_proba(table)
        response = ResponseMethod("predict_proba", (np.arange(len(self.classes_)),))
        return response.predict_with("final_estimator", self.final_estimator_, table)

    @_final_can("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """The scores of the final estimator."""
        table = self._meta_table(X)
        return np.asarray(self.final_estimator_.decision_function(table))

    def _wanted_method(self) -> str:
        return str(self.stack_method)

    def _default_final(self) -> Any:
        return LogisticRegression().set_fit_request(sample_weight=True) if _routes() else LogisticRegression()

    def _fits(self, final: Any) -> bool:
        return bool(is_classifier(final))

    def _has_outputs(self) -> bool:
        def several(tags: Any) -> bool:
            classes = tags.classifier_tags
            return bool(tags.target_tags.multi_output or (classes is not None and classes.multi_label))

        return self._with_final(several)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output
        return tags


class BaseStackingRegressor(RegressorMixin, BaseStacking):
    """A stack whose final estimator predicts numbers."""

    _task: ClassVar[Task] = "regression"

    @_final_can("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any, **predict_params: Any) -> Any:
        """The prediction of the final estimator for each row.

        Parameters
        ----------
        X : any table, as the members take it
        **predict_params : what `predict` of the final estimator is given, such as `return_std`
        """
        check_is_fitted(self, "final_estimator_")
        return self._final_predict(X, predict_params)

    def _default_final(self) -> Any:
        return RidgeCV().set_fit_request(sample_weight=True) if _routes() else RidgeCV()

    def _fits(self, final: Any) -> bool:
        return bool(is_regressor(final))

    def _has_outputs(self) -> bool:
        return self._with_final(lambda tags: tags.target_tags.multi_output)
