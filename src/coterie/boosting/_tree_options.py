"""How the trees of boosting grow: from public parameters, in the units of y, to the engine's options."""

from typing import Any

import coterie._engine as _engine
from coterie._params import is_auto
from coterie.boosting.plan import Policy
from coterie.errors import InvalidParameter
from coterie.losses import BoundLoss

__all__ = ["set_growth", "set_lines", "set_penalties", "takes_several_targets"]

_GROWTH = {
    "leaf": _engine.Growth.leaf,
    "level": _engine.Growth.level,
    "oblivious": _engine.Growth.oblivious,
}
_DEEPEST_OBLIVIOUS = 16
_MOST = 2**31 - 1  # more than any tree can use


def set_growth(options: Any, estimator: Any, policy: Policy) -> None:
    """The shape of a tree, and the features that it may use."""
    options.growth = _GROWTH[policy.growth]
    options.max_leaf_nodes = min(policy.max_leaf_nodes or 0, _MOST)
    options.max_depth = min(policy.max_depth or 0, _MOST)
    options.min_samples_leaf = min(policy.min_samples_leaf, _MOST)
    options.l2 = policy.l2
    options.max_features_per_tree = float(estimator.max_features_per_tree)
    options.max_features_per_level = float(estimator.max_features_per_level)
    if policy.growth == "oblivious":
        _check_depth(policy.max_depth, policy.max_leaf_nodes)


def set_penalties(options: Any, estimator: Any, scale: float) -> None:
    """What splits must gain and how far answers go, for a loss whose scores are measured in `scale`.

    Steps and sums of gradients are in proportion to the scale, gains to its square.
    """
    options.min_gain = _least(float(estimator.min_gain_to_split) / scale / scale)
    options.leaf_penalty = _least(float(estimator.leaf_penalty) / scale / scale)
    options.l1 = _least(float(estimator.l1_regularization) / scale)
    if estimator.max_step is not None:
        options.max_step = max(_least(float(estimator.max_step) / scale), 1e-300)
    options.split_noise = float(estimator.split_noise)
    options.path_smoothing = float(estimator.path_smoothing)


def takes_several_targets(estimator: Any, y: Any) -> bool:
    """Whether y may have several columns; with lines it may not, and the reason is said of a y that shows its shape."""
    if is_auto(estimator.linear_leaves) or not estimator.linear_leaves:
        return True
    shape: Any = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise InvalidParameter(
            f"linear_leaves=True is not supported with several targets: y has {shape[1]} columns, and their trees are "
            "shared. Fit one model per column."
        )
    return False


def set_lines(options: Any, estimator: Any, policy: Policy, loss: BoundLoss) -> None:
    """Lines in the leaves, if they are asked for and can be; "auto" does without where they cannot."""
    if not policy.linear_leaves:
        return
    automatic = is_auto(estimator.linear_leaves)
    if automatic and not estimator._loss().linear_leaves:
        return
    if objection := _objection_to_lines(estimator, loss):
        if automatic:
            return
        raise InvalidParameter(f"linear_leaves=True {objection}")
    options.linear_leaves = True
    options.linear_l2 = float(estimator.linear_l2)


def _objection_to_lines(estimator: Any, loss: BoundLoss) -> str | None:
    for name, instead in (
        ("l1_regularization", "l2_regularization and linear_l2 keep lines modest"),
        ("path_smoothing", "linear_l2 makes slopes less steep"),
    ):
        if getattr(estimator, name) > 0:
            return (
                f"does not go with {name}={getattr(estimator, name)}, which is about constant answers. Set it to 0; "
                f"{instead}."
            )
    if loss.n_outputs and loss.leaf_quantile(0) is not None:
        return (
            f"is not supported with loss={estimator.loss!r}: its leaves answer with quantiles, and lines follow means. "
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
            f"{name}={value} asks for {depth} levels, and growth='oblivious' doubles the leaves with each: "
            f"expected at most {_DEEPEST_OBLIVIOUS} levels."
        )
