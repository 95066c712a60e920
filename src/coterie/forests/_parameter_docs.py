"""The parameters of forests in words: one text for the docstrings of all four estimators."""

from collections.abc import Callable

from sklearn.base import ClassifierMixin

_SHARED = """\
    n_estimators : int or "auto"
        Trees. "auto" grows 25 at a time, from 50 to 1,000, until the last doubling of
        their number has lowered the out-of-bag error by less than 0.5 %. Default 100: scikit-learn's number; more
        trees are never worse, and slower.
<criterion>    max_depth : int or None
        Splits on the longest way from the root. None: until leaves are pure. Default None: averaging, not
        pruning, keeps a forest from learning rows by heart.
    min_samples_split, min_samples_leaf : int or float
        Rows that a node needs to be split, and that each side must keep; a float is a fraction of all rows. Default:
        trees grow until leaves are pure, as in scikit-learn.
    min_weight_fraction_leaf : float
        Share of the weight of its bag that each side of a split must keep. Default 0.0: no limit by weight, as in
        scikit-learn.
    max_features : int, float, {"sqrt", "log2"} or None
        Features that a split may choose from: a number, a fraction, or all of them. <max_features>
    max_leaf_nodes : int or None
        Grow best first, up to so many leaves. Default None: no limit: the others decide.
    min_impurity_decrease : float
        A split must lower the impurity, weighted by the share of rows it concerns, by at least this much. Default
        0.0: every split that helps is made, as in scikit-learn.
    bootstrap : <bootstrap>
        Which rows each tree sees, its bag. True: as many as there are, with replacement. False: all rows, or
        `max_samples` of them without replacement. "partition": parts of `max_samples` rows that do not overlap, then
        new parts.<balanced> <bootstrap_default>
    oob_score : bool, "auto", str or callable
        Whether training rows are scored by the trees that did not draw them. "auto": wherever there are such rows. By
        accuracy (every label of a row) or R2; by the name of a scikit-learn scorer, a scorer, or a function of true
        and predicted targets. Unless it is "auto", a warning says how many rows no tree left out. Default "auto": it
        costs little and needs no rows set aside.
    n_jobs : int or None
        Threads. None: every core that the process may use, or `COTERIE_NUM_THREADS`. The forest is the same for any
        number. Default None: every core, because the model is the same for any number.
    random_state : int, RandomState, Generator or None
        The seed of what is drawn. Draws depend on what rows hold, not on their order. Default None: a new seed for
        each fit, as in scikit-learn; a number makes it repeatable.
    verbose : int
        1 prints ten lines while trees grow, 2 a line for each tree. Default 0: silent.
    warm_start : bool
        Continue from the last fit to the same rows with more trees; the result is that of one longer fit. Default
        False: a fit forgets the last one, as in scikit-learn.
<class_weight>    ccp_alpha : float
        Prune splits that save less impurity than this for each leaf they add. Default 0.0: no pruning, because the
        average is over full trees.
    max_samples : int, float or None
        Rows that each tree draws: a number, a fraction, or all of them. Default None: as many as there are, as in
        Breiman's bootstrap.
    monotonic_cst : array of -1, 0, 1, dict by column name, or None
        Whether <prediction> must fall (-1) or rise (1) with a feature. Default None: no constraint: it is knowledge
        about the table that only you have.
    interaction_cst : list of sets, "pairwise", "no_interactions" or None
        Features, by number or by column name, that may meet on a way from the root to a leaf. Default None: no
        constraint: it is knowledge about the table that only you have.
    features_per : {"split", "tree"}
        Whether `max_features` are drawn for each split, or once for each tree. Default "split": Breiman's way; new
        columns in each split make trees differ more.
    prune : "oob" or None
        Undo branches that do not improve the predictions for half of the rows out of the bag; the other half counts
        for what is known out of bag. Default None: full trees are the better average in most cases.
    keep_rows : bool
        Whether the forest keeps its training rows (two bytes for each value), which <needs> need. Default True: the
        rows cost less memory than the trees.
    categorical_features : "auto", array of names, indices or booleans, or None
        Columns that are split into sets. "auto": text and categories. Default "auto": text and categories have no
        order that a threshold could use.
    unknown_category : {"missing", "error"}
        What predict does with a category that fit did not see. Default "missing": new categories are common in new
        tables, and a prediction without them is better than none.
    checkpoint : str, path, Checkpoint or None
        A folder to keep trees in while others grow, so that `fit(resume=True)` goes on if the fit is interrupted.
        Default None: most fits are short, and nothing should be written without being told to.

    Attributes
    ----------
    forest_ : PackedForest
        The trees, twelve bytes for each node and the values of the leaves.
    estimators_ : sequence of <member>
    n_estimators_ : int, the number of trees
<classes>    n_outputs_, n_features_in_, max_features_ : int
    feature_names_in_ : array of str, if the columns had names
    feature_importances_ : array of shape (n_features,)
        Shares in the decrease of impurity.
    unbiased_importances_ : array of shape (n_features,)
        The same on rows out of bag, where chance adds up to nothing.
    schema_ : Schema
        Names and kinds of the columns that fit saw.
    encoder_ : Encoder
        The levels of categories, and the code of each.
    oob_score_ : float
    <oob> : array
        The mean prediction of the trees that did not draw a row; NaN where there are none.
    oob_coverage_ : array of ints, how many trees these are
    oob_errors_ : array of shape (n_estimators_,)
        After each tree, the share of wrong classes or the mean squared error out of bag.
    oob_member_errors_ : array of shape (n_estimators_,)
        The same of each tree alone, on the rows that it did not draw; found on request, with `keep_rows`.
    pruning_path_ : Bunch
        The order of the trees and the loss after each, if `coterie.prune` chose from them.
"""

