"""The list of classes is complete and says of every attribute what it may be."""

import inspect
import subprocess
import sys
from typing import Any

import pytest

from coterie.files.registry import class_of, known_classes
from tests.helpers.estimators import ESTIMATORS


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
