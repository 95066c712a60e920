"""The trees of a forest as decision trees of their own, made when they are requested."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from coterie._engine import Tree
from coterie._storage import storable, stored_as
from coterie._typing import FloatArray
from coterie.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from coterie.trees.grown_tree import GrownTree
from coterie.trees.growth_rules import criterion_of, in_units

_TREE_PARAMS = (
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "monotonic_cst",
    "categorical_features",
    "unknown_category",
    "n_jobs",
)
_FITTED = (
    "classes_",
    "n_classes_",
    "n_outputs_",
    "n_features_in_",
    "feature_names_in_",
    "max_features_",
    "schema_",
    "encoder_",
    "_saw_missing",
)


FORESTS = (
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomTreesEmbedding",
)


@storable("Members", {"_forest": stored_as(*FORESTS)})
class Members(Sequence[Any]):
    """The fitted trees of a forest, each a `DecisionTreeClassifier` or `-Regressor`.

    A packed tree keeps what predictions need. Weights, rows and values inside the tree are therefore close, not exact;
    impurities are known for classes, and what splits gained for all criteria but "absolute_error" (else NaN).
    """

    def __init__(self, forest: Any) -> None:
        self._forest = forest

    def __len__(self) -> int:
        return len(self._forest.forest_)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self._member(place) for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"tree {index} of a forest of {len(self)}")
        return self._member(place)

    def __iter__(self) -> Iterator[Any]:
        return map(self._member, range(len(self)))

    def _member(self, place: int) -> Any:
        forest = self._forest
        kind = DecisionTreeClassifier if forest._task == "classification" else DecisionTreeRegressor
        member = kind(**{name: getattr(forest, name) for name in _TREE_PARAMS})
        member.set_params(splitter="random" if forest._random_splits else "best")
        for name in _FITTED:
            if hasattr(forest, name):
                setattr(member, name, getattr(forest, name))
        member.tree_ = self._grown(place)
        return member

    def _grown(self, place: int) -> GrownTree:
        forest = self._forest
        grown = GrownTree(forest.forest_.tree(place), forest.n_features_in_, forest._classes_per_output())
        state = grown.native.state()
        criterion = criterion_of(forest)
        state["impurity"] = _impurities(grown, criterion)
        state["gain"] = _gains(grown, criterion)
        native = Tree.from_state(state, forest.n_features_in_)
        if forest._unit != 1.0:
            native = in_units(
                native, forest.n_features_in_, forest._unit, squared=criterion == "squared_error"
            )
        return GrownTree(native, forest.n_features_in_, grown.class_counts)


def _impurities(tree: GrownTree, criterion: str) -> FloatArray:
    if tree.class_counts is None:
        return np.full(tree.node_count, np.nan)
    return _spread(tree, criterion)


def _spread(tree: GrownTree, criterion: str) -> FloatArray:
    """A function of each node's value whose fall, weighted, is what a split gains."""
    parts = tree.by_output(np.asarray(tree.native.value))
    with np.errstate(divide="ignore", invalid="ignore"):
        if criterion == "gini":
            each = [1 - (part**2).sum(axis=1) for part in parts]
        elif tree.class_counts is not None:
            each = [-np.where(part > 0, part * np.log2(part), 0.0).sum(axis=1) for part in parts]
        elif criterion == "poisson":
            each = [-np.where(part > 0, part * np.log(part), 0.0).sum(axis=1) for part in parts]
        elif criterion == "squared_error":
            each = [-(part**2).sum(axis=1) for part in parts]
        else:
            each = [np.full(tree.node_count, np.nan)]
    return np.asarray(np.mean(each, axis=0))


def _gains(tree: GrownTree, criterion: str) -> FloatArray:
    """What each split takes off the impurity, times the share of the weight that it concerns."""
    spread, cover = _spread(tree, criterion), np.asarray(tree.native.cover)
    gains = np.zeros(tree.node_count)
    splits = np.flatnonzero(tree.native.feature >= 0)
    left = tree.native.left[splits].astype(np.int64)
    below = cover[left] * spread[left] + cover[left + 1] * spread[left + 1]
    gains[splits] = np.maximum(cover[splits] * spread[splits] - below, 0.0) / cover[0]
    return gains
