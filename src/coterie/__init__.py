"""Every ensemble method, one engine."""

from coterie.ensembles import (
    AdaBoostRegressor,
    AnyBoostClassifier,
    AnyBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = [
    "AdaBoostRegressor",
    "AnyBoostClassifier",
    "AnyBoostRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
