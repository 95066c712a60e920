"""Ensembles: one file a method."""

from coterie.ensembles.adaboost import AdaBoostClassifier
from coterie.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.ensembles.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.ensembles.random_forest import RandomForestClassifier, RandomForestRegressor

__all__ = [
    "AdaBoostClassifier",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
