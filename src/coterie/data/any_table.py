"""What estimators that take any table tell scikit-learn."""

from typing import Any

__all__ = ["set_any_table"]


def set_any_table(tags: Any) -> None:
    """Sparse matrices, missing values, categories and text are welcome."""
    for name in ("sparse", "allow_nan", "categorical", "string"):
        setattr(tags.input_tags, name, True)
