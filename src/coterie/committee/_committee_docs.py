"""The parameters and attributes of committees in words: one text for both docstrings."""

import textwrap

from sklearn.base import ClassifierMixin

from coterie.committee.candidates.configurations import names_for

_PARAMETERS = """\
    time_limit : float or None
        Seconds that `fit` may take. Before each member its time is foreseen from the members so far; one that would
        take too long is skipped, and the next is tried. At least one member is fitted, to a sample of the rows if
        there are very many, and 200,000 rows are held out at most. What time is left is spent on a search around the
        best members. Results may differ from run to run. None: members until several in a row add nothing, no
        search, and the same bits for the same `random_state`. Default 60: a minute is long enough for dozens of
        members on a table of some thousand rows.
    scoring : str, callable or None
        What the weights are chosen by, and members are scored by: None is the {loss}; or any scorer of scikit-learn.
        Default None: the loss is smoother than scores that count, so choices by it are the least noisy.
    cv : int, splitter, list of (train, test) or None
        How rows are held out. A number: so many folds of rows drawn at random, {spread}with
        rows of a group together; None is 5. Or any splitter of scikit-learn: TimeSeriesSplit for rows in the order of
        time. Default 5: four fifths of the rows are left to learn from, at the price of five fits.
    portfolio : "auto" or list
        Members in the order in which they are tried: names of those of "auto", which are
        {names};
        these with "~" and a number for a variation; "lightgbm", "xgboost" or "catboost" if they are installed; or
        tuples (name, estimator) for members of your own. Default "auto": members of many kinds, those that
        helped over many tables first and then others, cheap before dear, until several in a row add nothing.
    max_members : int or None
        Members at most. With time_limit=None the result is the same on every machine. Default None: the time limit
        ends the list.
    memory_limit : float or None
        Megabytes at most for the models and the work on them, by a rough estimate for each member; those that need
        more are skipped. Default None: estimates are rough, so members are skipped only if you set a limit.
    max_iter : int
        Additions of the greedy choice of weights. Default 25: more were not found to help.
{calibration}    on_error : {{"drop", "raise"}}
        Whether a member that fails is left out, with a warning, or ends `fit`. Default "drop": one member of many
        that fails should not end a fit of minutes.
    n_jobs : int or None
        Threads. None: members use what they like, ours every core. Default None: members decide themselves, so that
        threads do not compete.
    random_state : int, RandomState, Generator or None
        Draws the folds and the members. Default None: a new seed for each fit, as in scikit-learn; a number makes it
        repeatable.
    verbose : int
        1 prints a line for each member. Default 0: silent.
    checkpoint : str, path, Checkpoint or None
        A folder to keep members in as soon as they are complete, so that `fit(resume=True)` goes on if the fit is
        interrupted. Time that was spent before counts towards the time limit. Default None: most fits are short, and
        nothing should be written without being told to.
    features : "auto", TableFeatures or None
        What columns of texts and of dates become. "auto": texts become a few dozen numbers, which are learned inside
        the folds, and dates have their parts beside them (:class:`coterie.committee.TableFeatures`). None: texts are
        labels, and dates are days. Default "auto": texts and dates as labels and days tell a model little.
    max_predict_time : float or None
        Seconds that the committee may take to predict a thousand rows: only members that fit within it together have
        weight, and if none does, the fastest alone. It is measured while members predict the rows held out, on this
        machine and as busy as it is; `repeat` decides by the same numbers. Default None: the best score, at any price.

    Attributes
    ----------
{classes}    members_ : list of str
        Members that are complete, in the order in which they were fitted.
    weights_ : array of shape (n_members,)
        Non-negative, with sum 1.
    n_iter_ : int
        Additions that were made to choose them.
    estimators_ : list of the members with weight; each is the models of its folds
    named_estimators_ : Bunch of the same by name
    oof_score_, oof_score_error_ : float
        The score of the committee by `scoring`, greater is better, and its standard error. Each fold is scored by
        weights{temperature} that were chosen without it.
    scoring_ : str
        What is scored.
    member_scores_ : Bunch of float by name
    {nested}
        Nested out-of-fold predictions of the committee: weights{temperature} are chosen without the row's fold. NaN for
        a row that was never held out.
    oof_predictions_ : Bunch of the out-of-fold predictions of members, by name
    skipped_ : dict
        Why members were not fitted, by name: time, memory, `max_members`, or a monitor that asked to stop.
    dropped_ : dict
        Why members failed, by name.
    stopped_ : list of str
        Members whose rounds, or trees, the time limit ended early.
    n_tried_ : int
        Variations of members that the search tried in the time that was left after the portfolio.
    interrupted_ : bool
        Whether `fit` was interrupted by Ctrl-C: the committee is made of the members complete by then.
    record_ : list of MemberRecord
        How each member was fitted, for `repeat`: rows, the rounds after which the time limit stopped it, and the time
        it took to predict.
    fit_time_ : float
        Seconds that `fit` took.
    fit_times_, predict_times_ : Bunch of float by name
        Seconds for all folds; seconds for a thousand new rows.
    sizes_ : Bunch of int by name
        Bytes of the models of all folds, as they are copied to another process; None for members without weight, whose
        models are not kept, and for models that cannot be copied.
{own}    n_folds_ : int
    n_features_in_ : int
    feature_names_in_ : array of str, if the table had names
    feature_importances_ : array of shape (n_features_in_,)
        What the trees of the members gained by each column, as shares; the mean of members that have trees, by weight.
"""
_CALIBRATION = """\
    calibration : {"temperature", None}
        "temperature": probabilities are made more or less certain by one number, learned out of fold and kept if it
        lowers the log loss of rows that it was learned without by more than a standard error. The mean of the models
        of the folds is less certain than each of them already, so it is only made more certain; after `refit` it may
        go either way. Default "temperature": it costs nothing and is kept only where it lowers the log loss.
"""
_DECISION = """\
    threshold : str, tuple, float or None
        How `predict` decides between two classes. "f1", "balanced_accuracy", "jaccard" or "matthews_corrcoef": the
        threshold that is best out of fold, smoothed by the bootstrap. ("precision_at_recall", 0.8): the greatest
        precision with at least that recall, and ("recall_at_precision", 0.8) the other way round. A number: the least
        probability of the positive class with which it is predicted. "auto": tuned if `scoring` is one of the names
        above, and else the most probable class, as for None. Of more than two classes only "balanced_accuracy" can be
        tuned. Default "auto": a score of decisions is meant to be reached by decisions, and other scores are left
        alone.
    cost_matrix : array of shape (n_classes, n_classes), dict or None
        What decisions cost, a row for each true class and a column for each predicted one; or a dict from classes to
        the cost of missing them, 1 for those not in it. Of two classes the threshold is tuned to the least cost, of
        more the class with the least expected cost is predicted. Default None: all errors cost the same.
    pos_label : label or None
        The positive class of a threshold. None is the second of `classes_`. Default None: scikit-learn's rule.
    class_weight : "balanced", dict or None
        Weights of the classes, times the weights of the rows: in the members, and in the choice of their weights.
        Probabilities are then those of classes that are so frequent; a threshold needs none of this. Default None:
        weights distort probabilities; for decisions about rare classes tune a threshold first.
"""
_TEMPERATURE = """\
    temperature_ : float
        Below 1 probabilities are made more certain, above 1 less. 1: as they are.
    threshold_ : float or None
        The least probability of the positive class with which it is predicted; None: no threshold was tuned.
    decision_ : DecisionRule or None
        How `predict` decides: the threshold, or multipliers or costs of several classes, what it was tuned to, and what
        that is out of fold. None: the most probable class.
"""


def committee_texts(estimator: type) -> str:
    """Parameters and attributes of a class of committees."""
    of_classes = issubclass(estimator, ClassifierMixin)
    names = names_for("classification" if of_classes else "regression")
    return _PARAMETERS.format(
        loss="log loss" if of_classes else "squared error",
        spread="each class spread evenly, " if of_classes else "",
        names=_wrapped(", ".join(f'"{name}"' for name in names)),
        calibration=_CALIBRATION + _DECISION if of_classes else "",
        classes="    classes_ : array of the labels\n" if of_classes else "",
        temperature=" and a temperature" if of_classes else "",
        nested="oof_proba_ : array of shape (n_rows, n_classes)"
        if of_classes
        else "oof_prediction_ : array of shape (n_rows,)",
        own=_TEMPERATURE if of_classes else "",
    )


def _wrapped(names: str) -> str:
    return ("\n" + 8 * " ").join(textwrap.wrap(names, 110))
