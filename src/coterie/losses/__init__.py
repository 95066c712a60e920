"""Losses that boosting can minimise."""

from coterie.losses.base import BoostingLoss
from coterie.losses.choices import (
    LOSS_NAMES,
    Absolute,
    CrossEntropy,
    Expectile,
    Gamma,
    Huber,
    LossChoice,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
    loss_of,
)
from coterie.losses.classification import BinaryLogLoss, MultinomialLogLoss
from coterie.losses.regression import SquaredError

__all__ = [
    "LOSS_NAMES",
    "Absolute",
    "BinaryLogLoss",
    "BoostingLoss",
    "CrossEntropy",
    "Expectile",
    "Gamma",
    "Huber",
    "LossChoice",
    "MultinomialLogLoss",
    "Poisson",
    "Quantile",
    "Squared",
    "SquaredError",
    "Tweedie",
    "loss_of",
]
