"""The parameters and attributes of decision trees in words: one text for both docstrings."""

from sklearn.base import ClassifierMixin

_CLASSES = """\
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        How impurity is measured; the last two are the same.
    class_weight : dict, list of dicts, "balanced", default=None
        What the rows of each class count.
"""
_NUMBERS = """\
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        What is to be small around the prediction of a leaf: squares around the mean, distances to the median, or
        the Poisson deviance around the mean of counts.
"""
_SHARED = """\
    splitter : {"best", "random"}, default="best"
        Try every threshold, or draw one at random for each feature and keep the best of those.
    max_depth : int, default=None
        Splits on the longest way from the root. None: until leaves are pure or too small to split.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Rows that a node needs to be split, and that each side must keep; a float is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight that each side must keep.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Features drawn for each split: a number, a fraction, or all of them.
    random_state : int, RandomState, Generator, default=None
        The seed of what is drawn.
    max_leaf_nodes : int, default=None
        Grow best first, up to so many leaves.
    min_impurity_decrease : float, default=0.0
        A split must lower the impurity, weighted by the share of rows it concerns, by at least this much.
    ccp_alpha : float, default=0.0
        Prune splits that save less impurity than this for each leaf they add.
    monotonic_cst : array of -1, 0, 1 or dict by column name, default=None
        Whether the <output> must fall (-1) or rise (1) with a feature.
    categorical_features : "auto", array of names, indices or booleans, None, default="auto"
        Columns that are split into sets. "auto": text and categories.
    unknown_category : {"missing", "error"}, default="missing"
        What predict does with a category that fit did not see.
    n_jobs : int, default=None
        Threads; None for all that the process may use. The tree is the same for any number.

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
