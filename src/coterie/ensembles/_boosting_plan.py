"""What "auto" means: the numbers that a booster works with, found from the parameters and the size of the table.

Two manners of boosting share the parameters.

The *recipe* is what `n_estimators="auto"` asks for: several boosters, each of which leaves a part of the rows out, take
small steps until the rows left out no longer gain, and are averaged. Trees look at some of the rows and features only,
which makes the boosters differ.

*Exact* is what a number asks for: one booster, so many rounds, all rows, all features.

Whatever is given as a number means that number in both.
"""

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["Plan", "automatic_bags", "plan_of"]


@dataclass(frozen=True)
class Plan:
    """The parameters that may be "auto", as numbers."""

    max_rounds: int
    learning_rate: float
    n_bags: int
    stops_early: bool
    patience: int
    min_samples_leaf: int
    l2: float
    max_features: float
    subsample: float | str
    sampling_method: str


_RECIPE: dict[str, Any] = {
    "max_rounds": 2000,
    "learning_rate": 0.05,
    "patience": 50,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
    "max_features": 0.5,
    "subsample": 0.8,
    "sampling_method": "uniform",
}
_EXACT: dict[str, Any] = {
    "max_rounds": 100,
    "learning_rate": 0.1,
    "patience": 10,
    "min_samples_leaf": 20,
    "l2_regularization": 0.0,
    "max_features": 1.0,
    "subsample": "auto",
    "sampling_method": "gradient_based",
}

_ROWS_FOR_RECIPE = 40  # fewer cannot be split by trees whose leaves hold some rows, and left out as well
_MOST_BAGS = 8


def plan_of(estimator: Any, n_rows: int) -> Plan:
    """The plan of one fit on so many rows."""
    recipe = estimator.n_estimators == "auto" and n_rows >= _ROWS_FOR_RECIPE
    manner = _RECIPE if recipe else _EXACT

    def number(name: str) -> Any:
        given = getattr(estimator, name)
        return manner[name] if isinstance(given, str) and given == "auto" else given

    n_bags = estimator.n_bags
    if n_bags == "auto":
        n_bags = automatic_bags(n_rows) if recipe else 1
    stops = estimator.early_stopping
    if stops == "auto":
        stops = recipe
    patience = estimator.n_iter_no_change
    return Plan(
        max_rounds=int(manner["max_rounds"]) if estimator.n_estimators == "auto" else estimator.n_estimators,
        learning_rate=float(number("learning_rate")),
        n_bags=int(n_bags),
        stops_early=bool(stops),
        patience=int(manner["patience"] if patience == "auto" else patience),
        min_samples_leaf=int(number("min_samples_leaf")),
        l2=float(number("l2_regularization")),
        max_features=float(number("max_features")),
        subsample=estimator.subsample if estimator.sampling_method == "bayesian" else number("subsample"),
        sampling_method=number("sampling_method"),
    )


def automatic_bags(n_rows: int) -> int:
    """How many boosters the recipe averages: fewer where each costs more and gains less.

    Examples
    --------
    >>> [automatic_bags(n) for n in (1_000, 100_000, 1_000_000)]
    [8, 4, 1]
    """
    return max(1, min(_MOST_BAGS, round(_MOST_BAGS * math.sqrt(25_000 / n_rows))))
