"""The parameters of AnyBoost in words, for the docstrings of both estimators."""

from sklearn.base import ClassifierMixin

_SHARED = """\
    estimator : estimator or None
        What a member is a copy of: any model with `fit` and `predict`. A regressor is fitted to the negative slopes. A
        classifier is fitted to their signs, with their sizes as weights, and its predictions count as -1 and 1; it
        serves losses of one score. None: our DecisionTreeRegressor(max_depth=3), which takes any table.
<loss>    n_estimators : int
        Rounds, unless something ends them before: `stopped_because_` says what.
    step : "line_search" or float
        How far to go along a member: to where the training loss is least, or always as far. A number near 0.1 is what
        the linear approximation behind the method requires.
    learning_rate : float or "auto"
        The share of the step that is taken. "auto": 0.1 of a step that was searched for, which generalises better than
        all of it; and all of a step that is a number.
    init : {"constant", "zero"}
        Where scores start. The constant that fits best, because small steps from zero would take many rounds to reach
        the level of the target; "zero" is the algorithm to the letter, and AdaBoost.
    subsample : float
        Share of the rows that a member is fitted to, drawn anew in each round. 1: all of them.
<own>    early_stopping : bool or "auto"
        Whether rows left out, or an eval set, decide how many rounds are kept. "auto": if there is an eval set.
    validation_fraction : float
        Share of the rows left out if there is no eval set.
    n_iter_no_change : int
        Rounds without progress before the fit ends.
    tol : float
        Progress smaller than this is none.
    warm_start : bool
        Continue from the last fit with more rounds; `estimator`, `step`, `learning_rate` and `subsample` may change.
    random_state : int, RandomState, Generator or None
        The seed of bags, of rows left out, and of members that have a `random_state`.
    n_jobs : int or None
        Threads of members that have such a parameter and leave it at None, as our trees do.
    checkpoint : str, path, Checkpoint or None
        A folder to keep members in while others are fitted, so that `fit(resume=True)` goes on if the fit is
        interrupted.

    Attributes
    ----------
<classes>    estimators_ : array of shape (n_estimators_, n_scores)
        The members: one in each round, or one for each <what> if there are more than two.
    estimator_weights_ : array of shape (n_estimators_,)
        Their steps, or votes; all members of a round share one.
    n_estimators_ : int
        Rounds that were kept.
    baseline_ : array
        The raw prediction that every row starts from.
    stopped_because_ : str
        Why there are no more rounds.
    inner_products_ : array
        Of each round: how fast the mean loss falls at the start of the step. If the fit ended because it does not
        fall, the number that showed it is the last.
    steps_, train_losses_, validation_losses_ : array
        Of each round: its step, and the mean loss after it. Rounds are among them that early stopping did not keep.
    feature_importances_ : array of shape (n_features_in_,)
        The mean over members that know theirs, each as much as it lowered the training loss.
    schema_ : Schema
        Names and kinds of the columns that fit saw.
    encoder_ : Encoder
        The levels of categories, and the code of each.
"""
_NUMBERS = {
    "loss": """    loss : str or Loss
        What is minimised: any name or loss of `coterie.losses`, or a CustomLoss. "squared_error": members are then
        fitted to residuals. The turn of "huber" is found once, from the distances to the median.
""",
    "own": "",
    "what": "quantile",
    "classes": "",
}
_CLASSES = {
    "loss": """    loss : {"log_loss", "exponential"} or CustomLoss
        What is minimised. Log loss, because its scores are probabilities that can be believed; the others are for two
        classes.
""",
    "own": """    class_weight : mapping, "balanced" or None
        Weights of the classes, times the weights of the rows.
""",
    "what": "class",
    "classes": "    classes_ : array of the labels\n",
}


def anyboost_texts(estimator: type) -> str:
    """Parameters and attributes of a class of AnyBoost."""
    text = _SHARED
    for name, words in (_CLASSES if issubclass(estimator, ClassifierMixin) else _NUMBERS).items():
        text = text.replace(f"<{name}>", words)
    return text
