"""Plots of ensembles and of the results of `coterie.diagnostics`, for notebooks, web pages and matplotlib."""

from coterie.plots.curves_display import CurvesDisplay
from coterie.plots.display import Display
from coterie.plots.explanations.explanation_displays import BeeswarmDisplay, ExplanationDisplay
from coterie.plots.explanations.feature_displays import DependenceDisplay, ImportanceDisplay
from coterie.plots.members.bags_display import BagsDisplay
from coterie.plots.members.boundary_display import BoundaryDisplay
from coterie.plots.members.member_displays import (
    DiversityDisplay,
    KappaErrorDisplay,
    MarginDisplay,
    VotersDisplay,
)
from coterie.plots.rounds.residual_fit_display import ResidualFitDisplay
from coterie.plots.rounds.round_displays import ErrorBoundDisplay, RoundsDisplay
from coterie.plots.rounds.weights_display import WeightsDisplay
from coterie.plots.scores.error_displays import BiasVarianceDisplay, BootstrapDisplay, CalibrationDisplay
from coterie.plots.scores.leaderboard_display import LeaderboardDisplay
from coterie.plots.scores.learning_curve_display import LearningCurveDisplay
from coterie.plots.scores.ranking_displays import PrecisionRecallDisplay, RocDisplay
from coterie.plots.scores.residual_display import ResidualDisplay

__all__ = [
    "BagsDisplay",
    "BeeswarmDisplay",
    "BiasVarianceDisplay",
    "BootstrapDisplay",
    "BoundaryDisplay",
    "CalibrationDisplay",
    "CurvesDisplay",
    "DependenceDisplay",
    "Display",
    "DiversityDisplay",
    "ErrorBoundDisplay",
    "ExplanationDisplay",
    "ImportanceDisplay",
    "KappaErrorDisplay",
    "LeaderboardDisplay",
    "LearningCurveDisplay",
    "MarginDisplay",
    "PrecisionRecallDisplay",
    "ResidualDisplay",
    "ResidualFitDisplay",
    "RocDisplay",
    "RoundsDisplay",
    "VotersDisplay",
    "WeightsDisplay",
]
