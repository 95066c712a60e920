"""Bagging of any learner."""

from coterie.bagging.bagging import BaggingClassifier, BaggingRegressor

__all__ = ["BaggingClassifier", "BaggingRegressor"]
