"""Parameters of `coterie.ensemble` in words: they and their defaults are scikit-learn's, and this is why each is so.

The classes have no parameters in their docstrings, because one text serves many of them. A name with the class before
it goes before the name alone.
"""

from docstrings import Entry, defaults_of, entries_of

_WORDS = """\
estimator : estimator or None
    What members are copies of. Default: a decision tree, the member for which bagging was invented.
AdaBoostClassifier.estimator : classifier or None
    What members are copies of; it must take weights of rows. Default: a stump, a tree with one split, because boosting
    needs members that are only a little better than chance.
AdaBoostRegressor.estimator : regressor or None
    What members are copies of. Default: a tree of depth 3, the smallest that shows interactions of three columns.
BaseEnsemble.estimator : estimator or None
    What members are copies of. Default: the class that inherits from it decides.
estimator_params : list of str
    Parameters that are handed to each member. Default: none, unless the class that inherits from it has some.
estimators : list of (str, estimator)
    The members by name; "drop" leaves one out.
final_estimator : estimator or None
    What combines the predictions of the members. Default: a regularised linear model, because a flexible one would
    learn the noise of few columns.
voting : {"hard", "soft"}
    Whether classes are counted or probabilities averaged. Default: every classifier has classes, not every one
    probabilities.
weights : array of shape (n_members,) or None
    How much each member counts. Default: all alike; weights that are worth it have to be learned on other rows.
flatten_transform : bool
    Whether `transform` of soft votes returns one matrix. Default: the next step of a pipeline takes a matrix.
cv : int, splitter, "prefit" or None
    How rows are held out for the final estimator. Default: five folds, so that each fit sees four fifths of the rows.
stack_method : {"auto", "predict_proba", "decision_function", "predict"}
    What members tell the final estimator. Default: the first of these that they have, because probabilities say more
    than labels.
passthrough : bool
    Whether the final estimator also sees X. Default: it has fewer columns to overfit to.
n_estimators : int
    Trees. Default: with a hundred, a forest hardly changes any more, and boosting with a learning rate of 0.1 has
    learned most of what it will.
BaggingClassifier.n_estimators : int
    Members. Default: ten already take away most of the variance, and members of any kind may be slow.
BaggingRegressor.n_estimators : int
    Members. Default: ten already take away most of the variance, and members of any kind may be slow.
BaseEnsemble.n_estimators : int
    Members. Default: a number for classes that have no better one.
AdaBoostClassifier.n_estimators : int
    Rounds at most; a perfect member ends them. Default: stumps are weak, so fewer would often underfit.
AdaBoostRegressor.n_estimators : int
    Rounds at most; a perfect member ends them. Default: as for classes.
max_iter : int
    Rounds of boosting at most. Default: with a learning rate of 0.1 they learn most of what can be learned.
learning_rate : float
    The share of each tree that is added. Default: small enough to generalise, large enough for a hundred rounds.
AdaBoostClassifier.learning_rate : float
    A factor for the vote of each member. Default: AdaBoost as it was published.
AdaBoostRegressor.learning_rate : float
    A factor for the exponent by which weights change. Default: AdaBoost.R2 as it was published.
loss : str
    What is minimised. Default: the loss of the mean of numbers, and of the probabilities of classes.
AdaBoostRegressor.loss : {"linear", "square", "exponential"}
    How the error of a row changes its weight. Default: the mildest, which follows outliers least.
alpha : float
    The quantile of loss="huber" and loss="quantile". Default: one residual in ten counts as an outlier.
quantile : float or None
    The level of loss="quantile". Default: other losses have none.
criterion : str
    What a split improves. Default: fast to compute, and the trees are about as good as with the others.
GradientBoostingClassifier.criterion : str
    Trees are fitted to slopes of the loss. Default: scikit-learn has withdrawn the choice.
GradientBoostingRegressor.criterion : str
    Trees are fitted to slopes of the loss. Default: scikit-learn has withdrawn the choice.
max_depth : int or None
    Splits between the root and a leaf at most. Default: no limit; averaging, or other limits, take care of overfitting.
GradientBoostingClassifier.max_depth : int or None
    Splits between the root and a leaf at most. Default: interactions of three columns, which many small trees add up.
GradientBoostingRegressor.max_depth : int or None
    Splits between the root and a leaf at most. Default: interactions of three columns, which many small trees add up.
RandomTreesEmbedding.max_depth : int
    Splits between the root and a leaf at most. Default: at most 32 leaves, hence 32 columns, a tree.
max_leaf_nodes : int or None
    Leaves of a tree at most. Default: no limit; the depth decides.
HistGradientBoostingClassifier.max_leaf_nodes : int or None
    Leaves of a tree at most. Default: a tree that is about five deep where it is balanced, grown quickly.
HistGradientBoostingRegressor.max_leaf_nodes : int or None
    Leaves of a tree at most. Default: a tree that is about five deep where it is balanced, grown quickly.
min_samples_split : int or float
    Rows, or the share of rows, that a node needs to be split. Default: every node that can be split.
min_samples_leaf : int or float
    Rows, or the share of rows, that a leaf needs. Default: full trees, whose variance averaging takes away.
HistGradientBoostingClassifier.min_samples_leaf : int
    Rows that a leaf needs. Default: the mean of fewer rows is mostly noise.
HistGradientBoostingRegressor.min_samples_leaf : int
    Rows that a leaf needs. Default: the mean of fewer rows is mostly noise.
min_weight_fraction_leaf : float
    The share of all weight that a leaf needs. Default: no such limit; rows are counted.
min_impurity_decrease : float
    How much a split must improve its node, weighted by the share of its rows. Default: any improvement will do.
ccp_alpha : float
    How much a leaf must be worth to survive pruning. Default: trees of an ensemble are not pruned.
max_features : "sqrt", "log2", int, float or None
    Columns that a split chooses from. Default: all of them.
RandomForestClassifier.max_features : "sqrt", "log2", int, float or None
    Columns that a split chooses from. Default: the square root of their number, so that trees differ.
ExtraTreesClassifier.max_features : "sqrt", "log2", int, float or None
    Columns that a split chooses from. Default: the square root of their number, so that trees differ.
BaggingClassifier.max_features : int or float
    Columns that each member sees. Default: all of them, which is bagging as it was published.
BaggingRegressor.max_features : int or float
    Columns that each member sees. Default: all of them, which is bagging as it was published.
IsolationForest.max_features : int or float
    Columns that each tree sees. Default: all of them.
bootstrap : bool
    Whether rows are drawn with replacement. Default: bags of drawn rows are what makes trees differ.
ExtraTreesClassifier.bootstrap : bool
    Whether rows are drawn with replacement. Default: no; random thresholds already make trees differ.
ExtraTreesRegressor.bootstrap : bool
    Whether rows are drawn with replacement. Default: no; random thresholds already make trees differ.
IsolationForest.bootstrap : bool
    Whether rows are drawn with replacement. Default: no; a sample without repetition holds more distinct rows.
bootstrap_features : bool
    Whether columns are drawn with replacement. Default: a column drawn twice tells a member nothing new.
max_samples : int, float or None
    Rows that are drawn for each member, or their share. Default: as many as there are.
IsolationForest.max_samples : "auto", int or float
    Rows that are drawn for each tree. Default: 256 at most; in a small sample outliers stand alone sooner.
subsample : float
    The share of rows that each tree sees. Default: all rows; less is stochastic boosting, for which one sets a seed.
oob_score : bool or function
    Whether the score out of bag is measured. Default: it costs predictions that not everybody needs.
contamination : "auto" or float
    The share of outliers, which sets the threshold of `predict`. Default: the threshold of the paper; nobody knows the
    share in advance.
init : estimator, "zero" or None
    What the first predictions come from. Default: the constant that fits best.
class_weight : dict, "balanced" or None
    Weights of classes. Default: rows count alike, so that probabilities are those of the table.
categorical_features : list, array, "from_dtype" or None
    Which columns are categories. Default: a data frame knows it.
monotonic_cst : array, dict or None
    Columns along which predictions only rise (1) or only fall (-1). Default: no constraint; it is knowledge that only
    you have.
interaction_cst : list of sets, "pairwise", "no_interactions" or None
    Columns that may meet in one path. Default: no constraint; it is knowledge that only you have.
l2_regularization : float
    A penalty on large leaf values. Default: leaves of twenty rows rarely need one.
max_bins : int
    Bins of a column of numbers, beside the one of missing values. Default: as many as a byte can tell apart.
early_stopping : bool or "auto"
    Whether rows are held out to decide when to stop. Default: with more than 10,000 rows, because a tenth of them can
    be spared.
scoring : str, callable or None
    What early stopping looks at. Default: the loss, which is smoother than scores that count.
validation_fraction : float
    The share of rows that early stopping holds out. Default: the other nine tenths are left to learn from.
n_iter_no_change : int
    Rounds without improvement after which fitting stops. Default: patience for a plateau, at the price of ten trees.
GradientBoostingClassifier.n_iter_no_change : int or None
    Rounds without improvement after which fitting stops. Default: no early stopping, hence no rows held out.
GradientBoostingRegressor.n_iter_no_change : int or None
    Rounds without improvement after which fitting stops. Default: no early stopping, hence no rows held out.
tol : float
    What counts as an improvement. Default: small beside the losses of most tables.
sparse_output : bool
    Whether the embedding is a sparse matrix. Default: of the columns of a tree, one is 1 and all others are 0.
warm_start : bool
    Whether a second fit adds to the trees of the first. Default: a second fit usually means another table.
n_jobs : int or None
    Threads. The model is the same for any number. Default: trees use every core; members of other libraries are fitted
    one after the other.
random_state : int, RandomState or None
    The seed of what is drawn. Default: a new seed for each fit; a number makes it repeatable.
verbose : int or bool
    How much is printed. Default: nothing.
"""

_ENTRIES = {entry.names[0]: entry for entry in entries_of(_WORDS.splitlines())}


def is_mirror(path: str) -> bool:
    """Whether a full name is that of a class of scikit-learn's on our engine."""
    return path.startswith("coterie.ensemble.")


def entries_of_mirror(thing: type) -> list[Entry]:
    """An entry for each parameter of the class, in the order of its constructor."""
    return [
        Entry((name,), entry.kind, entry.lines)
        for name in defaults_of(thing)
        for entry in [_ENTRIES.get(f"{thing.__name__}.{name}") or _ENTRIES[name]]
    ]


def unused_entries(things: list[type]) -> set[str]:
    """Words that no class needs."""
    used = {
        key
        for thing in things
        for name in defaults_of(thing)
        for key in [f"{thing.__name__}.{name}" if f"{thing.__name__}.{name}" in _ENTRIES else name]
    }
    return set(_ENTRIES) - used
