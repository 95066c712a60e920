"""The parameters of gradient boosting in words, for the docstrings of both estimators.

"auto" has two meanings: the one of the recipe that n_estimators="auto" follows, and the one that holds beside a number
of rounds. They are given in this order.
"""

_SHARED = """\
    n_estimators : int or "auto"
        Rounds. "auto" follows the recipe: several boosters, stopped by the rows that each leaves out, and averaged. A
        number is one booster of so many rounds from all rows.
    effort : {"quick", "default", "best"}
        How much time the recipe takes: "quick" has half as many boosters and twice the steps of the default, "best"
        twice as many and half the steps. Only with `n_estimators="auto"`; what is given as a number keeps its meaning.
    learning_rate : float or "auto"
        The share of each tree's leaf values that is taken. Small steps need more rounds and generalise better: 0.1
        (0.16 for symmetric trees, up to twice that with many classes; twice or half as much by `effort`); or 0.1.
    n_folds : int or "auto"
        Boosters that are averaged; each leaves out one part of the rows. 8 (4 or 16 by `effort`), fewer on large
        tables; or 1.
    growth : {"auto", "leaf", "level", "oblivious", "mixed"}
        Which leaf is split next: the best one, all of a level, all by one shared split, or leaf and oblivious from
        booster to booster. "mixed"; or "leaf".
    max_leaf_nodes : int, "auto" or None
        31, and 64 in symmetric trees; or 31. None: no limit.
    max_depth : int or None
        Longest path. None: no limit, because the number of leaves is one already.
    min_samples_leaf : int or "auto"
        Rows that a leaf must keep: 5, and 1 in symmetric trees; or 20.
    min_child_weight : float
        Sum of hessians that a leaf must keep. Next to nothing, enough to avoid divisions by zero.
    l2_regularization : float or "auto"
        Added to the hessians of a leaf, which shrinks its value: 1; or 0.
    l1_regularization : float
        Taken off the sum of gradients of a leaf. 0, because L2 does the same more smoothly.
    min_gain_to_split : float
        A split that gains less is not made. 0: the limits above do that work.
    leaf_penalty : float
        After a tree is grown, branches that gain less than this for each leaf are undone. 0, as above.
    max_step : float or None
        The furthest that a tree moves a score, before the learning rate. None: only losses with tiny hessians need it.
    path_smoothing : float
        Rows' worth of the parent's value that a leaf takes over. 0: no gain was found beside L2 and averaging.
    split_noise : float
        Noise in the choice between features, in units of a split by chance. 0: averaging is a better use of chance.
    linear_leaves : bool or "auto"
        Leaves predict with a small regression on the numeric features of their path. "auto": with
        `n_estimators="auto"`, in all boosters for squared error and in those for log loss that do not grow symmetric
        trees; not where other parameters forbid it, and not with a number of rounds.
    linear_l2 : float
        Makes the slopes of such leaves less steep, in units of a feature's variance. 0.01, enough for features that
        hold the same.
    max_features : float or "auto"
        Share of the features drawn for each node: 0.5, so that boosters differ; or 1.
    max_features_per_level, max_features_per_tree : float
        Shares drawn for each level and each tree. 1: drawing by node is enough.
    subsample : float or "auto"
        Share of the rows that each tree sees: 0.8; or all of up to 200,000. Of larger tables both take fewer.
    sampling_method : {"auto", "uniform", "gradient_based", "bayesian"}
        How they are drawn: "uniform", and "gradient_based" on large tables; or "gradient_based".
    dropout_rate : float
        Share of earlier rounds left out when a tree is grown (DART). 0: it is slow and rarely better.
    dropout_skip : float
        Chance that a round leaves none out. 0.5, as the authors of DART found useful.
    max_bins : int
        Bins of a numeric feature. 255, which fit a byte; small tables have fewer.
    monotonic_cst : array, mapping or None
        1, -1 or 0 for each feature: predictions only rise, only fall, or are free.
    interaction_cst : list of sets, "pairwise", "no_interactions" or None
        Features, by number or by column name, that may meet in one path.
    categorical_features : array, "auto" or None
        Columns that are nominal. "auto": text and categories; an array adds others; None refuses text.
    unknown_category : {"missing", "error"}
        What a category is that fit did not see.
    target_statistics : {"auto", "none", "columns", "pairs"}
        Means of the target in other rows of a category, for columns of more than ten levels, and for pairs of columns.
        "columns"; or "none".
    init : estimator, "zero" or None
        Where scores start: at another model's predictions, at zero, or at the best constant.
    early_stopping : bool or "auto"
        Whether rows left out, or an eval set, decide how many rounds are kept. True; or False without an eval set.
    validation_fraction : float
        Share of the rows left out if there is one booster. A tenth is enough to see the loss turn.
    holdout : {"random", "last_rows"}
        Which rows: by chance (and class), or the last ones, for tables in the order of time.
    n_iter_no_change : int or "auto"
        Rounds without progress before growth stops: 15 (5 or 30 by `effort`, 30 with a `learning_rate` of your own); or
        10.
    tol : float
        Progress smaller than this is none. The recipe also requires 0.1 % of the loss.
    scoring : str, callable or None
        What is evaluated: None is the loss, which is the least noisy; or any scorer of scikit-learn.
    refit : bool
        Grow the rounds that were found once more, on all rows. False: with several boosters no row is lost anyway.
    warm_start : bool
        Continue from the last fit with more rounds.
    random_state : int, RandomState, Generator or None
        One number gives one model, for any number of threads.
    n_jobs : int or None
        Threads. None: every core that the process may use, or `COTERIE_NUM_THREADS`.
    verbose : int or bool
        A line every so many rounds, and for the last of them: the loss on training rows and on each eval set or the
        rows left out, and how long the other rounds may take. True: every round. 0: nothing is printed.
    checkpoint : str, path, Checkpoint or None
        A folder to keep rounds in while they are grown, so that `fit(resume=True)` goes on if the fit is interrupted.

    Attributes
    ----------
<learned>    n_estimators_ : int
        Rounds that were kept, the most of any booster; fewer than asked for if a round found nothing to split.
    n_folds_ : int
        Boosters, whose mean is the prediction.
    rounds_ : array of shape (n_folds_,)
        Rounds of each booster.
    fold_weights_ : array of shape (n_folds_,)
        Weight of each booster in the mean.
    forest_ : Forest
        The trees, round by round.
    baseline_ : array
        The raw prediction that every row starts from.
    init_ : list of estimators
        The models of `init`, one for each booster; empty without `init`.
    statistics_ : TargetStatistics or None
        Target statistics of categories, if there are any.
    schema_ : Schema
        Names and kinds of the columns that fit saw.
    encoder_ : Encoder
        The levels of categories, and the code of each.
    feature_importances_ : array of shape (n_features_in_,)
        Share of the total gain.
    validation_losses_ : array
        Mean loss after each round, if rows were left out or given.
    validation_scores_ : array
        The same by `scoring`, if that is given.
    train_losses_ : array
        Mean loss after each round on rows that were learned from, at most 10,000 of each booster, if there is an eval
        set or `verbose` is set.
    eval_losses_ : dict of arrays
        Mean loss after each round on each eval set, by its name.
    eval_scores_ : dict of arrays
        The same by `scoring`, if that is given.
    <oof> : array
        The prediction of each row by the boosters that did not see it, if there are several.
    pruning_path_ : Bunch
        The loss after each round and how many were kept, if `coterie.prune` made this model.
"""


_OWN_ATTRIBUTES = {
    "oof_proba_": "    classes_ : array of the labels\n",
    "oof_prediction_": "    n_outputs_ : int\n        Targets of each row.\n",
}


def boosting_texts(*, own: str, oof: str) -> str:
    """Parameters and attributes: `own` are the parameters of one class, `oof` its attribute of rows left out."""
    return own + _SHARED.replace("<oof>", oof).replace("<learned>", _OWN_ATTRIBUTES[oof])
