"""What every fit does around its training: check, forget, and leave things in order when something goes wrong."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from coterie import (
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from coterie.errors import InvalidInput, InvalidParameter
from tests.helpers.errors import raised

X = np.arange(60.0).reshape(-1, 2)
Y = np.sqrt(X[:, 0])
WRONG = np.full(30, np.nan)  # a target that cannot be fitted


def fitted_names(model: Any) -> set[str]:
    return {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}


GROWN = [
    DecisionTreeRegressor(),
    RandomForestRegressor(n_estimators=3, random_state=0),
    GradientBoostingRegressor(n_estimators=3),
]


@pytest.mark.parametrize("model", GROWN, ids=lambda model: type(model).__name__)
def test_a_fit_that_fails_leaves_trees_unfitted(model: Any) -> None:
    model.fit(X, Y)
    with raised(InvalidInput, parameter="y"):
        model.fit(X, WRONG)

    assert fitted_names(model) == set()


@pytest.mark.parametrize("model", GROWN, ids=lambda model: type(model).__name__)
def test_a_wrong_parameter_is_refused_before_anything_is_forgotten(model: Any) -> None:
    before = model.fit(X, Y).predict(X)
    depth = model.max_depth
    with raised(InvalidParameter, parameter="max_depth", received=0):
        model.set_params(max_depth=0).fit(X, Y)

    np.testing.assert_array_equal(model.set_params(max_depth=depth).predict(X), before)


def test_a_fit_of_other_models_that_fails_leaves_the_ensemble_as_it_was() -> None:
    model = VotingRegressor([("line", LinearRegression())]).fit(X, Y)
    before = model.predict(X)
    with raised(InvalidInput, parameter="y"):
        model.fit(X, WRONG)

    np.testing.assert_array_equal(model.predict(X), before)


def test_a_continued_fit_that_fails_leaves_the_model_as_it_was() -> None:
    model = RandomForestRegressor(n_estimators=3, random_state=0, warm_start=True).fit(X, Y)
    before = model.predict(X)
    with raised(InvalidInput, parameter="y"):
        model.set_params(n_estimators=5).fit(X, Y + 1)

    np.testing.assert_array_equal(model.predict(X), before)
    assert model.n_estimators_ == 3


def test_a_fit_forgets_what_only_the_last_one_had() -> None:
    model = GradientBoostingRegressor(n_estimators=5, early_stopping=True, n_folds=2, random_state=0).fit(
        X, Y
    )
    assert {"validation_losses_", "oof_prediction_"} <= fitted_names(model)

    model.set_params(early_stopping=False, n_folds=1).fit(X, Y)

    assert not {"validation_losses_", "oof_prediction_"} & fitted_names(model)


def test_attributes_of_a_subclass_are_its_own() -> None:
    class Counting(DecisionTreeRegressor):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            self.n_fits_ = getattr(self, "n_fits_", 0) + 1
            return super().fit(X, y, sample_weight)

    assert Counting().fit(X, Y).fit(X, Y).n_fits_ == 2
