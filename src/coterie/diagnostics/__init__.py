"""What a fitted ensemble is like inside: margins, bounds, bias and variance, diversity, calibration, importance."""

from coterie.diagnostics import bounds
from coterie.diagnostics.bias_variance import BiasVariance, bias_variance
from coterie.diagnostics.bootstrap import BootstrapError, bootstrap
from coterie.diagnostics.calibration import Calibration, Reliability, calibration
from coterie.diagnostics.diversity import Ambiguity, Diversity, diversity
from coterie.diagnostics.error_by_round import error_by_round
from coterie.diagnostics.importance import Importance, importance
from coterie.diagnostics.margins import Margins, margins
from coterie.diagnostics.voters import Voters, independent_voters, voters

__all__ = [
    "Ambiguity",
    "BiasVariance",
    "BootstrapError",
    "Calibration",
    "Diversity",
    "Importance",
    "Margins",
    "Reliability",
    "Voters",
    "bias_variance",
    "bootstrap",
    "bounds",
    "calibration",
    "diversity",
    "error_by_round",
    "importance",
    "independent_voters",
    "margins",
    "voters",
]
