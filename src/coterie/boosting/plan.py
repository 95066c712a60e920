"""What "auto" means: the numbers that boosting works with, found from the parameters and the size of the table.

Two sets of defaults share the parameters.

The *recipe* is what `n_estimators="auto"` stands for: several boosters, each of which leaves a part of the rows out,
take small steps until the rows left out no longer gain, and are averaged. Trees look at some of the rows and features
only, and half of the boosters grow symmetric trees, so that the boosters differ. Small tables are divided several
times, for more boosters, and their leaves are drawn harder towards zero. Every number of it was chosen by
cross-validation over many tables (benchmarks/accuracy).

*Exact* is what a number stands for: one booster, so many rounds, all features, as other libraries do it.

Whatever is given as a number means that number in both.

`grow_options` then says it to the engine: how trees grow, from a plan in the units of y.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coterie import _engine
from coterie._params import is_auto
from coterie._typing import Task
from coterie.data.prepare import TrainingData
from coterie.errors import InvalidParameter
from coterie.losses import BoundLoss
from coterie.trees.growth_rules import interaction_sets, monotone_of, with_made_features


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
    shared_trees: bool = False  # one tree's splits for all outputs, found along directions over them


@dataclass(frozen=True)
class Plan:
    """The parameters of a fit, and what those that may be "auto" stand for."""

    params: Mapping[str, Any]  # as they were given, by name
    task: Task
    policies: tuple[Policy, ...]  # boosters take them in turn
    max_rounds: int
    n_folds: int
    stops_early: bool
    patience: int
    least_progress: float  # relative, over the rounds of patience
    max_features: float
    subsample: float | str
    sampling_method: str
    target_statistics: str
    n_foldings: int = 1  # how often the rows are divided into folds, each time in another way
    fewer_bins: bool = True  # on tables of few rows
    unit_free: bool = False  # whether limits of gains are about gradients that have no unit
    joint: bool = False  # whether a split gains the sum of what it gains for every target


_EXACT: dict[str, Any] = {
    "n_estimators": 100,
    "n_folds": 1,
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
_FEW_ROWS = 3_000  # noise counts more in fewer, and time less
_SCORES_OF_MOST_FOLDS = 25_000
_MOST_ROUNDS = 1000


@dataclass(frozen=True)
class EffortSettings:
    """How much time the recipe takes, which `effort` chooses in one word.

    Attributes
    ----------
    most_folds : boosters that are averaged, on tables that are not large
    most_foldings : times that small tables are divided into folds, for a booster each
    step : what the learning rates of both kinds of trees are multiplied by
    patience : rounds without progress before growth stops
    least_progress : what counts as progress, as a share of the loss
    """

    most_folds: int = 8
    most_foldings: int = 3
    step: float = 1.5
    patience: int = 20
    least_progress: float = 1e-3


EFFORTS: dict[str, EffortSettings] = {
    "quick": EffortSettings(most_folds=4, most_foldings=1, step=4.0, patience=5),
    "default": EffortSettings(),
    "best": EffortSettings(most_folds=16, step=1.0, patience=30),
}
_PATIENCE_OF_GIVEN_STEPS = 30  # whoever chooses the steps chooses small ones, mostly


def make_plan(
    params: Mapping[str, Any],
    task: Task,
    *,
    n_rows: int,
    n_outputs: int = 1,
    n_targets: int = 1,
    may_join: bool = False,
    has_eval_set: bool = False,
) -> Plan:
    """The plan of one fit on so many rows, with so many scores in a row, of one target or of several.

    `may_join`: whether the loss of all targets knows what a split gains for all of them together.
    """
    recipe = is_auto(params["n_estimators"]) and n_rows >= _ROWS_FOR_RECIPE
    effort = _effort_of(params)
    shared = _shares_trees(params, task, n_outputs, n_targets, recipe=recipe, may_join=may_join)
    trees_of_a_round = 1 if shared else max(1, n_outputs)
    defaults = _recipe_for(params, effort, n_rows, max(1, n_outputs), trees_of_a_round) if recipe else _EXACT

    def resolved(name: str) -> Any:
        return defaults[name] if is_auto(params[name]) else params[name]

    n_folds, growth = int(resolved("n_folds")), resolved("growth")
    joint = shared and may_join and _can_join(params)
    if joint:
        growth = "leaf" if is_auto(params["growth"]) else params["growth"]
    if growth == "mixed" and n_folds == 1:
        if not is_auto(params["growth"]):
            raise InvalidParameter(
                "growth='mixed' lets boosters take turns in how their trees grow, and there is only one booster.",
                parameter="growth",
                received="mixed",
                allowed="'leaf' or 'level' or 'oblivious'",
                hint="Set n_folds to 2 or more, or choose 'leaf', 'level' or 'oblivious'.",
            )
        growth = "leaf"
    # Scores have their own scale, on which a thousandth of the score may be far.
    has_least_progress = recipe and params["scoring"] is None
    stops_early = (
        has_eval_set if is_auto(params["early_stopping"]) and has_eval_set else resolved("early_stopping")
    )
    return Plan(
        params=params,
        task=task,
        policies=tuple(
            _policy(
                params, task, each, effort if recipe else None, n_rows, n_outputs, shared=shared and not joint
            )
            for each in (["leaf", "oblivious"] if growth == "mixed" else [growth])
        ),
        max_rounds=int(resolved("n_estimators")),
        n_folds=n_folds,
        stops_early=bool(stops_early),
        patience=int(resolved("n_iter_no_change")),
        least_progress=effort.least_progress if has_least_progress else 0.0,
        max_features=float(resolved("max_features")),
        subsample=params["subsample"] if params["sampling_method"] == "bayesian" else resolved("subsample"),
        sampling_method=resolved("sampling_method"),
        target_statistics=resolved("target_statistics"),
        joint=joint,
        n_foldings=automatic_foldings(n_rows, effort.most_foldings)
        if recipe and is_auto(params["n_folds"])
        else 1,
    )


def _effort_of(params: Mapping[str, Any]) -> EffortSettings:
    """The settings of `effort`, which a number of rounds leaves nothing to decide."""
    effort = params["effort"]
    if effort != "default" and not is_auto(params["n_estimators"]):
        raise InvalidParameter(
            f"effort={effort!r} is about the recipe that n_estimators='auto' follows, and has no meaning with "
            f"n_estimators={params['n_estimators']}.",
            parameter="effort",
            received=effort,
            allowed="'default'",
            hint="Leave effort at 'default', or n_estimators at 'auto'.",
        )
    return EFFORTS[effort]


def _can_join(params: Mapping[str, Any]) -> bool:
    """Whether trees are requested that a split for the sum of gains serves: without lines, and not symmetric."""
    return params["growth"] in ("auto", "leaf", "level") and params["linear_leaves"] is not True


def _recipe_for(
    params: Mapping[str, Any],
    effort: EffortSettings,
    n_rows: int,
    n_outputs: int,
    trees_of_a_round: int,
) -> dict[str, Any]:
    """The part of the recipe that depends on the size of the table, the effort, and the steps if they are given."""
    n_rounds = min(_MOST_ROUNDS, max(400, 10 * _MOST_ROUNDS // trees_of_a_round))
    steps_are_ours = is_auto(params["learning_rate"])
    if not steps_are_ours:
        usual = _RECIPE_POLICIES["leaf"]["learning_rate"]
        n_rounds = math.ceil(n_rounds * max(1.0, usual / params["learning_rate"]))
    share = automatic_share(n_rows)
    return _RECIPE | {
        "n_folds": automatic_folds(n_rows * n_outputs, effort.most_folds),
        "n_iter_no_change": effort.patience if steps_are_ours else _PATIENCE_OF_GIVEN_STEPS,
        "n_estimators": n_rounds,
        "subsample": min(0.8, share),
        "sampling_method": "uniform" if share == 1 else "gradient_based",
    }


def _policy(
    params: Mapping[str, Any],
    task: Task,
    growth: str,
    effort: EffortSettings | None,
    n_rows: int,
    n_outputs: int,
    *,
    shared: bool,
) -> Policy:
    """How trees of one kind grow, by the recipe if there is an effort to follow it with."""
    defaults = _EXACT_POLICY
    if effort is not None:
        defaults = _RECIPE_POLICIES[growth]
        defaults = defaults | {
            "learning_rate": defaults["learning_rate"] * effort.step * _learning_rate_multiplier(n_outputs),
            "l2_regularization": defaults["l2_regularization"] * _times_for_few_rows(n_rows),
            # With classes, boosters with lines and boosters without are better together.
            "linear_leaves": growth != "oblivious" or task == "regression",
        }

    def resolved(name: str) -> Any:
        return defaults[name] if is_auto(params[name]) else params[name]

    return Policy(
        growth=growth,
        learning_rate=float(resolved("learning_rate")),
        max_leaf_nodes=resolved("max_leaf_nodes"),
        max_depth=params["max_depth"],
        min_samples_leaf=int(resolved("min_samples_leaf")),
        l2=float(resolved("l2_regularization")),
        linear_leaves=bool(resolved("linear_leaves")),
        shared_trees=shared,
    )


def _shares_trees(
    params: Mapping[str, Any], task: Task, n_outputs: int, n_targets: int, *, recipe: bool, may_join: bool
) -> bool:
    """Whether one tree's splits serve all classes, labels or targets; two classes have one score."""
    strategy = params.get("multi_strategy", "one_tree_per_class")
    if n_outputs < 2 or (task == "regression" and n_targets == 1):
        if n_outputs > 1 and strategy == "shared_trees":
            raise InvalidParameter(
                f"multi_strategy='shared_trees' is about several targets, and these are {n_outputs} levels of one.",
                parameter="multi_strategy",
                received=strategy,
                allowed="'auto' or 'one_tree_per_target'",
            )
        return False
    if not is_auto(strategy):
        return bool(strategy == "shared_trees")
    if n_targets > 1 and params["monotonic_cst"] is not None:
        return False
    return recipe if task == "classification" else not recipe and may_join and _can_join(params)


