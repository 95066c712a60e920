"""What each column brings to the answer for a row: SHAP values of trees, exact, in numbers and in words."""

from coterie.explain.explanation import Explanation

__all__ = ["Explanation"]
