"""Ensembles of different models: voting, stacking, blending, selection, output codes, thresholds, and pruning."""

from coterie.combining.output_code import OutputCodeClassifier
from coterie.combining.pruning import prune
from coterie.combining.selection import SelectionClassifier, SelectionRegressor
from coterie.combining.stacking import (
    BlendingClassifier,
    BlendingRegressor,
    StackingClassifier,
    StackingRegressor,
)
from coterie.combining.tuned_threshold import TunedThresholdClassifier
from coterie.combining.voting import VotingClassifier, VotingRegressor

__all__ = [
    "BlendingClassifier",
    "BlendingRegressor",
    "OutputCodeClassifier",
    "SelectionClassifier",
    "SelectionRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "TunedThresholdClassifier",
    "VotingClassifier",
    "VotingRegressor",
    "prune",
]
