"""What an isolation forest is made of: which rows and features each tree drew, and the trees as members."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

import coterie._engine as _engine
from coterie._storage import storable
from coterie._typing import FloatArray, RowArray
from coterie._value_types import BOOL, COUNT, FLOAT_VECTOR, NONE
from coterie.data.encoding import Encoded
from coterie.trees.decision_tree import DecisionTreeRegressor
from coterie.trees.grown_tree import GrownTree

_FITTED = ("n_features_in_", "feature_names_in_", "schema_", "encoder_", "_saw_missing")


@storable(
    "IsolationDraws",
    {
        "n_trees": COUNT,
        "first_tree": COUNT,
        "seed": COUNT,
        "n_rows": COUNT,
        "n_features": COUNT,
        "max_samples": COUNT,
        "max_features": COUNT,
        "bootstrap": BOOL,
        "weight": FLOAT_VECTOR | NONE,
    },
)
@dataclass(frozen=True, eq=False)
class IsolationDraws:
    """The trees of one fit, and what they draw from: enough to know their rows and features without keeping them.

    Attributes
    ----------
    n_trees, first_tree : how many trees there are, and how many came before
    seed : of the forest
    n_rows, n_features : of the table
    max_samples, max_features : of each tree
    bootstrap : whether rows are drawn with replacement; a row that is drawn twice counts once
    weight : how likely each row is drawn, or None
    """

    n_trees: int
    first_tree: int
    seed: int
    n_rows: int
    n_features: int
    max_samples: int
    max_features: int
    bootstrap: bool
    weight: FloatArray | None

    @property
    def max_depth(self) -> int:
        """The depth of a balanced tree of the rows: paths that are longer than average say little."""
        return int(np.ceil(np.log2(max(self.max_samples, 2))))

    @property
    def path_length_sum(self) -> float:
        """The sum over trees of the mean path length, which paths are compared with."""
        return self.n_trees * float(_engine.average_path_length(self.max_samples))

    def rows(self) -> list[RowArray]:
        """The rows of each tree, ascending."""
        drawn = _engine.isolation_bags(self.n_rows, self._weight(), self.options(1))
        return [rows.astype(np.int64) for rows in drawn]

    def features(self) -> list[RowArray]:
        """The features of each tree, ascending."""
        return [
            features.astype(np.int64)
            for features in _engine.isolation_features(self.n_features, self.options(1))
        ]

    def grow(
        self, encoded: Encoded, n_threads: int, *, step: int, go_on: Callable[[int], bool]
    ) -> tuple[_engine.Forest, "IsolationDraws"]:
        """The trees, so many at a time and as long as `go_on` says of their number; and the draws of those."""
        forest = _engine.Forest(self.n_features, 1)
        while len(forest) < self.n_trees:
            part = replace(
                self,
                n_trees=min(step, self.n_trees - len(forest)),
                first_tree=self.first_tree + len(forest),
            )
            grown = _engine.grow_isolation_trees(
                encoded.values, encoded.n_levels, self._weight(), part.options(n_threads)
            )
            forest = grown if len(forest) == 0 else joined(forest, grown)
            if not go_on(len(forest)):
                break
        return forest, replace(self, n_trees=len(forest))

    def options(self, n_threads: int) -> _engine.IsolationOptions:
        return _engine.IsolationOptions(
            n_trees=self.n_trees,
            first_tree=self.first_tree,
            max_samples=self.max_samples,
            bootstrap=self.bootstrap,
            max_features=self.max_features,
            max_depth=self.max_depth,
            seed=self.seed,
            n_threads=n_threads,
        )

    def _weight(self) -> FloatArray:
        return np.zeros(0) if self.weight is None else self.weight


def joined(one: _engine.Forest, other: _engine.Forest) -> _engine.Forest:
    """A forest with the trees of both, which are shared."""
    both = _engine.Forest(one.n_features, 1)
    for forest in (one, other):
        for place in range(len(forest)):
            both.add(forest.tree(place))
    return both


class IsolationTrees(Sequence[Any]):
    """The trees of an isolation forest, each a `DecisionTreeRegressor` that predicts the length of paths.

    A tree is made when it is first requested, and is the same object from then on.
    """

    def __init__(self, forest: Any, made: dict[int, Any]) -> None:
        self._forest = forest
        self._made = made

    def __len__(self) -> int:
        return len(self._forest.forest_)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"tree {index} of a forest of {len(self)}")
        if place not in self._made:
            self._made[place] = self._member(place)
        return self._made[place]

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def _member(self, place: int) -> Any:
        forest = self._forest
        draws = next(own for own in forest._draws if place < own.first_tree + own.n_trees)
        member = DecisionTreeRegressor(
            splitter="random",
            max_features=1,
            max_depth=draws.max_depth,
            categorical_features=forest.categorical_features,
            unknown_category=forest.unknown_category,
            n_jobs=forest.n_jobs,
        )
        for name in _FITTED:
            if hasattr(forest, name):
                setattr(member, name, getattr(forest, name))
        member.n_outputs_ = member.max_features_ = 1
        state = forest.forest_.tree(place).state()
        state["impurity"] = np.full(len(state["feature"]), np.nan)  # without a target there is none
        native = _engine.Tree.from_state(state, forest.n_features_in_)
        member.tree_ = GrownTree(native, forest.n_features_in_, None)
        return member
