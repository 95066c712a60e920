"""The contribution of each column to a prediction: SHAP values of trees and of committees, in numbers and as text."""

from coterie.explain.explanation import Explanation, PartMethod

__all__ = ["Explanation", "PartMethod"]
