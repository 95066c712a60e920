"""How the trees of boosting grow: from a plan, in the units of y, to the engine's options."""

from collections.abc import Mapping
from typing import Any

import coterie._engine as _engine
from coterie._params import is_auto
from coterie.boosting._data import BoostingData
from coterie.boosting.plan import Plan, Policy
from coterie.errors import InvalidParameter
from coterie.losses import BoundLoss
from coterie.trees.interactions import interaction_sets, with_made_features
from coterie.trees.limits import monotone_of

__all__ = ["grow_options", "takes_several_targets"]

_GROWTH = {
    "leaf": _engine.Growth.leaf,
    "level": _engine.Growth.level,
    "oblivious": _engine.Growth.oblivious,
}
_DEEPEST_OBLIVIOUS = 16
_MOST = 2**31 - 1  # more than any tree can use

# Rare levels of a category are pulled towards the node's mean, and a set of levels must earn its freedom.
_LEVEL_SMOOTHING = 10.0
_LEVEL_L2 = 1.0


def grow_options(
    plan: Plan, policy: Policy, loss: BoundLoss, data: BoostingData, *, lines_by_default: bool
) -> Any:
    """The engine's options for the trees of one booster; `linear_leaves="auto"` makes lines if `lines_by_default`."""
    params = plan.params
    options = _engine.GrowOptions()
    _set_growth(options, params, policy)
    _set_penalties(options, params, loss.scale)
    _set_lines(options, params, policy, loss, lines_by_default=lines_by_default)
    options.min_child_weight = float(params["min_child_weight"])
    options.max_features = plan.max_features
    options.level_smoothing = _LEVEL_SMOOTHING
    options.level_l2 = _LEVEL_L2
    options.learning_rate = policy.learning_rate
    options.answer_unit = loss.scale
    encoded = data.train.encoded
    made_from = data.statistics.features if data.statistics else []
    if params["monotonic_cst"] is not None:
        _check_monotone(plan, loss)
        monotone = monotone_of(params["monotonic_cst"], data.train.schema, encoded.n_levels > 0).tolist()
        options.monotone = monotone + [0] * len(made_from)
    if params["interaction_cst"] is not None:
        sets = interaction_sets(params["interaction_cst"], encoded.n_features)
        options.interaction_sets = with_made_features(sets, encoded.n_features, made_from)
    return options


def _check_monotone(plan: Plan, loss: BoundLoss) -> None:
    if plan.task == "classification" and loss.n_outputs > 1:
        raise InvalidParameter(
            f"monotonic_cst is not supported with multiclass classification: y has {loss.n_outputs} classes, and "
            "constraints on the score of each would not order the probabilities.",
            parameter="monotonic_cst",
            received=plan.params["monotonic_cst"],
            allowed="None",
            hint="Fit one class against the rest.",
        )
    if loss.joint_units is not None:
        raise InvalidParameter(
            f"monotonic_cst is not supported with several targets: y has {loss.n_outputs} columns, and their trees "
            "are shared.",
            parameter="monotonic_cst",
            received=plan.params["monotonic_cst"],
            allowed="None",
            hint="Fit one model per column.",
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


def takes_several_targets(linear_leaves: bool | str, y: Any) -> bool:
    """Whether y may have several columns; with lines it may not, and a y that shows its shape is refused here."""
    if is_auto(linear_leaves) or not linear_leaves:
        return True
    shape: Any = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise InvalidParameter(
            f"linear_leaves=True is not supported with several targets: y has {shape[1]} columns, and their trees are "
            "shared.",
            parameter="linear_leaves",
            received=linear_leaves,
            allowed="False or 'auto'",
            hint="Fit one model per column.",
        )
    return False


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
    if loss.joint_units is not None:
        return f"is not supported with several targets: y has {loss.n_outputs} columns. Fit one model per column."
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
