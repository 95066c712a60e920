"""Files of earlier formats: one small function for each, which turns the nodes of one format into those of the next.

When the meaning of a node changes, `FORMAT` goes up by one, the function is added here under the old number, and a file
of the old format stays in `tests/files/golden` for good. A new attribute, class or parameter changes nothing. Where
only names change, `Renames` lists them, and `renamed` is the function:

    UPGRADES[3] = partial(renamed, renames=_FROM_3)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

FORMAT = 4

_ByClass: TypeAlias = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Renames:
    """New names by old ones; classes are those that the old file names.

    Attributes
    ----------
    params : of each class, new names of parameters
    state : of each class, new names of attributes
    keys : of each class and attribute (by its old name) that is a dict, new keys: a `Trace` has parameters in `settled`
    classes : new names of classes
    """

    params: _ByClass = field(default_factory=dict)
    state: _ByClass = field(default_factory=dict)
    keys: Mapping[str, _ByClass] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)


def renamed(nodes: Any, renames: Renames) -> Any:
    """The nodes with new names; what is no node stays as it is, and is refused by the reader."""
    if not isinstance(nodes, list):
        return nodes
    return [_renamed_node(node, renames) for node in nodes]


def _renamed_node(node: Any, renames: Renames) -> Any:
    name = node.get("class") if isinstance(node, dict) else None
    if not isinstance(name, str):
        return node
    new = {**node, "class": renames.classes.get(name, name)}
    if isinstance(node.get("params"), dict):
        new["params"] = _with_names(node["params"], renames.params.get(name, {}))
    if isinstance(node.get("state"), dict):
        keys = renames.keys.get(name, {})
        state = {each: _with_keys(value, keys.get(each, {})) for each, value in node["state"].items()}
        new["state"] = _with_names(state, renames.state.get(name, {}))
    return new


def _with_names(values: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A name stays as it is if the new one is taken: the reader then refuses it, as no file of ours has both."""
    taken = set(values) - set(names)
    return {
        names[name] if name in names and names[name] not in taken else name: value
        for name, value in values.items()
    }


def _with_keys(value: Any, names: Mapping[str, str]) -> Any:
    """The stored form of a dict, a list of pairs, with new keys."""
    if not names or not isinstance(value, dict):
        return value
    return {
        kind: [
            [names.get(pair[0], pair[0]), *pair[1:]]
            if isinstance(pair, list) and pair and isinstance(pair[0], str)
            else pair
            for pair in pairs
        ]
        if kind in ("dict", "bunch") and isinstance(pairs, list)
        else pairs
        for kind, pairs in value.items()
    }


def _unchanged(nodes: Any) -> Any:
    return nodes


_BOOSTING = ("GradientBoostingClassifier", "GradientBoostingRegressor")
_FOLDS = {"n_bags": "n_folds"}
_OF_FOLDS = {
    "n_bags_": "n_folds_",
    "bag_weights_": "fold_weights_",
    "oob_prediction_": "oof_prediction_",
    "oob_decision_function_": "oof_proba_",
}
# The boosters of gradient boosting leave out folds, and not bags.
_FROM_3 = Renames(
    params=dict.fromkeys(_BOOSTING, _FOLDS),
    state={**dict.fromkeys(_BOOSTING, _OF_FOLDS), "committee.Answers": {"said": "predictions"}},
    keys={"Trace": {"settled": _FOLDS}},
)

# Format 2 has coded arrays, and trees as streams of numbers; format 3 has other hashes (`container.py`). Nodes of the
# formats before mean what they meant.
UPGRADES: dict[int, Callable[[Any], Any]] = {
    1: _unchanged,
    2: _unchanged,
    3: partial(renamed, renames=_FROM_3),
}


def upgraded(nodes: Any, written: int) -> Any:
    """The nodes as the newest format has them."""
    for number in range(written, FORMAT):
        nodes = UPGRADES[number](nodes)
    return nodes
