"""The configurations that a committee may try, by name: a family and what is set differently from its defaults.

A name is all that is needed to make a member again: `"slow_boosting"` is listed here, and `"slow_boosting~3"` is its
third variation, whose settings are drawn from the space of the family by a generator that is seeded by the name.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import Task

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Configuration:
    """A member before it knows its table.

    Attributes
    ----------
    family : what kind of learner it is
    settings : what is set differently from the defaults of the family
    task : the only task it serves; None: both
    most_rows, most_columns : beyond which it is dear and gains little, so that it is not tried without being named
    """

    family: str
    settings: Settings
    task: Task | None = None
    most_rows: int | None = None
    most_columns: int | None = None


_CAREFUL: Settings = {
    "l2_regularization": 1.0,
    "max_features": 0.5,
    "subsample": 0.8,
    "sampling_method": "uniform",
    "target_statistics": "columns",
}
_OBLIVIOUS: Settings = {**_CAREFUL, "growth": "oblivious", "max_leaf_nodes": 64, "min_samples_leaf": 1}


def _recipes() -> dict[str, Configuration]:
    """Boosting as the classes do it by default, and one thing changed."""
    settings: dict[str, Settings] = {
        "boosting": {},
        "best_recipe": {"effort": "best"},
        "line_recipe": {"linear_leaves": True},
        "constant_recipe": {"linear_leaves": False},
        "oblivious_recipe": {"growth": "oblivious"},
        "regular_recipe": {"l2_regularization": 10.0, "max_features": 0.3},
    }
    return {name: Configuration("recipe", own) for name, own in settings.items()}


def _boosters() -> dict[str, Configuration]:
    """Boosting with every number given: rounds at most, steps, leaves, what trees see."""
    settings: dict[str, Settings] = {
        "quick_boosting": {
            "n_estimators": 500,
            "learning_rate": 0.1,
            "n_iter_no_change": 15,
            "min_samples_leaf": 10,
        },
        "oblivious_boosting": {**_OBLIVIOUS, "learning_rate": 0.08},
        "slow_boosting": {**_CAREFUL, "n_estimators": 2000, "learning_rate": 0.03, "min_samples_leaf": 5},
        "shallow_boosting": {
            "learning_rate": 0.1,
            "max_leaf_nodes": 6,
            "min_samples_leaf": 5,
            "subsample": 0.8,
        },
        "line_boosting": {**_CAREFUL, "learning_rate": 0.05, "min_samples_leaf": 5, "linear_leaves": True},
        "stump_boosting": {
            "learning_rate": 0.1,
            "max_leaf_nodes": 2,
            "min_samples_leaf": 10,
            "subsample": 0.8,
        },
        "pair_boosting": {**_CAREFUL, "learning_rate": 0.1, "max_leaf_nodes": 4, "min_samples_leaf": 10},
        "coarse_boosting": {**_CAREFUL, "learning_rate": 0.05, "max_leaf_nodes": 16, "min_samples_leaf": 30},
        "deep_boosting": {**_CAREFUL, "learning_rate": 0.05, "max_leaf_nodes": 128, "min_samples_leaf": 2},
        "random_boosting": {
            **_CAREFUL,
            "learning_rate": 0.05,
            "max_features": 0.2,
            "subsample": 0.5,
            "min_samples_leaf": 3,
        },
        "regular_boosting": {
            **_CAREFUL,
            "learning_rate": 0.06,
            "l2_regularization": 20.0,
            "min_samples_leaf": 3,
        },
        "noisy_boosting": {**_CAREFUL, "learning_rate": 0.06, "split_noise": 1.0, "min_samples_leaf": 3},
        "level_boosting": {**_CAREFUL, "growth": "level", "learning_rate": 0.05, "max_depth": 6},
        "shallow_oblivious_boosting": {**_OBLIVIOUS, "learning_rate": 0.08, "max_leaf_nodes": 16},
        "noisy_oblivious_boosting": {**_OBLIVIOUS, "learning_rate": 0.06, "split_noise": 1.0},
        "random_oblivious_boosting": {
            **_OBLIVIOUS,
            "learning_rate": 0.06,
            "max_features": 0.25,
            "subsample": 0.6,
        },
        "line_shallow_boosting": {
            **_CAREFUL,
            "learning_rate": 0.08,
            "max_leaf_nodes": 6,
            "min_samples_leaf": 10,
            "linear_leaves": True,
        },
    }
    found = {name: Configuration("boosting", own) for name, own in settings.items()}
    shared = {**_CAREFUL, "learning_rate": 0.06, "multi_strategy": "shared_trees", "min_samples_leaf": 3}
    found["shared_boosting"] = Configuration("boosting", shared, "classification")
    robust = {**_CAREFUL, "learning_rate": 0.05, "loss": "huber", "min_samples_leaf": 5}
    found["robust_boosting"] = Configuration("boosting", robust, "regression")
    on_features = {**_CAREFUL, "learning_rate": 0.05, "min_samples_leaf": 5}
    found["boosting_features"] = Configuration("boosting_features", on_features, None, 200_000)
    return found


def _forests() -> dict[str, Configuration]:
    return {
        "extra_trees": Configuration("extra_trees", {}),
        "pure_extra_trees": Configuration("extra_trees", {"min_samples_leaf": 1}),
        "wide_extra_trees": Configuration("extra_trees", {"max_features": 1.0}),
        "narrow_extra_trees": Configuration("extra_trees", {"max_features": 0.15}),
        "forest": Configuration("forest", {}),
        "wide_forest": Configuration("forest", {"max_features": 0.7, "min_samples_leaf": 5}),
        "narrow_forest": Configuration("forest", {"max_features": 0.15}),
    }


def _networks() -> dict[str, Configuration]:
    settings: dict[str, Settings] = {
        "network": {"width": 128},
        "wide_network": {"width": 256},
        "small_network": {"width": 64, "depth": 2},
        "quick_network": {"width": 96, "max_epochs": 64},
    }
    found = {name: Configuration("network", own, None, 100_000, 500) for name, own in settings.items()}
    sharp = {"width": 128, "label_smoothing": 0.0, "dropout": 0.25}
    found["sharp_network"] = Configuration("network", sharp, "classification", 100_000, 500)
    found["selu_network"] = Configuration(
        "network", {"width": 128, "activation": "selu"}, "regression", 100_000, 500
    )
    return found


def _of_matrices() -> dict[str, Configuration]:
    """Learners on a matrix of numbers: linear, additive, kernels, neighbours, normal distributions."""
    return {
        "linear": Configuration("linear", {}),
        "shrunk_linear": Configuration("linear", {"strength": 0.03}),
        "additive": Configuration("additive", {}, None, 100_000, 500),
        "pair_additive": Configuration("additive", {"n_knots": 3, "n_pairs": 30}, None, 100_000, 500),
        "quadratic": Configuration("additive", {"n_knots": 1, "n_pairs": 200}, None, 50_000, 500),
        "kernel": Configuration("kernel", {}, None, 20_000),
        "laplace_kernel": Configuration("kernel", {"similarity": "laplace"}, None, 20_000),
        "fine_kernel": Configuration("kernel", {"similarity": "laplace", "n_landmarks": 1000}, None, 20_000),
        "gaussian_process": Configuration("gaussian_process", {}, "regression", 1_500, 200),
        "discriminant": Configuration("discriminant", {}, "classification", 50_000, 200),
        "neighbors": Configuration("neighbors", {}),
        "near_neighbors": Configuration("neighbors", {"n_neighbors": 6}),
        "leaf_neighbors": Configuration("leaf_neighbors", {}, None, 20_000),
        "wide_leaf_neighbors": Configuration(
            "leaf_neighbors", {"n_neighbors": 60, "power": 4.0}, None, 20_000
        ),
    }


def _adaboosts() -> dict[str, Configuration]:
    return {
        "adaboost": Configuration("adaboost", {}, "classification"),
        "deep_adaboost": Configuration("adaboost", {"depth": 3, "n_estimators": 100}, "classification"),
        "adaboost_trees": Configuration("adaboost", {"depth": 8, "n_estimators": 100}, "regression", 20_000),
    }


CONFIGURATIONS: dict[str, Configuration] = {
    **_recipes(),
    **_boosters(),
    **_forests(),
    **_networks(),
    **_of_matrices(),
    **_adaboosts(),
}
# What variations draw from. A value that a configuration does not set is that of its family's defaults.
SPACES: dict[str, dict[str, Sequence[Any]]] = {
    "recipe": {
        "max_leaf_nodes": (8, 16, 32, 64),
        "min_samples_leaf": (2, 5, 10, 20),
        "max_features": (0.25, 0.5, 0.75, 1.0),
        "l2_regularization": (0.3, 1.0, 3.0, 10.0),
        "split_noise": (0.0, 0.5, 1.0),
    },
    "boosting": {
        "learning_rate": (0.03, 0.05, 0.08, 0.12),
        "max_leaf_nodes": (4, 6, 8, 16, 32, 64, 128),
        "min_samples_leaf": (1, 3, 5, 10, 20, 40),
        "max_features": (0.2, 0.35, 0.5, 0.75, 1.0),
        "subsample": (0.5, 0.65, 0.8, 1.0),
        "l2_regularization": (0.1, 1.0, 3.0, 10.0, 30.0),
        "split_noise": (0.0, 0.5, 1.0, 2.0),
        "linear_leaves": (False, True),
    },
    "forest": {
        "min_samples_leaf": (1, 2, 3, 5, 8, 12),
        "max_features": (0.1, 0.2, 0.35, 0.5, 0.75, 1.0),
    },
    "extra_trees": {
        "min_samples_leaf": (1, 2, 3, 5, 8, 12),
        "max_features": (0.1, 0.2, 0.35, 0.5, 0.75, 1.0),
    },
    "network": {
        "width": (48, 64, 96, 128, 192, 256),
        "depth": (1, 2, 3, 4, 5),
        "dropout": (0.0, 0.05, 0.15, 0.25, 0.4),
        "weight_decay": (0.002, 0.02, 0.05, 0.1),
        "learning_rate_factor": (0.2, 0.4, 0.7, 1.0, 1.5),
        "max_epochs": (48, 64, 96, 128, 256),
    },
    "linear": {"strength": (0.003, 0.03, 0.1, 0.3, 1.0, 10.0)},
    "additive": {"n_knots": (1, 2, 3, 6, 12), "n_pairs": (0, 15, 30, 60, 120, 200)},
    "kernel": {"similarity": ("gaussian", "laplace"), "n_landmarks": (200, 400, 700, 1000)},
    "neighbors": {"n_neighbors": (4, 6, 10, 15, 30, 50)},
    "leaf_neighbors": {"n_neighbors": (5, 8, 12, 30, 60), "power": (1.0, 2.0, 4.0)},
    "adaboost": {"depth": (1, 2, 3, 4, 6, 8, 10), "n_estimators": (50, 100, 200)},
}
_MARK = "~"  # between a name and the number of a variation


def names_for(task: Task) -> list[str]:
    """The names of the configurations that serve a task."""
    return [name for name, own in CONFIGURATIONS.items() if own.task in (None, task)]


def configuration_of(name: str) -> Configuration | None:
    """What a name stands for, also that of a variation; None if it stands for nothing.

    Examples
    --------
    >>> configuration_of("near_neighbors").settings
    {'n_neighbors': 6}
    >>> configuration_of("neighbors~2").settings == configuration_of("neighbors~2").settings
    True
    """
    parent, mark, number = name.rpartition(_MARK)
    if not mark:
        return CONFIGURATIONS.get(name)
    base = configuration_of(parent)
    is_number = number.isascii() and number.isdigit() and number[:1] != "0"
    if base is None or not is_number or base.family not in SPACES:
        return None
    return _varied(base, name)


def variation(name: str, number: int) -> str:
    """The name of a variation.

    Examples
    --------
    >>> variation("forest", 3)
    'forest~3'
    """
    return f"{name}{_MARK}{number}"


def _varied(base: Configuration, name: str) -> Configuration:
    """One or two settings, or three, drawn anew; never to the value that they have."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    space = SPACES[base.family]
    n_changed = min(len(space), 1 + int(rng.integers(3)))
    changed = rng.choice(sorted(space), n_changed, replace=False)
    settings = dict(base.settings)
    for parameter in changed.tolist():
        others = [value for value in space[parameter] if value != base.settings.get(parameter)]
        settings[parameter] = others[int(rng.integers(len(others)))]
    if settings.get("growth") == "oblivious":
        settings.pop("linear_leaves", None)
    return Configuration(base.family, settings, base.task, base.most_rows, base.most_columns)
