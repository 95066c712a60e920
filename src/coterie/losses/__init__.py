"""Losses that boosting can minimise."""

from coterie.losses.base import BoostingLoss
from coterie.losses.classification import BinaryLogLoss, MultinomialLogLoss
from coterie.losses.regression import SquaredError

__all__ = ["BinaryLogLoss", "BoostingLoss", "MultinomialLogLoss", "SquaredError"]
