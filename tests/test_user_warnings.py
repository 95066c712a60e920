"""Warnings name the line of the user."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import coterie
from coterie._user_warnings import warn_user

PRICES = {"price": [f"{n / 7:.2f} €" for n in range(60)]}


def test_the_line_is_that_of_the_caller() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("here")
        warn_user("there", DeprecationWarning)
    lines = Path(__file__).read_text().splitlines()
    assert [lines[own.lineno - 1].strip() for own in caught] == [
        'warn_user("here")',
        'warn_user("there", DeprecationWarning)',
    ]


@pytest.mark.parametrize("inside", ["alone", "pipeline", "committee", "bagging"])
def test_texts_of_numbers_are_named_where_the_fit_is_called(inside: str) -> None:
    models = {
        "alone": coterie.DecisionTreeRegressor(),
        "pipeline": make_pipeline(coterie.GradientBoostingRegressor(n_estimators=2)),
        "committee": coterie.CommitteeRegressor(None, portfolio=["quick_boosting"], cv=2, random_state=0),
        "bagging": coterie.BaggingRegressor(coterie.DecisionTreeRegressor(), 2),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        models[inside].fit(PRICES, np.arange(60.0))
    texts = [own for own in caught if "Column 'price' of X holds text" in str(own.message)]
    assert texts
    assert {own.filename for own in texts} == {__file__}


def test_functions_of_scikit_learn_between_are_passed_over() -> None:
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cross_val_score(coterie.DecisionTreeRegressor(), pandas.DataFrame(PRICES), np.arange(60.0), cv=2)
    assert {own.filename for own in caught} == {__file__}
