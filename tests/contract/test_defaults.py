"""What an estimator does when nothing is said.

Whoever did not name a parameter gets another model if its default changes. A default that is meant to change
changes in `defaults.json` too, and has its line in CHANGELOG.md.
"""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.estimators import ESTIMATORS

RECORDED = json.loads(Path(__file__).with_name("defaults.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_defaults_are_those_that_are_recorded(estimator: type[Any]) -> None:
    parameters = inspect.signature(estimator).parameters.values()
    required = {own.name: None for own in parameters if own.default is inspect.Parameter.empty}
    params = estimator(**required).get_params(deep=False)

    found = {name: value for name, value in params.items() if name not in required}
    assert json.loads(json.dumps(found)) == RECORDED[estimator.__name__]


def test_no_default_is_recorded_of_a_class_that_is_gone() -> None:
    assert sorted(RECORDED) == sorted(each.__name__ for each in ESTIMATORS)
