"""The classes that a file may name; there is no way for a file to name another."""

from typing import Any

from coterie.files.data_classes import DATA_CLASSES
from coterie.files.engine_forests import FOREST_CLASSES
from coterie.files.engine_stumps import STUMP_CLASSES
from coterie.files.engine_trees import TREE_CLASSES
from coterie.files.imported_classes import IMPORTED_CLASSES
from coterie.files.member_classes import MEMBER_CLASSES
from coterie.files.model_classes import MODEL_CLASSES
from coterie.files.random_classes import RANDOM_CLASSES
from coterie.files.spec import Spec

__all__ = ["BY_NAME", "spec_of"]

BY_NAME: dict[str, Spec] = {
    spec.name: spec
    for spec in [
        *TREE_CLASSES,
        *FOREST_CLASSES,
        *STUMP_CLASSES,
        *DATA_CLASSES,
        *RANDOM_CLASSES,
        *MEMBER_CLASSES,
        *MODEL_CLASSES,
        *IMPORTED_CLASSES,
    ]
}
_BY_CLASS: dict[type, Spec] = {spec.cls: spec for spec in BY_NAME.values()}


def spec_of(held: Any) -> Spec | None:
    """How an object is stored, if its very class is known."""
    return _BY_CLASS.get(type(held))
