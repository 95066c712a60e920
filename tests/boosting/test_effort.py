"""What `effort` chooses: how much time the recipe takes, and nothing that was given as a number."""

from typing import Any, Literal

import numpy as np
import pytest
from sklearn import datasets
from sklearn.base import clone

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.boosting.plan import EFFORTS, Plan, make_plan
from coterie.errors import InvalidParameter
from tests.helpers.estimators import fingerprint


def plan_of(effort: str, n_rows: int, n_outputs: int = 1, **given: Any) -> Plan:
    model = GradientBoostingRegressor(effort=effort, **given)  # type: ignore[arg-type]
    return make_plan(model.get_params(deep=False), "regression", n_rows=n_rows, n_outputs=n_outputs)


@pytest.mark.parametrize("n_rows", [40, 1_000, 30_000, 1_000_000])
@pytest.mark.parametrize("n_outputs", [1, 8])
def test_more_effort_means_more_boosters_smaller_steps_and_more_patience(n_rows: int, n_outputs: int) -> None:
    quick, default, best = (plan_of(effort, n_rows, n_outputs) for effort in EFFORTS)

    assert quick.n_folds <= default.n_folds <= best.n_folds
    steps = [plan.policies[0].learning_rate for plan in (quick, default, best)]
    assert steps[0] > steps[1] > steps[2]
    assert quick.patience < default.patience < best.patience


def test_steps_of_ones_own_have_the_patience_of_small_steps() -> None:
    for effort in EFFORTS:
        plan = plan_of(effort, 5_000, learning_rate=0.03)
        assert (plan.patience, plan.max_rounds) == (30, 1667)


def test_the_efforts_are_those_of_the_documentation() -> None:
    assert list(EFFORTS) == ["quick", "default", "best"]
    assert GradientBoostingClassifier().effort == GradientBoostingRegressor().effort == "default"


@pytest.mark.parametrize("effort", ["quick", "default", "best"])
def test_what_is_given_is_kept_by_every_effort(effort: str) -> None:
    given: dict[str, Any] = {"learning_rate": 0.3, "n_folds": 3, "growth": "level", "n_iter_no_change": 7}
    plan = plan_of(effort, 5_000, **given)

    assert (plan.n_folds, plan.patience) == (3, 7)
    assert [(policy.growth, policy.learning_rate) for policy in plan.policies] == [("level", 0.3)]


@pytest.mark.parametrize("effort", ["quick", "best"])
def test_a_number_of_rounds_leaves_effort_nothing_to_decide(effort: Literal["quick", "best"]) -> None:
    X, y = datasets.load_iris(return_X_y=True)
    with pytest.raises(InvalidParameter, match=rf"effort='{effort}' is about the recipe") as caught:
        GradientBoostingClassifier(n_estimators=5, effort=effort).fit(X, y)

    assert (caught.value.parameter, caught.value.received) == ("effort", effort)


@pytest.mark.parametrize("effort", ["fast", None, 2])
def test_other_words_are_refused(effort: Any) -> None:
    X, y = datasets.load_iris(return_X_y=True)
    with pytest.raises(InvalidParameter, match=r"effort.*'quick'.*'default'.*'best'") as caught:
        GradientBoostingClassifier(effort=effort).fit(X, y)

    assert caught.value.parameter == "effort"


def test_few_rows_are_boosted_alike_by_every_effort() -> None:
    X, y = datasets.load_iris(return_X_y=True)
    models = [GradientBoostingClassifier(effort=effort, random_state=0) for effort in ("quick", "best")]

    assert len({fingerprint(model.fit(X[::4], y[::4])) for model in models}) == 1


def test_effort_is_paid_for_in_trees() -> None:
    X, y = datasets.make_friedman1(400, noise=1.0, random_state=0)
    efforts: tuple[Literal["quick", "default", "best"], ...] = ("quick", "default", "best")
    models = [GradientBoostingRegressor(effort=effort, random_state=0).fit(X, y) for effort in efforts]
    quick, default, best = (len(model.forest_) for model in models)

    assert 2 * quick < default
    assert 1.5 * default < best
    new_X, new_y = datasets.make_friedman1(1000, noise=1.0, random_state=1)
    errors = [float(np.mean((model.predict(new_X) - new_y) ** 2)) for model in models]
    assert errors[2] < errors[0]


def test_a_quick_model_is_the_same_for_any_number_of_threads_and_after_cloning() -> None:
    X, y = datasets.load_iris(return_X_y=True)
    model = GradientBoostingClassifier(effort="quick", random_state=0, n_jobs=1)
    other = clone(model).set_params(n_jobs=2)

    assert fingerprint(model.fit(X, y)) == fingerprint(other.fit(X, y))
    assert model.oof_proba_.shape == (150, 3)
