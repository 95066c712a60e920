"""A house that one can hold in mind: private is private, a name means one thing, folders and ancestries stay small."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.estimators import ESTIMATORS
from tests.helpers.repository import ROOT, files

PACKAGE = Path("src/coterie")
MODULES = [file for file in files() if PACKAGE in file.parents and file.suffix == ".py"]
MIRROR = PACKAGE / "ensemble"
MOST_MODULES = 25
MOST_ANCESTORS = 4
# What only the newest versions of scikit-learn have, or what it keeps to itself, enters by these.
ADAPTERS = {PACKAGE / "fitting/sklearn_callbacks.py", PACKAGE / "_sklearn.py"}


def tree_of(file: Path) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def imported(file: Path) -> Iterator[str]:
    """Full names of modules, and of what is taken from them."""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def private_imports(package: tuple[str, ...], names: Iterator[str]) -> list[str]:
    """Modules of coterie with an underscore that are inside a package which does not hold the importing module."""
    found = []
    for name in names:
        parts = tuple(name.split("."))
        if parts[0] != "coterie":
            continue
        private = [place for place, part in enumerate(parts) if part.startswith("_")]
        is_module = private and (ROOT / "src" / Path(*parts[: private[0] + 1])).with_suffix(".py").exists()
        if is_module and package[: private[0]] != parts[: private[0]]:
            found.append(name)
    return found


@pytest.mark.parametrize("file", MODULES, ids=str)
def test_no_private_module_of_another_package_is_imported(file: Path) -> None:
    package = ("coterie", *file.relative_to(PACKAGE).parent.parts)
    wrong = private_imports(package, imported(file))
    assert not wrong, f"{file} imports {wrong}: modules with an underscore belong to their own package."


def test_the_rule_about_private_modules_refuses_what_it_should() -> None:
    inside, outside = ("coterie", "boosting"), ("coterie", "forests")
    name = "coterie.boosting._trainer"
    assert private_imports(inside, iter([name])) == []
    assert private_imports(outside, iter([name])) == [name]
    assert private_imports(outside, iter(["coterie._params", "coterie.boosting.plan"])) == []


@pytest.mark.parametrize("file", sorted(set(MODULES) - ADAPTERS), ids=str)
def test_only_adapters_import_what_scikit_learn_keeps_to_itself(file: Path) -> None:
    wrong = [
        name
        for name in imported(file)
        if name.startswith("sklearn.")
        and (name.startswith("sklearn.callback") or any(part.startswith("_") for part in name.split(".")))
    ]
    assert not wrong, (
        f"{file} imports {wrong}; take it from coterie._sklearn or coterie.fitting.sklearn_callbacks."
    )


def test_no_class_name_is_defined_twice() -> None:
    places = defaultdict(list)
    for file in MODULES:
        if file.parent == MIRROR:  # whose names are scikit-learn's
            continue
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(file))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert not twice, f"A class has a name that no other class has: {twice}."


def test_no_folder_has_more_modules_than_one_can_hold_in_mind() -> None:
    counts: dict[str, int] = defaultdict(int)
    for file in MODULES:
        counts[str(file.parent)] += 1
    large = {folder: n for folder, n in counts.items() if n > MOST_MODULES}
    assert not large, f"Folders of more than {MOST_MODULES} modules: {large}. Split them by concept."


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_estimator_has_few_ancestors_of_our_own(estimator: type[Any]) -> None:
    ours = [kind.__name__ for kind in estimator.__mro__[1:] if kind.__module__.startswith("coterie.")]
    assert len(ours) <= MOST_ANCESTORS, f"{estimator.__name__} descends from {ours}."
