"""Every ensemble method, one engine."""

from coterie.adaboost import AdaBoostClassifier, AdaBoostRegressor, AnyBoostClassifier, AnyBoostRegressor
from coterie.bagging import BaggingClassifier, BaggingRegressor
from coterie.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.combining import (
    BlendingClassifier,
    BlendingRegressor,
    OutputCodeClassifier,
    SelectionClassifier,
    SelectionRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    prune,
)
from coterie.committee import CommitteeClassifier, CommitteeRegressor, compare
from coterie.files import inspect_file, load, save
from coterie.fitting.checkpoint import Checkpoint
from coterie.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AnyBoostClassifier",
    "AnyBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BlendingClassifier",
    "BlendingRegressor",
    "Checkpoint",
    "CommitteeClassifier",
    "CommitteeRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
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
    "compare",
    "inspect_file",
    "load",
    "prune",
    "save",
]
