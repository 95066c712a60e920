"""The parameters of gradient boosting in words, for the docstrings of both estimators.

"auto" has two meanings: the one of the recipe that n_estimators="auto" follows, and the one that holds beside a number
of rounds. They are given in this order.
"""

_SHARED = """\
    n_estimators : int or "auto"
        Rounds, one tree (or one for each class) in each. "auto" follows the recipe: several boosters, stopped early
        by the rows that each leaves out, and averaged. A number is one booster of so many rounds, fitted to all rows.
        Default "auto": the recipe was the most accurate over many tables, and needs no tuning.
    effort : {"quick", "default", "best"}
        How much time the recipe takes: "quick" has half as many boosters as the default and larger steps, "best"
        twice as many and smaller steps. Only with `n_estimators="auto"`; what is given as a number keeps its meaning.
        Default "default": three times the time gained little over many tables.
    learning_rate : float or "auto"
        The share of each tree's leaf values that is added. Small steps need more rounds and generalise better. "auto"
        is 0.1 with a number of rounds. In the recipe it is 0.075, 0.12 for symmetric trees, up to twice that with many
        classes, and others by `effort`. Default "auto": smaller steps are better only where many boosters have the
        time for them.
    n_folds : int or "auto"
        Boosters that are averaged; each leaves out one part of the rows. "auto" is 1 with a number of rounds, and 8
        in the recipe (4 or 16 by `effort`), fewer on large tables; tables of up to 1,500 rows are divided so two or
        three times, except by effort "quick". Default "auto": an average errs less than its parts, and large tables
        gain less from it.
    growth : {"auto", "leaf", "level", "oblivious", "mixed"}
        Which leaf is split next: the best one ("leaf"), all of a level ("level"), or all of a level by one shared
        split ("oblivious", symmetric trees). "mixed" alternates leaf and oblivious from booster to booster. "auto" is
        "leaf" with a number of rounds, and "mixed" in the recipe. Default "auto": boosters that differ err in
        different places.
    max_leaf_nodes : int, "auto" or None
        The most leaves of a tree. "auto" is 31, and 64 in the symmetric trees of the recipe. None: no limit. Default
        "auto": 31 leaves are five levels of splits, enough for most interactions; symmetric trees need more leaves
        for as many different splits.
    max_depth : int or None
        Longest path. None: no limit, because the number of leaves is one already. Default None: the number of leaves
        is the limit.
    min_samples_leaf : int or "auto"
        Rows that a leaf must keep. "auto" is 20 with a number of rounds; in the recipe it is 5, and 1 in symmetric
        trees. Default "auto": the average of the recipe smooths what small leaves learn by heart, and a single
        booster needs larger ones.
    min_child_weight : float
        Sum of hessians that a leaf must keep. Default 0.001: next to nothing, enough to avoid divisions by zero.
    l2_regularization : float or "auto"
        Added to the hessians of a leaf, which shrinks its value. "auto" is 0 with a number of rounds, as in LightGBM,
        and in the recipe 1, or 3 on up to 1,000 rows and 2 on up to 1,500. Default "auto": a little shrinkage makes
        the small leaves of the recipe less extreme, and small tables have more noise.
    l1_regularization : float
        Taken off the sum of gradients of a leaf. Default 0: L2 does the same more smoothly.
    min_gain_to_split : float
        A split that gains less is not made. Default 0: the limits above do that work.
    leaf_penalty : float
        After a tree is grown, branches that gain less than this for each leaf are undone. Default 0: the limits above
        do that work.
    max_step : float or None
        The furthest that a tree moves a score, before the learning rate. None: no limit. Default None: only losses
        with tiny hessians need it.
    path_smoothing : float
        Rows' worth of the parent's value that a leaf takes over. Default 0: no gain was found beside L2 and
        averaging.
    split_noise : float
        Noise in the choice between features, in units of a split by chance. Default 0: averaging is a better use of
        chance.
    linear_leaves : bool or "auto"
        Leaves predict with a small regression on the numeric features of their path. "auto": with
        `n_estimators="auto"`, in all boosters for squared error and in those for log loss that do not grow symmetric
        trees; not where other parameters forbid it, and not with a number of rounds. Default "auto": lines lowered
        the error of regressions most, and that of classes less.
    linear_l2 : float
        Makes the slopes of such leaves less steep, in units of a feature's variance. Default 0.01: enough for
        features that hold the same.
    max_features : float or "auto"
        Share of the features drawn for each node. "auto" is 1 with a number of rounds, and 0.5 in the recipe. Default
        "auto": half of the features make boosters differ.
    max_features_per_level, max_features_per_tree : float
        Shares drawn for each level and each tree. Default 1: drawing by node is enough.
    subsample : float or "auto"
        Share of the rows that each tree sees. "auto" is all rows of up to 200,000 with a number of rounds, and 0.8 in
        the recipe; of larger tables both take fewer. Default "auto": fewer rows make trees differ, and save time on
        large tables.
    sampling_method : {"auto", "uniform", "gradient_based", "bayesian"}
        How rows are drawn: evenly, more often where gradients are large, or by random weights. "auto" is "uniform" in
        the recipe, and "gradient_based" on large tables and with a number of rounds. Default "auto": on large tables
        rows with large gradients tell the most.
    dropout_rate : float
        Share of earlier rounds left out when a tree is grown (DART). Default 0: it is slow and rarely better.
    dropout_skip : float
        Chance that a round leaves none out. Default 0.5: the authors of DART found it useful.
    max_bins : int
        Bins of a numeric feature; small tables have fewer. Default 255: so many fit a byte.
    monotonic_cst : array, mapping or None
        1, -1 or 0 for each feature: predictions only rise, only fall, or are free. Default None: no constraint: it is
        knowledge about the table that only you have.
    interaction_cst : list of sets, "pairwise", "no_interactions" or None
        Features, by number or by column name, that may meet in one path. Default None: no constraint: it is knowledge
        about the table that only you have.
    categorical_features : array, "auto" or None
        Columns that are nominal. "auto": text and categories; an array adds others; None refuses text. Default
        "auto": text and categories have no order that a threshold could use.
    unknown_category : {"missing", "error"}
        What a category is that fit did not see. Default "missing": new categories are common in new tables, and a
        prediction without them is better than none.
    target_statistics : {"auto", "none", "columns", "pairs"}
        Means of the target in other rows of a category, for columns of more than ten levels, and for pairs of
        columns. "auto" is "none" with a number of rounds, and "columns" in the recipe. Default "auto": they help
        where categories are many, and pairs rarely pay for their time.
    init : estimator, "zero" or None
        Where scores start: at another model's predictions, at zero, or (None) at the best constant. Default None: the
        first tree is then about differences already.
    early_stopping : bool or "auto"
        Whether rows left out, or an eval set, decide how many rounds are kept. "auto" is True in the recipe and with
        an eval set, and else False. Default "auto": a number of rounds means that number.
    validation_fraction : float
        Share of the rows left out if there is one booster. Default 0.1: a tenth is enough to see the loss turn.
    holdout : {"random", "last_rows"}
        Which rows: by chance (and class), or the last ones, for tables in the order of time. Default "random": most
        tables have no order, and folds leave every row out once.
    n_iter_no_change : int or "auto"
        Rounds without progress before growth stops. "auto" is 10 with a number of rounds, and 20 in the recipe (5 or
        30 by `effort`, 30 with a `learning_rate` of your own). Default "auto": smaller steps need more patience.
    tol : float
        Progress smaller than this is none. The recipe also requires 0.1 % of the loss. Default 1e-07: any progress
        above rounding counts.
    scoring : str, callable or None
        What is evaluated: None is the loss, or any scorer of scikit-learn. Default None: the loss changes a little
        with every round, so its best round is easy to find.
    refit : bool
        Grow the rounds that were found once more, on all rows. Default False: it takes twice the time, and with
        several boosters no row is lost anyway.
    warm_start : bool
        Continue from the last fit with more rounds. Default False: a fit forgets the last one, as in scikit-learn.
    random_state : int, RandomState, Generator or None
        One number gives one model, for any number of threads. Default None: a new seed for each fit, as in
        scikit-learn; a number makes it repeatable.
    n_jobs : int or None
        Threads. None: every core that the process may use, or `COTERIE_NUM_THREADS`. Default None: every core,
        because the model is the same for any number.
    verbose : int or bool
        A line every so many rounds, and for the last of them: the loss on training rows and on each eval set or the
        rows left out, and how long the other rounds may take. True: every round. 0: nothing is printed. Default 0:
        silent.
    checkpoint : str, path, Checkpoint or None
        A folder to keep rounds in while they are grown, so that `fit(resume=True)` goes on if the fit is interrupted.
        Default None: most fits are short, and nothing should be written without being told to.

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
    "oof_proba_": "    classes_ : array of the classes, or a list of them for several labels\n",
    "oof_prediction_": "    n_outputs_ : int\n        Targets of each row.\n",
}


def boosting_texts(*, own: str, oof: str) -> str:
    """Parameters and attributes: `own` are the parameters of one class, `oof` its attribute of rows left out."""
    return own + _SHARED.replace("<oof>", oof).replace("<learned>", _OWN_ATTRIBUTES[oof])
