"""What "auto" means: the numbers that boosting works with, found from the parameters and the size of the table.

Two manners of boosting share the parameters.

The *recipe* is what `n_estimators="auto"` asks for: several boosters, each of which leaves a part of the rows out, take
small steps until the rows left out no longer gain, and are averaged. Trees look at some of the rows and features only,
and half of the boosters grow symmetric trees, so that the boosters differ. Every number of it was chosen by
cross-validation over many tables (benchmarks/accuracy).

*Exact* is what a number asks for: one booster, so many rounds, all features, as other libraries do it.

Whatever is given as a number means that number in both.
"""

import math
from dataclasses import dataclass
from typing import Any

from coterie._params import is_auto
from coterie.boosting._row_sampling import automatic_share
from coterie.errors import InvalidParameter

__all__ = ["Plan", "Policy", "automatic_bags", "plan_of"]


@dataclass(frozen=True)
class Policy:
    """How the trees of some of the boosters grow."""

    growth: str
    learning_rate: float
    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: int
    l2: float
    linear_leaves: bool


@dataclass(frozen=True)
class Plan:
    """The parameters that may be "auto", as what they stand for."""

    policies: tuple[Policy, ...]  # boosters take them in turn
    max_rounds: int
    n_bags: int
    stops_early: bool
    patience: int
    least_progress: float  # relative, over the rounds of patience
    max_features: float
    subsample: float | str
    sampling_method: str
    target_statistics: str


_EXACT: dict[str, Any] = {
    "n_estimators": 100,
    "n_bags": 1,
    "growth": "leaf",
    "early_stopping": False,
    "n_iter_no_change": 10,
    "max_features": 1.0,
    "subsample": "auto",
    "sampling_method": "gradient_based",
    "target_statistics": "none",
}
_RECIPE: dict[str, Any] = {
    "growth": "mixed",
    "early_stopping": True,
    "n_iter_no_change": 30,
    "max_features": 0.5,
    "target_statistics": "columns",
}

_EXACT_POLICY: dict[str, Any] = {
    "learning_rate": 0.1,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "l2_regularization": 0.0,
    "linear_leaves": False,
}
_RECIPE_POLICIES: dict[str, dict[str, Any]] = {
    "leaf": {
        "learning_rate": 0.05,
        "max_leaf_nodes": 31,
        "min_samples_leaf": 5,
        "l2_regularization": 1.0,
    },
    "oblivious": {
        "learning_rate": 0.08,
        "max_leaf_nodes": 64,
        "min_samples_leaf": 1,
        "l2_regularization": 1.0,
    },
}
_RECIPE_POLICIES["level"] = _RECIPE_POLICIES["leaf"]

_ROWS_FOR_RECIPE = 40  # fewer are too few to be left out
_MOST_BAGS = 8
_MOST_ROUNDS = 1000
_LEAST_PROGRESS = 1e-3


def plan_of(estimator: Any, n_rows: int, n_outputs: int = 1, *, several_targets: bool = False) -> Plan:
    """The plan of one fit on so many rows, with so many trees in a round; those of several targets share splits."""
    recipe = is_auto(estimator.n_estimators) and n_rows >= _ROWS_FOR_RECIPE
    manner = _recipe_for(estimator, n_rows, max(1, n_outputs)) if recipe else _EXACT

    def settled(name: str) -> Any:
        given = getattr(estimator, name)
        return manner[name] if is_auto(given) else given

    n_bags, growth = int(settled("n_bags")), settled("growth")
    if several_targets:
        growth = _growth_of_shared_trees(estimator.growth)
    if growth == "mixed" and n_bags == 1:
        if not is_auto(estimator.growth):
            raise InvalidParameter(
                "growth='mixed' lets boosters take turns in how their trees grow, and there is only one booster. "
                "Set n_bags to 2 or more, or choose 'leaf', 'level' or 'oblivious'."
            )
        growth = "leaf"
    return Plan(
        policies=tuple(
            _policy(estimator, each, recipe, n_outputs)
            for each in (["leaf", "oblivious"] if growth == "mixed" else [growth])
        ),
        max_rounds=int(settled("n_estimators")),
        n_bags=n_bags,
        stops_early=bool(settled("early_stopping")),
        patience=int(settled("n_iter_no_change")),
        least_progress=_LEAST_PROGRESS if recipe else 0.0,
        max_features=float(settled("max_features")),
        subsample=estimator.subsample if estimator.sampling_method == "bayesian" else settled("subsample"),
        sampling_method=settled("sampling_method"),
        target_statistics=settled("target_statistics"),
    )


def _growth_of_shared_trees(given: str) -> str:
    if given in ("oblivious", "mixed"):
        raise InvalidParameter(
            f"growth={given!r} grows symmetric trees, which serve one target only, and y has several columns. Choose "
            "'leaf' or 'level', or fit one model per column."
        )
    return "leaf" if is_auto(given) else given


def _recipe_for(estimator: Any, n_rows: int, n_outputs: int) -> dict[str, Any]:
    """The part of the recipe that depends on the size of the table, and on the steps if they are given."""
    n_rounds = min(_MOST_ROUNDS, max(400, 10 * _MOST_ROUNDS // n_outputs))
    if not is_auto(estimator.learning_rate):
        usual = _RECIPE_POLICIES["leaf"]["learning_rate"]
        n_rounds = math.ceil(n_rounds * max(1.0, usual / estimator.learning_rate))
    share = automatic_share(n_rows)
    return _RECIPE | {
        "n_bags": automatic_bags(n_rows * n_outputs),
        "n_estimators": n_rounds,
        "subsample": min(0.8, share),
        "sampling_method": "uniform" if share == 1 else "gradient_based",
    }


def _policy(estimator: Any, growth: str, recipe: bool, n_outputs: int) -> Policy:
    manner = _EXACT_POLICY
    if recipe:
        manner = _RECIPE_POLICIES[growth]
        manner = manner | {
            "learning_rate": manner["learning_rate"] * _haste(n_outputs),
            # With classes, boosters with lines and boosters without are better together.
            "linear_leaves": growth != "oblivious" or estimator._task == "regression",
        }

    def settled(name: str) -> Any:
        given = getattr(estimator, name)
        return manner[name] if is_auto(given) else given

    return Policy(
        growth=growth,
        learning_rate=float(settled("learning_rate")),
        max_leaf_nodes=settled("max_leaf_nodes"),
        max_depth=estimator.max_depth,
        min_samples_leaf=int(settled("min_samples_leaf")),
        l2=float(settled("l2_regularization")),
        linear_leaves=bool(settled("linear_leaves")),
    )


def automatic_bags(n_scores: int) -> int:
    """How many boosters the recipe averages: fewer where each costs more and gains less.

    `n_scores` is what a round works on: the rows, times the trees of a round.

    Examples
    --------
    >>> [automatic_bags(n) for n in (1_000, 100_000, 1_000_000)]
    [8, 4, 1]
    """
    return max(1, min(_MOST_BAGS, round(_MOST_BAGS * math.sqrt(25_000 / n_scores))))


def _haste(n_outputs: int) -> float:
    """Larger steps where a round has many trees: up to twice as large from 20 classes on."""
    return min(2.0, max(1.0, math.sqrt(n_outputs / 5)))
