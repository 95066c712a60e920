"""Names for the arrays and the values that travel between the layers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

AnyArray: TypeAlias = NDArray[Any]
BoolArray: TypeAlias = NDArray[np.bool_]
CodeArray: TypeAlias = NDArray[np.int32]
FloatArray: TypeAlias = NDArray[np.float64]
RowArray: TypeAlias = NDArray[np.int64]
SeedArray: TypeAlias = NDArray[np.uint64]

Kind: TypeAlias = Literal["numeric", "ordered", "nominal"]
Task: TypeAlias = Literal["classification", "regression"]

# Choices that several constructors offer.
Auto: TypeAlias = Literal["auto"]
ClassCriterion: TypeAlias = Literal["gini", "entropy", "log_loss"]
FeaturesPer: TypeAlias = Literal["split", "tree"]
Growth: TypeAlias = Literal["auto", "leaf", "level", "oblivious", "mixed"]
Effort: TypeAlias = Literal["quick", "default", "best"]
Holdout: TypeAlias = Literal["random", "last_rows"]
MaxFeatures: TypeAlias = float | Literal["sqrt", "log2"] | None
MultiStrategy: TypeAlias = Literal["auto", "one_tree_per_class", "shared_trees"]
MultiTargetStrategy: TypeAlias = Literal["auto", "one_tree_per_target", "shared_trees"]
MembersKept: TypeAlias = Literal["refit", "folds"]
NumberCriterion: TypeAlias = Literal["squared_error", "friedman_mse", "absolute_error", "poisson"]
OnError: TypeAlias = Literal["raise", "drop"]
RowsOrWeights: TypeAlias = Literal["reweight", "resample"]
SamplingMethod: TypeAlias = Literal["auto", "uniform", "gradient_based", "bayesian"]
StackMethod: TypeAlias = Literal["auto", "predict_proba", "decision_function", "predict"]
TargetStatistics: TypeAlias = Literal["auto", "none", "columns", "pairs"]
TreeSplitter: TypeAlias = Literal["best", "random"]
UnknownCategory: TypeAlias = Literal["missing", "error"]

SeedLike: TypeAlias = int | np.random.RandomState | np.random.Generator | None
CategoricalFeatures: TypeAlias = Auto | Sequence[Any] | AnyArray | None
ClassWeight: TypeAlias = (
    Literal["balanced"]
    | Mapping[Any, float]
    | Sequence[Mapping[Any, float] | Literal["balanced"] | None]
    | None
)
InteractionConstraints: TypeAlias = Literal["pairwise", "no_interactions"] | Sequence[Any] | AnyArray | None
LearnedWeights: TypeAlias = Literal["learned"] | Sequence[float] | AnyArray | None
