"""What scikit-learn's boosting does not have, in the terms of our plan; and trees of boosting as decision trees."""

from typing import Any

import numpy as np

from coterie._engine import Tree
from coterie.fitting.estimator import FitRun
from coterie.trees import DecisionTreeRegressor
from coterie.trees.grown_tree import GrownTree

# Every parameter of ours that scikit-learn's classes leave as it is: one booster, constant leaves, nothing drawn.
PLAIN_BOOSTING: dict[str, Any] = {
    "n_folds": 1,
    "growth": "leaf",
    "min_child_weight": 1e-3,
    "l2_regularization": 0.0,
    "l1_regularization": 0.0,
    "min_gain_to_split": 0.0,
    "leaf_penalty": 0.0,
    "max_step": None,
    "path_smoothing": 0.0,
    "split_noise": 0.0,
    "linear_leaves": False,
    "linear_l2": 0.01,
    "max_features": 1.0,
    "max_features_per_level": 1.0,
    "max_features_per_tree": 1.0,
    "subsample": 1.0,
    "sampling_method": "uniform",
    "dropout_rate": 0.0,
    "dropout_skip": 0.5,
    "max_bins": 255,
    "monotonic_cst": None,
    "interaction_cst": None,
    "target_statistics": "none",
    "init": None,
    "holdout": "random",
    "scoring": None,
    "refit": False,
}
_OF_TREES = (
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
)
_FITTED = ("n_features_in_", "feature_names_in_", "max_features_", "schema_", "encoder_")


def fix_seed(run: FitRun, random_state: Any) -> None:
    """Where nothing is drawn, one table has one model: the seed only rounds derivatives, and None is 0."""
    if random_state is None and run.previous is None:
        run.seed = 0


def tree_of_boosting(model: Any, native: Any, max_depth: int | None) -> DecisionTreeRegressor:
    """One tree of boosting as a fitted decision tree, whose values are steps before the learning rate."""
    params = {name: getattr(model, name) for name in _OF_TREES}
    member = DecisionTreeRegressor(max_depth=max_depth, **params)
    for name in _FITTED:
        if hasattr(model, name):
            setattr(member, name, getattr(model, name))
    member.n_outputs_ = 1
    steps = native.scaled(1 / model.learning_rate) if model.learning_rate else native
    state = steps.state()
    state["impurity"] = np.full(steps.n_nodes, np.nan)  # a histogram does not know it
    member.tree_ = GrownTree(Tree.from_state(state, model.n_features_in_), model.n_features_in_, None)
    return member
