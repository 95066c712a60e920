"""scikit-learn's parameters of boosting in the terms of our plan; and trees of boosting as decision trees."""

from collections.abc import Mapping
from math import ceil
from numbers import Integral
from typing import Any

import numpy as np

from coterie._engine import Tree
from coterie.fitting.estimator import FitRun
from coterie.trees import DecisionTreeRegressor
from coterie.trees.grown_tree import GrownTree

# Every parameter of ours that scikit-learn's classes leave as it is: one booster, constant leaves, nothing drawn.
PLAIN_BOOSTING: dict[str, Any] = {
    "effort": "default",
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


def exact_settings(
    given: Mapping[str, Any], *, n_rows: int, share_of_features: float, total_weight: float | None
) -> dict[str, Any]:
    """Our parameters for those of `GradientBoosting*`, by the rows that each tree sees.

    Limits that scikit-learn takes as shares are absolute here: of rows, or of weight, which is 1 a row without weights.
    """
    stops = given["n_iter_no_change"] is not None
    n_learned = n_rows - int(given["validation_fraction"] * n_rows) if stops else n_rows
    n_inside = max(1, int(given["subsample"] * n_learned))
    total = float(n_learned if total_weight is None else total_weight) * n_inside / n_learned
    return {
        **PLAIN_BOOSTING,
        "loss": given["loss"],
        "n_estimators": int(given["n_estimators"]),
        "learning_rate": float(given["learning_rate"]) or 1e-300,
        "max_leaf_nodes": given["max_leaf_nodes"],
        "max_depth": given["max_depth"],
        "min_samples_leaf": _rows_of(given["min_samples_leaf"], n_inside, 1),
        "min_samples_split": _rows_of(given["min_samples_split"], n_inside, 2),
        "min_child_weight": float(given["min_weight_fraction_leaf"]) * total,
        "min_gain_to_split": float(given["min_impurity_decrease"]) * total,
        "leaf_penalty": float(given["ccp_alpha"]) * total,
        "max_features": min(1.0, share_of_features),
        "init": given["init"],
        "early_stopping": stops,
        "validation_fraction": given["validation_fraction"],
        "n_iter_no_change": given["n_iter_no_change"] or 1,
        "tol": float(given["tol"]),
    }


def histogram_settings(given: Mapping[str, Any], *, n_rows: int, stops: bool) -> dict[str, Any]:
    """Our parameters for those of `HistGradientBoosting*`; `stops` says whether rounds end early."""
    return {
        **PLAIN_BOOSTING,
        "loss": given["loss"],
        "n_estimators": int(given["max_iter"]),
        "learning_rate": float(given["learning_rate"]),
        "max_leaf_nodes": given["max_leaf_nodes"],
        "max_depth": given["max_depth"],
        "min_samples_leaf": int(given["min_samples_leaf"]),
        "l2_regularization": float(given["l2_regularization"]),
        "max_features": float(given["max_features"]),
        "max_bins": int(given["max_bins"]),
        "monotonic_cst": given["monotonic_cst"],
        "interaction_cst": given["interaction_cst"],
        "early_stopping": stops,
        "validation_fraction": _share(given["validation_fraction"], n_rows),
        "n_iter_no_change": int(given["n_iter_no_change"]),
        "tol": float(given["tol"]),
    }


def _rows_of(rule: float, n_rows: int, least: int) -> int:
    return max(least, int(rule) if isinstance(rule, Integral) else ceil(rule * n_rows))


def _share(fraction: Any, n_rows: int) -> float:
    """The share of rows to leave out: a number of rows is one of them all."""
    if fraction is None:
        return 0.1
    return float(fraction) if isinstance(fraction, float) else int(fraction) / n_rows


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
