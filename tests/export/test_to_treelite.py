"""treelite models answer in treelite's own predictor as the originals do in coterie."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie.errors import InvalidInput
from coterie.export import import_model, to_treelite
from coterie.losses import Quantile
from tests.helpers.exported import (
    messy,
    models_of_losses,
    models_of_messy,
    models_of_numbers,
    numbers,
    own_answers,
    targets,
    treelite_answers,
)
from tests.helpers.saved_models import FILES, noted

pytest.importorskip("treelite")

# Without lines, which treelite does not know.
NUMBERS = {
    name: (model.set_params(linear_leaves=False) if hasattr(model, "linear_leaves") else model, y)
    for name, (model, y) in {**models_of_numbers(), **models_of_losses()}.items()
}
MESSY = {
    name: model.set_params(linear_leaves=False) if hasattr(model, "linear_leaves") else model
    for name, model in models_of_messy().items()
}


def assert_same(model: Any, X: Any) -> None:
    """treelite rounds its softmax to single precision."""
    found, expected = treelite_answers(model, X), own_answers(model, X)
    if not hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found[:, :, 0], expected[0], rtol=1e-12, atol=1e-12)
        return
    assert found.shape[1] == len(expected)
    for place, own in enumerate(expected):
        columns = own[:, 1:] if found.shape[2] == 1 and own.shape[1] == 2 else own
        np.testing.assert_allclose(found[:, place, : columns.shape[1]], columns, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", NUMBERS)
def test_models_of_numbers_answer_the_same(name: str) -> None:
    model, y = NUMBERS[name]
    assert_same(model.fit(numbers(), y), numbers(100, seed=1))


@pytest.mark.parametrize("name", MESSY)
def test_models_of_text_answer_the_same(name: str) -> None:
    X, y, new = messy()
    assert_same(MESSY[name].fit(X, y), new)


@pytest.mark.parametrize(
    "file", [file for file in FILES if "linear" not in file.name], ids=lambda file: file.name
)
def test_imported_models_answer_the_same(file: Path) -> None:
    assert_same(import_model(file), noted(file).rows)


def test_values_at_thresholds_go_left() -> None:
    X = numbers()
    model = coterie.DecisionTreeRegressor().fit(X, targets(X))
    thresholds = model.tree_.native.threshold
    assert_same(model, np.column_stack([thresholds] * 4))


def test_lines_are_refused() -> None:
    X = numbers()
    model = coterie.GradientBoostingRegressor(linear_leaves=True, n_estimators=3).fit(X, targets(X))
    with pytest.raises(InvalidInput, match="Fit it with linear_leaves=False"):
        to_treelite(model)


def test_several_quantiles_are_refused() -> None:
    X = numbers()
    model = coterie.GradientBoostingRegressor(loss=Quantile((0.2, 0.8)), linear_leaves=False, n_estimators=3)
    with pytest.raises(InvalidInput, match="a model for each quantile"):
        to_treelite(model.fit(X, targets(X)))
