"""Losses in files: their settings, which their constructors check again."""

from dataclasses import fields
from typing import Any

from coterie._storage import StorableClass
from coterie._value_types import ANY
from coterie.losses import CustomLoss, registered_losses


def loss_classes() -> list[StorableClass]:
    """Every loss that has a name; files of earlier versions may have other names of settings."""
    custom = StorableClass("losses.CustomLoss", CustomLoss, {}, state=_refuse_functions)
    return [custom, *map(_loss_class, registered_losses())]


def _loss_class(cls: type[Any]) -> StorableClass:
    renamed = cls.renamed_settings
    names = [*(each.name for each in fields(cls)), *renamed]

    def build(state: dict[str, Any]) -> Any:
        return cls(**{renamed.get(name, name): value for name, value in state.items()})

    optional = frozenset([*renamed, *renamed.values()])
    return StorableClass(cls.file_name, cls, dict.fromkeys(names, ANY), optional, build=build)


def _refuse_functions(_: Any) -> dict[str, Any]:
    raise TypeError(
        "CustomLoss is made of functions, and a file holds no code. Save the model with one of the losses of "
        "coterie.losses, or pickle it"
    )
