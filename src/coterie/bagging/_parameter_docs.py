"""The parameters and attributes of bagging in words: one text for both docstrings."""

from sklearn.base import ClassifierMixin

from coterie.members.parameter_docs import MEMBER_WORDS

_PARAMETERS = """\
    estimator : estimator or None
        The learner, of which every member is a copy; None: {default}.
    n_estimators : int or "auto"
        Members. 10 is scikit-learn's number. "auto" fits 25 at a time, from 50 to 1,000, until the last doubling of
        their number has lowered the out-of-bag error by less than 0.5 %.
    max_samples : int, float or None
        Rows that each member draws: a number, a fraction, or as many as there are.
    max_features : int, float, {{"sqrt", "log2"}} or None
        Columns that each member sees, drawn for each of them: a number, a fraction, or all.
    bootstrap : {bootstrap}
        Which rows each member sees, its bag. True: drawn with replacement. False: `max_samples` of them, each at most
        once, or all. "partition": parts of `max_samples` rows that do not overlap, then new parts.{balanced} A list
        holds the numbers of the rows of each member: bags of one's own, such as whole groups or blocks of time.
    bootstrap_features : bool
        Whether columns are drawn with replacement. A column that is drawn twice is seen once, so members see about
        63 % of as many columns as there are.
    oob_score : bool, "auto", str or callable
        Whether training rows are scored by the members that did not draw them. "auto": wherever there are such rows.
        By {metric}; by the name of a scikit-learn scorer, a scorer, or a function of true and predicted targets.
        Unless it is "auto", a warning says how many rows no member left out.
{voting}{on_error}    warm_start : bool
        Continue from the last fit to the same rows with more members; the result is that of one longer fit.
{n_jobs}    random_state : int, RandomState, Generator or None
        The seed of what is drawn, and of members whose own random_state is None. Draws depend on what rows hold, not on
        their order.
{verbose}    checkpoint : str, path, Checkpoint or None
        A folder to keep members in while others are fitted, so that `fit(resume=True)` goes on if the fit is
        interrupted.

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
    pruning_path_ : Bunch
        The order of the members and the loss after each, if `coterie.prune` chose from them.
"""
_VOTING = """\
    voting : {"auto", "soft", "hard"}
        "soft": the mean of the members' probabilities. "hard": each member votes for a class. "auto": soft where
        members have probabilities, else hard.
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
