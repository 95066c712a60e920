"""Plots of the results of `coterie.diagnostics`: one display for each, for notebooks, web pages and matplotlib."""

from coterie.plots.calibration_display import CalibrationDisplay
from coterie.plots.display import Display
from coterie.plots.error_displays import (
    BiasVarianceDisplay,
    BootstrapDisplay,
    ErrorBoundDisplay,
    RoundsDisplay,
)
from coterie.plots.feature_displays import DependenceDisplay, ExplanationDisplay, ImportanceDisplay
from coterie.plots.margin_display import MarginDisplay
from coterie.plots.member_displays import DiversityDisplay, KappaErrorDisplay, VotersDisplay

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
