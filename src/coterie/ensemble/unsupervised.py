"""Isolation forests and embeddings by random trees with the parameters of scikit-learn's."""

from typing import Any

from sklearn import ensemble as theirs

from coterie.ensemble._mirror import MemberSequence, Mirror, mirrors
from coterie.forests import isolation_forest, random_trees_embedding


class _TreesOfNumbers(Mirror, MemberSequence):
    categorical_features = "auto"
    unknown_category = "missing"

    @property
    def estimator_(self) -> Any:
        """The kind of tree that members are."""
        return type(self.estimators_[0])(splitter="random", max_features=1)


@mirrors(theirs.IsolationForest)
class IsolationForest(_TreesOfNumbers, isolation_forest.IsolationForest):
    """How unusual rows are, as `sklearn.ensemble.IsolationForest` is called.

    Parameters, defaults and attributes are scikit-learn's. Text, categories and missing values are taken as they are.
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: Any = "auto",
        contamination: Any = "auto",
        max_features: Any = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self._store(locals())


@mirrors(theirs.RandomTreesEmbedding)
class RandomTreesEmbedding(_TreesOfNumbers, random_trees_embedding.RandomTreesEmbedding):
    """Rows as the leaves of random trees, as `sklearn.ensemble.RandomTreesEmbedding` is called.

    Parameters, defaults and attributes are scikit-learn's. Text, categories and missing values are taken as they are.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 5,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        sparse_output: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self._store(locals())
