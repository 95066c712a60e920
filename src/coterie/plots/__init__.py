"""Plots of the results of `coterie.diagnostics`: one display for each, for notebooks, web pages and matplotlib."""

from coterie.plots.bias_variance_display import BiasVarianceDisplay
from coterie.plots.bootstrap_display import BootstrapDisplay
from coterie.plots.calibration_display import CalibrationDisplay
from coterie.plots.dependence_display import DependenceDisplay
from coterie.plots.display import Display
from coterie.plots.diversity_display import DiversityDisplay, KappaErrorDisplay
from coterie.plots.error_bound_display import ErrorBoundDisplay
from coterie.plots.explanation_display import ExplanationDisplay
from coterie.plots.importance_display import ImportanceDisplay
from coterie.plots.margin_display import MarginDisplay
from coterie.plots.rounds_display import RoundsDisplay
from coterie.plots.voters_display import VotersDisplay

__all__ = [
    "BiasVarianceDisplay",
    "BootstrapDisplay",
    "CalibrationDisplay",
    "DependenceDisplay",
    "Display",
    "DiversityDisplay",
    "ErrorBoundDisplay",
    "ExplanationDisplay",
    "ImportanceDisplay",
    "KappaErrorDisplay",
    "MarginDisplay",
    "RoundsDisplay",
    "VotersDisplay",
]
