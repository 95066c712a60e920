"""The order in which a committee tries its configurations: by hand so far, for tables of any size.

First the members that were measured longest, then the others, families in turn, cheap before dear. A program learns an
order from predictions of all configurations for a folder of tables, and writes it here:

    python benchmarks/accuracy/portfolio_study.py write --out PREDICTIONS

It has been run on four small tables alone, which is too few to go by.
"""

from collections.abc import Sequence

from coterie.committee.candidates.entry import Shape

_MANY_ROWS = 2_500  # to learn from; from here on what is dear for many rows may come later

ORDERS: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("few", "many"),
    (
        "quick_boosting",
        "linear",
        "boosting",
        "kernel",
        "gaussian_process",
        "extra_trees",
        "forest",
        "discriminant",
        "boosting_features",
        "oblivious_boosting",
        "neighbors",
        "slow_boosting",
        "adaboost",
        "line_boosting",
        "shallow_boosting",
        "network",
        "wide_network",
        "shrunk_linear",
        "near_neighbors",
        "stump_boosting",
        "narrow_extra_trees",
        "additive",
        "leaf_neighbors",
        "constant_recipe",
        "laplace_kernel",
        "narrow_forest",
        "deep_adaboost",
        "adaboost_trees",
        "quick_network",
        "pair_boosting",
        "pure_extra_trees",
        "quadratic",
        "wide_leaf_neighbors",
        "oblivious_recipe",
        "wide_forest",
        "sharp_network",
        "selu_network",
        "line_shallow_boosting",
        "wide_extra_trees",
        "pair_additive",
        "fine_kernel",
        "regular_recipe",
        "small_network",
        "shallow_oblivious_boosting",
        "line_recipe",
        "coarse_boosting",
        "noisy_boosting",
        "random_boosting",
        "robust_boosting",
        "shared_boosting",
        "regular_boosting",
        "level_boosting",
        "random_oblivious_boosting",
        "noisy_oblivious_boosting",
        "deep_boosting",
        "best_recipe",
    ),
)
# End of what is written.


def ordered(names: Sequence[str], shape: Shape) -> list[str]:
    """Names in the order for tables of a size; those that it does not hold come last, as they were given."""
    order = ORDERS["few" if shape.n_train < _MANY_ROWS else "many"]
    places = {name: place for place, name in enumerate(order)}
    return sorted(names, key=lambda name: places.get(name, len(places)))