def automatic_folds(n_scores: int, most: int = EFFORTS["default"].most_folds) -> int:
    """How many boosters the recipe averages: fewer where each costs more and gains less.

    `n_scores` is what a round works on: the rows, times the trees of a round.

    Examples
    --------
    >>> [automatic_folds(n) for n in (1_000, 100_000, 1_000_000)]
    [8, 4, 1]
    """
    return max(1, min(most, round(most * math.sqrt(_SCORES_OF_MOST_FOLDS / n_scores))))


def automatic_foldings(n_rows: int, most: int = EFFORTS["default"].most_foldings) -> int:
    """How often the recipe divides a table into folds: more often where rows are few.

    Examples
    --------
    >>> [automatic_foldings(n) for n in (1_000, 1_500, 1_501)]
    [3, 2, 1]
    """
    return min(most, _times_for_few_rows(n_rows))


def _times_for_few_rows(n_rows: int) -> int:
    """3 up to 1,000 rows, 2 up to 1,500, and 1 for more."""
    return max(1, min(3, _FEW_ROWS // n_rows))


def _learning_rate_multiplier(n_outputs: int) -> float:
    """Larger steps where a round has many trees: up to twice as large from 20 classes on."""
    return min(2.0, max(1.0, math.sqrt(n_outputs / 5)))


_METHODS = {
    "uniform": _engine.SamplingMethod.uniform,
    "gradient_based": _engine.SamplingMethod.minimal_variance,
    "bayesian": _engine.SamplingMethod.bayesian,
}

_ALL_BELOW = 200_000
_LEAST_SHARE = 0.3


def sampling_of(method: str, subsample: float | str, n_rows: int) -> tuple[Any, float]:
    """The engine's method and the share of rows that a tree sees; every row once if that share is 1."""
    if method == "bayesian":
        if subsample not in ("auto", 1):
            raise InvalidParameter(
                f"subsample={subsample!r} has no meaning with sampling_method='bayesian', which weights every row "
                "and leaves none out. Leave subsample at 'auto', or choose 'uniform' or 'gradient_based'."
            )
        return _METHODS[method], 1.0
    share = automatic_share(n_rows) if isinstance(subsample, str) else float(subsample)
    return (_METHODS[method] if share < 1 else _engine.SamplingMethod.none), share


def automatic_share(n_rows: int) -> float:
    """All of up to 200,000 rows; of more, the geometric mean of 200,000 and their number, and 0.3 of them at least.

    Examples
    --------
    >>> [automatic_share(n_rows) for n_rows in (50_000, 800_000, 10_000_000)]
    [1.0, 0.5, 0.3]
    """
    return min(1.0, max(_LEAST_SHARE, math.sqrt(_ALL_BELOW / n_rows)))


def n_bins_of(plan: Plan, n_rows: int) -> int:
    """The most bins of a numeric feature: no more than `max_bins`, and on few rows enough for eight in each."""
    most = int(plan.params["max_bins"])
    return min(most, max(32, n_rows // 8)) if plan.fewer_bins else most


_GROWTH = {
    "leaf": _engine.Growth.leaf,
    "level": _engine.Growth.level,
    "oblivious": _engine.Growth.oblivious,
}
_DEEPEST_OBLIVIOUS = 16
_MOST = 2**31 - 1  # more than any tree can use

# A class may have next to no hessian in a leaf that others asked for: longer steps of shared trees are damped.
_FREE_STEP = 1.0

# Rare levels of a category are pulled towards the node's mean, and a set of levels must earn its freedom.
_LEVEL_SMOOTHING = 10.0
_LEVEL_L2 = 1.0


def grow_options(
    plan: Plan,
    policy: Policy,
    loss: BoundLoss,
    train: TrainingData,
    *,
    made_from: Sequence[tuple[int, ...]],
    lines_by_default: bool,
) -> Any:
    """The engine's options for the trees of one booster.

    `made_from` are the columns of each further feature; `linear_leaves="auto"` makes lines if `lines_by_default`.
    """
    params = plan.params
    options = _engine.GrowOptions()
    _set_growth(options, params, policy)
    _set_penalties(options, params, 1.0 if plan.unit_free else loss.scale)
    options.min_samples_split = min(int(params.get("min_samples_split", 2)), _MOST)
    _set_lines(options, params, policy, loss, lines_by_default=lines_by_default)
    if policy.shared_trees:
        options.free_step = _FREE_STEP if params["max_step"] is None else 0.0
    options.min_child_weight = float(params["min_child_weight"])
    options.max_features = plan.max_features
    options.level_smoothing = _LEVEL_SMOOTHING
    options.level_l2 = _LEVEL_L2
    options.learning_rate = policy.learning_rate
    options.value_unit = loss.scale
    encoded = train.encoded
    if params["monotonic_cst"] is not None:
        _check_monotone(plan, policy, loss)
        monotone = monotone_of(params["monotonic_cst"], train.schema, encoded.n_levels > 0).tolist()
        options.monotone = monotone + [0] * len(made_from)
    if params["interaction_cst"] is not None:
        sets = interaction_sets(params["interaction_cst"], encoded.n_features, train.schema.names)
        options.interaction_sets = with_made_features(sets, encoded.n_features, made_from)
    return options


def _check_monotone(plan: Plan, policy: Policy, loss: BoundLoss) -> None:
    if loss.is_relative:
        raise InvalidParameter(
            f"monotonic_cst is not supported with multiclass classification: y has {loss.n_outputs} classes, and "
            "constraints on the score of each would not order the probabilities.",
            parameter="monotonic_cst",
            received=plan.params["monotonic_cst"],
            allowed="None",
            hint="Fit one class against the rest.",
        )
    if loss.joint_units is not None or policy.shared_trees:
        apart = "one_tree_per_class" if plan.task == "classification" else "one_tree_per_target"
        raise InvalidParameter(
            f"monotonic_cst is not supported with multi_strategy='shared_trees': y has {loss.n_outputs} columns, and "
            "a split that all of them share is along no score in particular.",
            parameter="monotonic_cst",
            received=plan.params["monotonic_cst"],
            allowed=f"None, or multi_strategy='auto' or '{apart}'",
        )


def _set_growth(options: Any, params: Mapping[str, Any], policy: Policy) -> None:
    """The shape of a tree, and the features that it may use."""
    options.growth = _GROWTH[policy.growth]
    options.max_leaf_nodes = min(policy.max_leaf_nodes or 0, _MOST)
    options.max_depth = min(policy.max_depth or 0, _MOST)
    options.min_samples_leaf = min(policy.min_samples_leaf, _MOST)
    options.l2 = policy.l2
    options.max_features_per_tree = float(params["max_features_per_tree"])
    options.max_features_per_level = float(params["max_features_per_level"])
    if policy.growth == "oblivious":
        _check_depth(policy.max_depth, policy.max_leaf_nodes)


def _set_penalties(options: Any, params: Mapping[str, Any], scale: float) -> None:
    """What splits must gain and how far leaf values go, for a loss whose scores are measured in `scale`.

    Steps and sums of gradients are in proportion to the scale, gains to its square.
    """
    options.min_gain = _least(float(params["min_gain_to_split"]) / scale / scale)
    options.leaf_penalty = _least(float(params["leaf_penalty"]) / scale / scale)
    options.l1 = _least(float(params["l1_regularization"]) / scale)
    if params["max_step"] is not None:
        options.max_step = max(_least(float(params["max_step"]) / scale), 1e-300)
    options.split_noise = float(params["split_noise"])
    options.path_smoothing = float(params["path_smoothing"])


def rounds_vary(options: Any, sampling: tuple[Any, float], policy: Policy) -> bool:
    """Whether each round looks at rows, features or a direction over the classes, or adds noise, that it draws anew.

    The rounding of derivatives differs from round to round as well, but a split has to gain more than that explains.
    """
    shares = (options.max_features, options.max_features_per_tree, options.max_features_per_level)
    drawn = sampling[0] != _engine.SamplingMethod.none or min(shares) < 1 or policy.shared_trees
    return bool(drawn or options.split_noise > 0)


def _set_lines(
    options: Any, params: Mapping[str, Any], policy: Policy, loss: BoundLoss, *, lines_by_default: bool
) -> None:
    """Lines in the leaves, if they are requested and possible; "auto" does without where they are not."""
    if not policy.linear_leaves:
        return
    automatic = is_auto(params["linear_leaves"])
    if automatic and not lines_by_default:
        return
    if objection := _objection_to_lines(params, loss):
        if automatic:
            return
        raise InvalidParameter(
            f"linear_leaves=True {objection}",
            parameter="linear_leaves",
            received=True,
            allowed="False or 'auto'",
        )
    options.linear_leaves = True
    options.linear_l2 = float(params["linear_l2"])


def _objection_to_lines(params: Mapping[str, Any], loss: BoundLoss) -> str | None:
    for name, instead in (
        ("l1_regularization", "l2_regularization and linear_l2 keep lines modest"),
        ("path_smoothing", "linear_l2 makes slopes less steep"),
    ):
        if params[name] > 0:
            return (
                f"does not go with {name}={params[name]}, which is about constant leaf values. Set it to 0; "
                f"{instead}."
            )
    if loss.n_outputs and loss.leaf_quantile(0) is not None:
        return (
            f"is not supported with loss={params['loss']!r}: its leaf values are quantiles, and lines follow means. "
            "Set linear_leaves=False, or try loss='huber'."
        )
    if loss.joint_units is not None:  # others share trees along directions if lines are requested
        return f"does not go with the sum of gains of {loss.n_outputs} targets."
    return None


def _least(value: float) -> float:
    return min(value, 1e300)


def _check_depth(max_depth: int | None, max_leaf_nodes: int | None) -> None:
    if max_depth is None and max_leaf_nodes is None:
        raise InvalidParameter(
            "growth='oblivious' needs a limit, and max_depth and max_leaf_nodes are both None. "
            "Set max_depth, for example to 6."
        )
    depth = int(max_depth or int(max_leaf_nodes or 1).bit_length() - 1)
    if depth > _DEEPEST_OBLIVIOUS:
        name, value = (
            ("max_depth", max_depth) if max_depth is not None else ("max_leaf_nodes", max_leaf_nodes)
        )
        raise InvalidParameter(
            f"{name}={value} means {depth} levels, and growth='oblivious' doubles the leaves with each: "
            f"expected at most {_DEEPEST_OBLIVIOUS} levels."
        )
