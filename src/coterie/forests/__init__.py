"""Random forests, extremely randomised trees, isolation forests, and embeddings by random trees."""

from coterie.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.forests.isolation_forest import IsolationForest
from coterie.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from coterie.forests.random_trees_embedding import RandomTreesEmbedding

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "IsolationForest",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
]
