"""Every ensemble method, one engine."""

from coterie.ensembles import GradientBoostingClassifier, GradientBoostingRegressor

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor"]
