"""The parameters and attributes of decision trees in words: one text for both docstrings."""

from sklearn.base import ClassifierMixin

_CLASSES = """\
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        How impurity is measured; the last two are the same. Default "gini": scikit-learn's default, fast, and as good
        as the others on most tables.
    class_weight : dict, list of dicts, "balanced", default=None
        What the rows of each class count. Default None: weights distort probabilities; for decisions about rare
        classes tune a threshold first.
"""
_NUMBERS = """\
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        What is to be small around the prediction of a leaf: squares around the mean, distances to the median, or the
        Poisson deviance around the mean of counts. Default "squared_error": scikit-learn's default, fast, and as good
        as the others on most tables.
"""
_SHARED = """\
    splitter : {"best", "random"}, default="best"
        Try every threshold, or draw one at random for each feature and keep the best of those. Default "best": the
        best threshold makes the best single tree.
    max_depth : int, default=None
        Splits on the longest way from the root. None: until leaves are pure or too small to split. Default None: the
        other limits decide.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Rows that a node needs to be split, and that each side must keep; a float is a fraction of all rows. Default:
        trees grow until leaves are pure, as in scikit-learn.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight that each side must keep. Default 0.0: no limit by weight, as in scikit-learn.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Features drawn for each split: a number, a fraction, or all of them. Default None: a single tree needs no
        chance.
    random_state : int, RandomState, Generator, default=None
        The seed of what is drawn. Default None: a new seed for each fit, as in scikit-learn; a number makes it
        repeatable.
    max_leaf_nodes : int, default=None
        Grow best first, up to so many leaves. Default None: no limit: the others decide.
    min_impurity_decrease : float, default=0.0
        A split must lower the impurity, weighted by the share of rows it concerns, by at least this much. Default
        0.0: every split that helps is made, as in scikit-learn.
    ccp_alpha : float, default=0.0
        Prune splits that save less impurity than this for each leaf they add. Default 0.0: no pruning: how much is
        best depends on the table.
    monotonic_cst : array of -1, 0, 1 or dict by column name, default=None
        Whether the <output> must fall (-1) or rise (1) with a feature. Default None: no constraint: it is knowledge
        about the table that only you have.
    categorical_features : "auto", array of names, indices or booleans, None, default="auto"
        Columns that are split into sets. "auto": text and categories. Default "auto": text and categories have no
        order that a threshold could use.
    unknown_category : {"missing", "error"}, default="missing"
        What predict does with a category that fit did not see. Default "missing": new categories are common in new
        tables, and a prediction without them is better than none.
    n_jobs : int, default=None
        Threads; None for all that the process may use. The tree is the same for any number. Default None: every core,
        because the model is the same for any number.

    Attributes
    ----------
<classes>    n_outputs_, n_features_in_, max_features_ : int
    feature_names_in_ : array of str, if the columns had names
    feature_importances_ : array of shape (n_features,)
    tree_ : GrownTree
        The arrays of the tree under scikit-learn's names.
    schema_ : Schema
        Names and kinds of the columns that fit saw.
    encoder_ : Encoder
        The levels of categories, and the code of each.
"""
_CLASS_ATTRIBUTES = """\
    classes_ : array of labels, or a list of them for several outputs
    n_classes_ : int, or array of ints for several outputs
"""


def tree_texts(estimator: type) -> str:
    """Parameters and attributes of a class of decision trees."""
    if issubclass(estimator, ClassifierMixin):
        own, output, attributes = _CLASSES, "probability of the second class", _CLASS_ATTRIBUTES
    else:
        own, output, attributes = _NUMBERS, "prediction", ""
    return own + _SHARED.replace("<output>", output).replace("<classes>", attributes)
