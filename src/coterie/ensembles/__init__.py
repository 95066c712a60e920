"""Ensembles: one file a method."""

from coterie.ensembles.adaboost import AdaBoostClassifier
from coterie.ensembles.adaboost_regressor import AdaBoostRegressor
from coterie.ensembles.anyboost import AnyBoostClassifier, AnyBoostRegressor
from coterie.ensembles.bagging import BaggingClassifier, BaggingRegressor
from coterie.ensembles.blending import BlendingClassifier, BlendingRegressor
from coterie.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.ensembles.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.ensembles.output_code import OutputCodeClassifier
from coterie.ensembles.pruning import prune
from coterie.ensembles.random_forest import RandomForestClassifier, RandomForestRegressor
from coterie.ensembles.selection import SelectionClassifier, SelectionRegressor
from coterie.ensembles.stacking import StackingClassifier, StackingRegressor
from coterie.ensembles.voting import VotingClassifier, VotingRegressor

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AnyBoostClassifier",
    "AnyBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BlendingClassifier",
    "BlendingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "OutputCodeClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "SelectionClassifier",
    "SelectionRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "prune",
]
