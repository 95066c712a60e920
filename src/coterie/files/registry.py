"""The classes that a file may name; there is no way for a file to name another."""

from functools import cache
from typing import Any

from coterie.files.spec import Spec

__all__ = ["spec_named", "spec_of"]


@cache
def _specs() -> tuple[Spec, ...]:
    """All of them, when the first file is opened: readers of other libraries' models have much behind them."""
    from coterie.files.checkpoint_files import CHECKPOINT_CLASSES
    from coterie.files.committee_classes import COMMITTEE_CLASSES
    from coterie.files.data_classes import DATA_CLASSES
    from coterie.files.engine_forests import FOREST_CLASSES
    from coterie.files.engine_stumps import STUMP_CLASSES
    from coterie.files.engine_trees import TREE_CLASSES
    from coterie.files.imported_classes import IMPORTED_CLASSES
    from coterie.files.member_classes import MEMBER_CLASSES
    from coterie.files.model_classes import MODEL_CLASSES
    from coterie.files.random_classes import RANDOM_CLASSES

    return (
        *TREE_CLASSES,
        *FOREST_CLASSES,
        *STUMP_CLASSES,
        *DATA_CLASSES,
        *RANDOM_CLASSES,
        *MEMBER_CLASSES,
        *MODEL_CLASSES,
        *IMPORTED_CLASSES,
        *COMMITTEE_CLASSES,
        *CHECKPOINT_CLASSES,
    )


@cache
def _by_name() -> dict[str, Spec]:
    return {spec.name: spec for spec in _specs()}


@cache
def _by_class() -> dict[type, Spec]:
    return {spec.cls: spec for spec in _specs()}


def spec_named(name: Any) -> Spec | None:
    """The class of this name, if there is one."""
    return _by_name().get(name) if isinstance(name, str) else None


def spec_of(held: Any) -> Spec | None:
    """How an object is stored, if its very class is known."""
    return _by_class().get(type(held))
