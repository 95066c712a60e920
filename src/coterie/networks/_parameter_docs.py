"""The parameters and attributes of neural networks in words: one text for both docstrings."""

from sklearn.base import ClassifierMixin

_CLASSES = """\
    label_smoothing : float, default=0.1
        The share of each label that is spread over all classes: probabilities are less certain for it.
        Default: that of RealMLP, best on average over many tables.
    class_weight : dict, "balanced", default=None
        What the rows of each class count. Default: weights distort probabilities; for decisions about rare classes
        tune a threshold first.
"""
_SHARED = """\
    n_estimators : int, default=5
        Networks, whose predictions are averaged. Each leaves out a part of the rows, a fifth or less; with five or
        more every row is left out by one of them. Default: with five every row is left out once, and a mean errs less
        than one network.
    hidden_sizes : list of int, default=(256, 256, 256)
        Units of the hidden layers.
        Default: that of RealMLP, best on average over many tables.
    activation : {"selu", "mish"}, default="<activation>"
        What bends the sums of a unit. Each unit learns how much of it to use.
        Default: that of RealMLP, best on average over many tables.
    max_epochs : int or "auto", default="auto"
        How often each row is learned from at most. "auto": 256 times, less often on large tables. Default: small
        tables need many passes, large ones few.
    batch_size : int, default=256
        Rows that a step learns from.
        Default: that of RealMLP, best on average over many tables.
    learning_rate : float, default=<rate>
        The largest of the learning rates, which rise and fall four times, each time for twice as long.
        Default: that of RealMLP, best on average over many tables.
    dropout : float, default=0.15
        The share of units that are left out at each step; it falls to 0 in the second half.
        Default: that of RealMLP, best on average over many tables.
    weight_decay : float, default=0.02
        How strongly weights are pulled to 0; it falls to 0 in the second half.
        Default: that of RealMLP, best on average over many tables.
    early_stopping : bool, default=True
        Stop after a cycle of the learning rate that did not lower the loss of the rows left out. The networks of the
        best epoch are kept in any case. Default: cycles that gain nothing are time lost.
    categorical_features : "auto", array of names, indices or booleans, None, default="auto"
        Columns of levels without order. "auto": text and categories. Default: text and categories have no order that
        a number could carry.
    unknown_category : {"missing", "error"}, default="missing"
        What predict does with a category that fit did not see. Default: new categories are common in new tables, and
        a prediction without them is better than none.
    random_state : int, RandomState, Generator, default=None
        The seed of first weights, parts, batches and dropout. Default: a new seed for each fit, as in scikit-learn; a
        number makes it repeatable.
    n_jobs : int, default=None
        Threads, each of which trains one network; None for all that the process may use. The bits are the same for
        any number. Default: every core, because the model is the same for any number.

    Attributes
    ----------
<classes>    estimators_ : list of Network
    inputs_ : NetworkInputs
        How columns become inputs.
    n_estimators_, n_features_in_ : int
    n_epochs_, best_epoch_ : int
        Epochs that were trained, and the one that was kept.
    validation_losses_ : array of shape (n_epochs_,)
        The mean loss of the rows left out after each epoch: log loss, or half of the squared error in units of
        the target's variance; empty if there are too few rows to leave some out.
    stopped_because_ : str
    <held_out>
        For each row, what the network that left it out predicts; NaN for rows that none left out, or without weight.
    feature_names_in_ : array of str, if the columns had names
    schema_ : Schema
        Names and kinds of the columns that fit saw.
    encoder_ : Encoder
        The levels of categories, and the code of each.
"""
_CLASS_ATTRIBUTES = """\
    classes_ : array of labels
    n_classes_ : int
"""


def network_texts(estimator: type) -> str:
    """Parameters and attributes of a class of neural networks."""
    is_classifier = issubclass(estimator, ClassifierMixin)
    held_out = (
        "oof_proba_ : array of shape (n_rows, n_classes)"
        if is_classifier
        else "oof_prediction_ : array of shape (n_rows,)"
    )
    filled = (
        _SHARED.replace("<activation>", "selu" if is_classifier else "mish")
        .replace("<rate>", "0.04" if is_classifier else "0.2")
        .replace("<held_out>", held_out)
        .replace("<classes>", _CLASS_ATTRIBUTES if is_classifier else "")
    )
    return (_CLASSES if is_classifier else "") + filled
