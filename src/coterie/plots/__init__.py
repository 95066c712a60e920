"""Plots of the results of `coterie.diagnostics`: one display for each, for notebooks, web pages and matplotlib."""

from coterie.plots.display import Display
from coterie.plots.error_displays import (
    BiasVarianceDisplay,
    BootstrapDisplay,
    CalibrationDisplay,
    ErrorBoundDisplay,
    RoundsDisplay,
)
from coterie.plots.explanation_displays import BeeswarmDisplay, ExplanationDisplay
from coterie.plots.feature_displays import DependenceDisplay, ImportanceDisplay
from coterie.plots.member_displays import DiversityDisplay, KappaErrorDisplay, MarginDisplay, VotersDisplay

__all__ = [
    "BeeswarmDisplay",
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
