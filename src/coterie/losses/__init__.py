"""Losses that boosting can minimise.

Every module of this folder is imported, and the classes of all losses in them can be imported from here.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from coterie.losses.custom import CustomLoss
from coterie.losses.loss import BoundLoss, InitScore, Loss, RowLoss, loss_for_classes, loss_for_numbers
from coterie.losses.tasks import ClassificationLoss, LossFor, RegressionLoss, loss_names, registered_losses

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

_BY_CLASS = {loss.__name__: loss for loss in registered_losses()}

__all__ = [
    "BoundLoss",
    "ClassificationLoss",
    "CustomLoss",
    "InitScore",
    "Loss",
    "LossFor",
    "RegressionLoss",
    "RowLoss",
    "loss_for_classes",
    "loss_for_numbers",
    "loss_names",
    "registered_losses",
    *_BY_CLASS,
]


def __getattr__(name: str) -> Any:
    """A registered loss, which type checkers know by the module that defines it."""
    if name in _BY_CLASS:
        return _BY_CLASS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
