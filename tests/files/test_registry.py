"""The registry of classes is complete and says of every attribute what it may be."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import coterie
from coterie.files.registry import class_of, known_classes
from tests.helpers.estimators import ESTIMATORS

PACKAGE = Path(coterie.__file__).parent


def test_names_and_classes_are_there_once() -> None:
    names = [known.name for known in known_classes()]
    classes = [known.cls for known in known_classes()]
    assert len(set(names)) == len(names)
    assert len(set(classes)) == len(classes)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_of_an_estimator_is_stored(estimator: type[Any]) -> None:
    known = next(each for each in known_classes() if each.cls is estimator)
    assert known.name == estimator.__name__
    assert known.param_names == set(inspect.signature(estimator).parameters)
    assert not known.param_names & set(known.attributes)


def test_no_subclass_is_taken_for_its_parent() -> None:
    class Mine(ESTIMATORS[0]):  # type: ignore[misc]
        pass

    assert class_of(Mine()) is None


def test_importing_coterie_reads_no_models_of_others() -> None:
    program = "import sys, coterie; print('coterie.export' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def _modules_with_storable_classes() -> set[str]:
    found = set()
    for file in PACKAGE.rglob("*.py"):
        classes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ClassDef)]
        calls = [each.func for cls in classes for each in cls.decorator_list if isinstance(each, ast.Call)]
        if any(isinstance(func, ast.Name) and func.id.startswith("storable") for func in calls):
            found.add(".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts))
    return found


def test_every_class_that_files_may_hold_is_found_by_its_name() -> None:
    program = (
        "import sys; from coterie.files.registry import class_named; class_named('no such class');"
        "print(*[name for name in sys.modules if name.startswith('coterie.')])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    expected = _modules_with_storable_classes()
    assert len(expected) > 20
    assert expected <= set(run.stdout.split())
