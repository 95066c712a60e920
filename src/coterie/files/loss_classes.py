"""Losses in files: their settings, which their constructors check again."""

from dataclasses import fields
from typing import Any

from coterie._storage import StorableClass
from coterie._value_types import ANY
from coterie.losses import (
    Absolute,
    CrossEntropy,
    CustomLoss,
    Expectile,
    Gamma,
    Huber,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)

__all__ = ["loss_classes"]

_LOSSES = (Absolute, CrossEntropy, Expectile, Gamma, Huber, Poisson, Quantile, Squared, Tweedie)


def loss_classes() -> list[StorableClass]:
    custom = StorableClass("losses.CustomLoss", CustomLoss, {}, state=_refuse_functions)
    return [custom, *map(_loss_class, _LOSSES)]


def _loss_class(cls: type[Any]) -> StorableClass:
    def build(state: dict[str, Any]) -> Any:
        return cls(**state)

    return StorableClass(f"losses.{cls.__name__}", cls, {each.name: ANY for each in fields(cls)}, build=build)


def _refuse_functions(_: Any) -> dict[str, Any]:
    raise TypeError(
        "CustomLoss is made of functions, and a file holds no code. Save the model with one of the losses of "
        "coterie.losses, or pickle it"
    )
