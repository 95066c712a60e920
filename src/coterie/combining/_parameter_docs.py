"""The parameters and attributes of stacking and blending in words: one text for the docstrings of all four."""

from sklearn.base import ClassifierMixin

from coterie.members.parameter_docs import MEMBER_WORDS, OOF_WORDS

_CV = """\
    cv : int, splitter, list of (train, test), "prefit" or None
        How rows are held out, as in scikit-learn; None is 5 folds, stratified for classes. It need not be a
        partition: a row that is held out several times has the mean of its predictions, and one that never is
        is fit data of members alone. "prefit": members were fitted before, to other rows than those given to `fit`.
"""
_HOLDOUT = """\
    cv : float, array of row numbers, mask, splitter or list of (train, test)
        Which rows are held out: a share of them, a quarter, with the classes as they are; the rows themselves; or what
        a splitter holds out.
    order : {"random", "last_rows"}
        Which share is held out: rows drawn at random, or the last ones, for tables in the order of time.
"""
_METHOD = """\
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}
        The method that members predict with. "auto": the first of these that they have. Of two probabilities the
        final estimator sees the second.
"""
_MEMBERS = """\
    members : {"refit", "folds"}
        What `predict` uses: members fitted to all rows, or the mean of the models of the folds, which saves a fit.
"""
_BLEND_MEMBERS = """\
    members : {"folds", "refit"}
        What `predict` uses: the members as they were fitted without the rows held out, or members fitted once
        more, to all rows.
"""
_PARAMETERS = """\
{estimators}    final_estimator : {kind} or None
        Learns from what members predict. None: {default}. It may be a stack itself: then there are several layers.
{held}{method}    passthrough : bool, or columns
        Columns of X that the final estimator sees beside the predictions: all, none, or those named, by place, by mask,
        by slice or by a function of X. They stay as they are; text and categories need a final estimator that takes
        them.
{members}    oof_score : bool
        Whether the final estimator is scored: it is fitted once for each fold, without the rows it is scored on.
    leak_guard : bool
        Fit a trial without the last fold first, and warn if it does worse on those rows than it promised. Costs about
        as much again.
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
