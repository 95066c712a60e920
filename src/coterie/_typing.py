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
UnknownCategory: TypeAlias = Literal["missing", "error"]
ClassCriterion: TypeAlias = Literal["gini", "entropy", "log_loss"]
NumberCriterion: TypeAlias = Literal["squared_error", "absolute_error", "poisson"]
TreeSplitter: TypeAlias = Literal["best", "random"]
MaxFeatures: TypeAlias = float | Literal["sqrt", "log2"] | None

SeedLike: TypeAlias = int | np.random.RandomState | np.random.Generator | None
CategoricalFeatures: TypeAlias = str | Sequence[Any] | AnyArray | None
ClassWeight: TypeAlias = Mapping[Any, float] | Sequence[Mapping[Any, float] | str | None] | str | None
