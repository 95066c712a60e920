"""A path, not a maze: how many modules a plain fit, of a matrix of numbers without weights, enters."""

from typing import Any

import numpy as np
import pytest

import coterie
from tests.helpers.entered_modules import modules_entered

X = np.random.default_rng(0).normal(size=(600, 8))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def entered(model: Any, **given: Any) -> set[str]:
    model.fit(X, Y, **given)  # what is imported or computed once is there already
    return modules_entered(lambda: model.fit(X, Y, **given))


@pytest.mark.parametrize(
    ("model", "most"),
    [
        (coterie.GradientBoostingClassifier(n_estimators=20, random_state=0), 12),
        (coterie.GradientBoostingRegressor(n_estimators=20, random_state=0), 12),
        (coterie.GradientBoostingClassifier(random_state=0), 18),
        (coterie.RandomForestClassifier(20, random_state=0), 12),
        (coterie.RandomForestRegressor(20, random_state=0), 12),
        (coterie.DecisionTreeClassifier(), 9),
    ],
    ids=repr,
)
def test_a_plain_fit_enters_few_modules(model: Any, most: int) -> None:
    found = entered(model)
    assert len(found) <= most, f"A plain fit of {model} enters {len(found)} modules: {sorted(found)}."


def test_what_a_fit_is_given_is_what_it_enters() -> None:
    model = coterie.GradientBoostingClassifier(n_estimators=5, random_state=0)
    plain, weighted = entered(model), entered(model, sample_weight=np.ones(len(Y)))
    assert "boosting/plan.py" in plain & weighted
    assert "data/weight.py" in weighted - plain
