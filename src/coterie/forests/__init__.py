"""Random forests and extremely randomised trees."""

from coterie.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.forests.random_forest import RandomForestClassifier, RandomForestRegressor

__all__ = ["ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier", "RandomForestRegressor"]