_CLASSES = {
    "criterion": """    criterion : {"gini", "entropy", "log_loss"}
        How the impurity of nodes is measured; the last two are the same. Default "gini": scikit-learn's default, fast,
        and as good as the others on most tables.
""",
    "bootstrap": 'bool, "balanced" or "partition"',
    "balanced": """
        "balanced": as many of each class, with replacement, as the rarest class has rows, or `max_samples` of each.
       """,
    "class_weight": """    class_weight : dict, list of dicts, "balanced", "balanced_subsample" or None
        What the rows of each class count. "balanced_subsample" finds the balance anew in each bag. Default
        None: weights distort probabilities; for decisions about rare classes tune a threshold first.
""",
    "prediction": "the probability of the second class",
    "needs": """`predict_set`, `predict_variance`,
        `oob_importances`, `proximities`, `outlier_measure` and `prototypes`""",
    "member": "DecisionTreeClassifier",
    "classes": """    classes_ : array of labels, or a list of them for several outputs
    n_classes_ : int, or a list of ints
""",
    "oob": "oob_decision_function_",
}
_NUMBERS = {
    "criterion": """    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}
        What is to be small around the value of a leaf: squares around the mean, distances to the median, or the
        Poisson deviance around the mean of counts. Default "squared_error": it estimates the mean, and is fast.
""",
    "bootstrap": 'bool or "partition"',
    "balanced": "",
    "class_weight": "",
    "prediction": "the prediction",
    "needs": """`predict_quantiles`,
        `predict_interval`, `predict_variance`, `oob_importances`, `proximities` and `outlier_measure`""",
    "member": "DecisionTreeRegressor",
    "classes": "",
    "oob": "oob_prediction_",
}


def forest_texts(*, max_features: str, bootstrap: str) -> Callable[[type], str]:
    """Parameters and attributes of a class of forests.

    `max_features` and `bootstrap` are texts on what the default of the class is, and why.
    """

    def texts(estimator: type) -> str:
        text = _SHARED.replace("<max_features>", max_features).replace("<bootstrap_default>", bootstrap)
        for name, words in (_CLASSES if issubclass(estimator, ClassifierMixin) else _NUMBERS).items():
            text = text.replace(f"<{name}>", words)
        return text

    return texts
