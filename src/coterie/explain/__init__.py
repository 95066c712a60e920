"""The contribution of each column to a prediction: exact SHAP values of trees, in numbers and as text."""

from coterie.explain.explanation import Explanation

__all__ = ["Explanation"]
