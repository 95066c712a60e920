"""The classes that a file may name; there is no way for a file to name another.

Classes of coterie register themselves where they are defined (`coterie._storage`). What is added here are objects of
the engine and of other libraries.
"""

from functools import cache
from importlib import import_module
from typing import Any

from coterie._storage import StorableClass, registered, registered_classes, registered_name

# Packages with classes that files may hold. Some are imported with coterie, and some have much behind them.
_PACKAGES = (
    "trees",
    "boosting",
    "adaboost",
    "forests",
    "bagging",
    "combining",
    "committee",
    "export",
)


@cache
def _import_packages() -> None:
    for package in _PACKAGES:
        import_module(f"coterie.{package}")


@cache
def _added_here() -> dict[str, StorableClass]:
    """Those that do not register themselves, by name; imported when the first file is opened."""
    from coterie.files.engine_forests import FOREST_CLASSES
    from coterie.files.engine_stumps import STUMP_CLASSES
    from coterie.files.engine_trees import TREE_CLASSES
    from coterie.files.external_classes import EXTERNAL_CLASSES
    from coterie.files.loss_classes import loss_classes

    classes = [*TREE_CLASSES, *FOREST_CLASSES, *STUMP_CLASSES, *EXTERNAL_CLASSES, *loss_classes()]
    return {entry.name: entry for entry in classes}


@cache
def _names_added_here() -> dict[type, str]:
    return {entry.cls: name for name, entry in _added_here().items()}


def known_classes() -> list[StorableClass]:
    """All classes that files may name."""
    _import_packages()
    return [*_added_here().values(), *registered_classes()]


def class_named(name: Any) -> StorableClass | None:
    """The class of this name, if there is one."""
    if not isinstance(name, str):
        return None
    found = _added_here().get(name) or registered(name)
    if found is None:
        _import_packages()
        found = registered(name)
    return found


def class_of(stored: Any) -> StorableClass | None:
    """How an object is stored, if its very class is known."""
    cls = type(stored)
    name = _names_added_here().get(cls)
    if name is not None:
        return _added_here()[name]
    name = registered_name(cls)
    return None if name is None else registered(name)
