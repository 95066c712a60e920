"""AdaBoost for classes and numbers, and AnyBoost, its generalisation to any loss."""

from coterie.adaboost.adaboost_classifier import AdaBoostClassifier
from coterie.adaboost.adaboost_regressor import AdaBoostRegressor
from coterie.adaboost.anyboost import AnyBoostClassifier, AnyBoostRegressor

__all__ = ["AdaBoostClassifier", "AdaBoostRegressor", "AnyBoostClassifier", "AnyBoostRegressor"]
