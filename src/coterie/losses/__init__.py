"""Losses that boosting can minimise."""

from coterie.losses.base import BoostingLoss, Origin
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
from coterie.losses.class_choices import CLASS_LOSS_NAMES, ClassLoss, class_loss_of
from coterie.losses.classification import BinaryLogLoss, ExponentialLoss, MultinomialLogLoss
from coterie.losses.custom import CustomLoss
from coterie.losses.regression import SquaredError

__all__ = [
    "CLASS_LOSS_NAMES",
    "LOSS_NAMES",
    "Absolute",
    "BinaryLogLoss",
    "BoostingLoss",
    "ClassLoss",
    "CrossEntropy",
    "CustomLoss",
    "Expectile",
    "ExponentialLoss",
    "Gamma",
    "Huber",
    "LossChoice",
    "MultinomialLogLoss",
    "Origin",
    "Poisson",
    "Quantile",
    "Squared",
    "SquaredError",
    "Tweedie",
    "class_loss_of",
    "loss_of",
]
