"""Every ensemble method, one engine."""

from coterie.ensembles import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
]
