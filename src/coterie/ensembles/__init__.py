"""Ensembles: one file a method."""

from coterie.ensembles.adaboost_regressor import AdaBoostRegressor
from coterie.ensembles.anyboost import AnyBoostClassifier, AnyBoostRegressor
from coterie.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.ensembles.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.ensembles.random_forest import RandomForestClassifier, RandomForestRegressor

__all__ = [
    "AdaBoostRegressor",
    "AnyBoostClassifier",
    "AnyBoostRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
