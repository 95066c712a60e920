"""The tags of estimators that take any table, for scikit-learn."""

from typing import Any

__all__ = ["TakesAnyTable"]


class TakesAnyTable:
    """Sparse matrices, missing values, categories and text are welcome."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
