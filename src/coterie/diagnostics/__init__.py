"""What a fitted ensemble is like inside: margins, bounds, bias and variance, diversity, calibration, importance."""

from coterie.diagnostics import bounds
from coterie.diagnostics.bags import BagCounts, bag_counts
from coterie.diagnostics.bias_variance import BiasVariance, bias_variance
from coterie.diagnostics.bootstrap import BootstrapError, bootstrap
from coterie.diagnostics.calibration import Calibration, Reliability, calibration
from coterie.diagnostics.dependence import Dependence, DependenceCurve, dependence, interaction_strength
from coterie.diagnostics.diversity import Ambiguity, Diversity, diversity
from coterie.diagnostics.fit_by_step import FitBySteps, fit_by_step
from coterie.diagnostics.importance import Importance, importance
from coterie.diagnostics.margins import Margins, error_by_round, margins
from coterie.diagnostics.ranking import RankingCurve, ranking_curve, ranking_curves
from coterie.diagnostics.regions import DecisionRegions, decision_regions
from coterie.diagnostics.row_weights import WeightsByRound, row_weights
from coterie.diagnostics.voters import Voters, independent_voters, voters

__all__ = [
    "Ambiguity",
    "BagCounts",
    "BiasVariance",
    "BootstrapError",
    "Calibration",
    "DecisionRegions",
    "Dependence",
    "DependenceCurve",
    "Diversity",
    "FitBySteps",
    "Importance",
    "Margins",
    "RankingCurve",
    "Reliability",
    "Voters",
    "WeightsByRound",
    "bag_counts",
    "bias_variance",
    "bootstrap",
    "bounds",
    "calibration",
    "decision_regions",
    "dependence",
    "diversity",
    "error_by_round",
    "fit_by_step",
    "importance",
    "independent_voters",
    "interaction_strength",
    "margins",
    "ranking_curve",
    "ranking_curves",
    "row_weights",
    "voters",
]
