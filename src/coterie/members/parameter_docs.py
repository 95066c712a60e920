"""The parameters and attributes of voting in words: one text for both docstrings."""

from sklearn.base import ClassifierMixin

MEMBER_WORDS = {
    "estimators": """\
    estimators : list of (str, estimator) or (str, estimator, columns)
        The members by name: any learners with scikit-learn's interface. Copies of them are fitted, see `estimators_`.
        "drop" in the place of a learner leaves it out. `columns` are those that the member sees: names, places, a
        slice, a mask or a function of X that returns one of these.
""",
    "on_error": """\
    on_error : {"raise", "drop"}
        What happens when a member fails: the error is raised, or the ensemble goes on without the member and a
        warning and `dropped_` say so. Default "raise": an error in a member is usually a mistake that you want to
        see.
""",
    "n_jobs": """\
    n_jobs : int or None
        Threads in all. Members are fitted side by side, and each is limited to its share whatever its own `n_jobs`
        is; learners of ours share their work among threads and take turns. None: one after the other, each with the
        threads it likes, or what `joblib.parallel_config` says. The predictions are the same for any number. Default
        None: members decide themselves, so that threads do not compete.
""",
    "random_state": """\
    random_state : int, RandomState, Generator or None
        Seeds for members whose own random_state is None, one for each member and fold. None leaves members as they
        are. Default None: the members have seeds of their own, if they are to be repeatable.
""",
    "verbose": """\
    verbose : int or bool
        Print a line when a member is fitted. Default 0: silent.
""",
}
OOF_WORDS = """\
    oof_predictions_ : Bunch of arrays
        Predictions of each member for rows that it was not fitted to, by name; NaN for a row that was never held out.
    oof_coverage_ : array of shape (n_rows,)
        How often each row was held out.
    member_scores_ : Bunch of float
        Accuracy or R2 of each member on these rows.
    oof_score_, oof_score_error_ : float
        Accuracy or R2 of the ensemble on rows held out, and the standard error of that.
"""
_CLASS_VOTING = """\
    voting : {"hard", "soft", "median", "rank"}
        "hard": each member votes for a class. "soft": the mean of their probabilities. "median": the median of them,
        which a single wild member cannot move. "rank": probabilities are compared with what the member usually
        predicts, and the mean of the ranks is translated back, so that members with different ideas of "sure" count
        alike. Default "hard": scikit-learn's default, which asks of members nothing but classes.
"""
_NUMBER_VOTING = """\
    voting : {"mean", "median", "rank"}
        "mean": the mean of the predictions of members. "median": the median, which a single wild member cannot move.
        "rank": predictions are compared with what the member usually predicts, and the mean of the ranks is
        translated back, so that members on different scales count alike. Default "mean": scikit-learn's default, and
        the least squared error if members are equally good.
"""
_PARAMETERS = """\
{estimators}{voting}    weights : array of n_members, "learned" or None
        How much each member counts; None: all alike. "learned": weights that sum to 1, found on rows held out: {loss}
        Default None: equal weights are hard to beat without rows to learn others from.
    cv : int, splitter, list of (train, test), "prefit" or None
        How rows are held out, as in scikit-learn; None is 5 folds if weights are learned, and none otherwise. With
        folds the out-of-fold attributes are set. "prefit": members were fitted before, and what is learned is learned
        from all rows given to `fit`, which they should not have seen. Default None: folds cost
        fits, and equal weights need none.
{on_error}{n_jobs}{flatten}{random_state}{verbose}
    Attributes
    ----------
{classes}    estimators_ : list of fitted members
    named_estimators_ : Bunch of fitted members by name
    weights_ : array of shape (n_members,)
        Their weights, as shares.
    dropped_ : dict
        Why members failed, by name; empty unless on_error="drop".
{oof}    pruning_path_ : Bunch
        The order of the members and the loss after each, if `coterie.prune` chose from them.
"""
_FLATTEN = """\
    flatten_transform : bool
        Whether `transform` returns two dimensions for probabilities, or three. Default True: scikit-learn's default,
        and what pipelines take.
"""
_CLASSES = """\
    classes_ : array of the labels
    le_ : LabelEncoder
        Numbers the classes as `transform` does.
"""
_LOSSES = {
    True: "the\n        least log loss for soft voting, the least squared error of the votes for hard voting.",
    False: "the\n        least squared error.",
}


def voting_texts(estimator: type) -> str:
    """Parameters and attributes of a class of voting."""
    of_classes = issubclass(estimator, ClassifierMixin)
    return _PARAMETERS.format(
        **MEMBER_WORDS,
        voting=_CLASS_VOTING if of_classes else _NUMBER_VOTING,
        loss=_LOSSES[of_classes],
        flatten=_FLATTEN if of_classes else "",
        classes=_CLASSES if of_classes else "",
        oof=OOF_WORDS,
    )
