"""ONNX models answer in onnxruntime as the originals do in coterie."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingRegressor

import coterie
from coterie.errors import InvalidParameter
from coterie.export import import_model, to_onnx
from coterie.losses import Quantile
from tests.helpers.exported import (
    messy,
    models_of_losses,
    models_of_messy,
    models_of_numbers,
    numbers,
    onnx_answers,
    own_answers,
    targets,
)
from tests.helpers.saved_models import FILES, answers, noted

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

NUMBERS = {**models_of_numbers(), **models_of_losses()}
MESSY = models_of_messy()
PROPERTY = {
    "max_examples": 25,
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": list(HealthCheck),
}


def assert_same(model: Any, X: Any, dtype: str = "float64", tolerance: float = 1e-12) -> None:
    """Numbers and probabilities up to rounding, and the same labels."""
    found = onnx_answers(model, X, dtype)
    expected = own_answers(model, X)
    if not hasattr(model, "predict_proba"):
        assert list(found) == ["prediction"]
        np.testing.assert_allclose(found["prediction"], expected[0], rtol=tolerance, atol=tolerance)
        assert found["prediction"].dtype == dtype
        return
    labels = np.asarray(model.predict(X)).reshape(len(expected[0]), -1)
    for place, own in enumerate(expected):
        ending = "" if len(expected) == 1 else f"_{place}"
        np.testing.assert_allclose(found[f"probabilities{ending}"], own, rtol=tolerance, atol=tolerance)
        assert found[f"probabilities{ending}"].dtype == dtype
        np.testing.assert_array_equal(found[f"label{ending}"], labels[:, place])


@pytest.mark.parametrize("name", NUMBERS)
def test_models_of_numbers_answer_the_same(name: str) -> None:
    X = numbers()
    model, y = NUMBERS[name]
    assert_same(model.fit(X, y), numbers(100, seed=1))


@pytest.mark.parametrize(
    "name", ["boosting, lines", "boosting, three classes", "forest, labels", "tree, numbers"]
)
def test_numbers_of_single_precision_go_the_same_way(name: str) -> None:
    X = numbers()
    model, y = NUMBERS[name]
    assert_same(model.fit(X, y), numbers(100, seed=1), "float32", tolerance=1e-6)


@pytest.mark.parametrize("name", MESSY)
def test_models_of_text_answer_the_same(name: str) -> None:
    X, y, new = messy()
    assert_same(MESSY[name].fit(X, y), new)


@pytest.mark.parametrize("n_levels", [2, 64, 254, 400])
def test_sets_of_many_categories(n_levels: int) -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, n_levels, 1500)
    town = np.array([f"town {each}" for each in code], dtype=object)
    town[rng.random(len(town)) < 0.05] = None
    y = rng.normal(size=n_levels)[code] + rng.normal(size=len(code)) / 10
    X = {"size": rng.normal(size=len(code)), "town": town}
    boosting = coterie.GradientBoostingRegressor(n_estimators=5, target_statistics="columns", random_state=0)
    for model in (boosting, coterie.DecisionTreeRegressor()):
        assert_same(model.fit(X, y), {**X, "town": np.where(np.arange(len(town)) % 50, town, "new")})


def test_many_trees_with_tables() -> None:
    X = numbers()
    assert_same(coterie.RandomForestClassifier(70, random_state=0).fit(X, targets(X) > 2), X)
    lines = coterie.GradientBoostingRegressor(linear_leaves=True, n_estimators=70, random_state=0)
    assert_same(lines.fit(X, targets(X)), X)


def test_infinite_numbers() -> None:
    X = numbers()
    new = numbers(60, seed=1)
    new[::3, 0], new[1::3, 0] = np.inf, -np.inf
    for name in ("boosting, lines of numbers", "tree, numbers"):
        model, y = NUMBERS[name]
        assert_same(model.fit(X, y), new)


def test_numbers_that_are_categories() -> None:
    X = numbers()
    model = coterie.GradientBoostingRegressor(n_estimators=5, categorical_features=[2], random_state=0)
    model.fit(X, targets(X))
    new = numbers(50, seed=1)
    new[::5, 2] = 17.0
    assert_same(model, new)


def test_levels_in_order() -> None:
    size = pd.Categorical(
        ["small", "large", "mid", None] * 10, categories=["small", "mid", "large"], ordered=True
    )
    model = coterie.DecisionTreeRegressor().fit(pd.DataFrame({"size": size}), [1.0, 3.0, 2.0, 9.0] * 10)
    found = onnx_answers(model, {"size": np.array(["large", "mid", "small", "", "huge"], dtype=object)})
    np.testing.assert_array_equal(found["prediction"][:, 0], [3, 2, 1, 9, 9])


def test_several_quantiles_ascend() -> None:
    X = numbers()
    model = coterie.GradientBoostingRegressor(loss=Quantile((0.2, 0.5, 0.8)), n_estimators=5, random_state=0)
    assert_same(model.fit(X, targets(X)), X)


def test_an_output_makes_way_for_a_column_of_its_name() -> None:
    X = {"prediction": np.arange(6.0), "label": np.array(list("aabbcc"), dtype=object)}
    graph = to_onnx(coterie.DecisionTreeRegressor().fit(X, X["prediction"])).graph
    assert [each.name for each in graph.input] == ["prediction", "label"]
    assert [each.name for each in graph.output] == ["prediction_"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_imported_models_answer_the_same(file: Path) -> None:
    rows, model = noted(file).rows, import_model(file)
    expected = answers(model, rows)
    found = onnx_answers(model, {**rows, **_as_numbers(model, rows)})
    own = found["probabilities"] if "probabilities" in found else found["prediction"]
    np.testing.assert_allclose(own, expected.reshape(own.shape), rtol=1e-12, atol=1e-12)


def _as_numbers(model: Any, rows: dict[str, list[Any]]) -> dict[str, Any]:
    """Columns of categories whose labels the model knows only by their order, as the numbers of their categories."""
    known = model.recipe_.reader.labels.in_order or ()
    columns = [name for name, values in rows.items() if any(isinstance(value, str) for value in values)]
    return {
        name: np.array(
            [labels.index(value) if value in labels else np.nan for value in rows[name]], dtype=float
        )
        for name, labels in zip(columns, map(list, known), strict=False)
    }


@settings(**PROPERTY)
@given(data=st.data(), scale=st.sampled_from([1e-30, 1e-3, 1.0, 1e7, 1e30]), n_rows=st.integers(1, 40))
def test_values_at_thresholds_go_the_same_way(data: st.DataObject, scale: float, n_rows: int) -> None:
    """Also in single precision: rows are asked about at each threshold, and at the numbers next to it."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    X = (rng.integers(0, 30, size=(n_rows, 2)) * (scale / 7)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    extra = coterie.ExtraTreesRegressor(2, random_state=0)
    boosting = coterie.GradientBoostingRegressor(n_estimators=2, min_samples_leaf=1, random_state=0)
    model = data.draw(st.sampled_from([extra, boosting])).fit(X, rng.normal(size=n_rows))
    trees = [model.forest_.tree(place) for place in range(len(model.forest_))]
    thresholds = np.concatenate([tree.threshold for tree in trees] + [np.zeros(1)])
    near = thresholds.astype(np.float32)
    values = np.concatenate(
        [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
    )
    new = np.column_stack([values, rng.permutation(values)])
    found = onnx_answers(model, new, "float32")["prediction"]
    np.testing.assert_allclose(found[:, 0], model.predict(new), rtol=1e-6, atol=1e-6)
    exact = np.column_stack([thresholds, thresholds[::-1]])
    np.testing.assert_allclose(
        onnx_answers(model, exact)["prediction"][:, 0], model.predict(exact), rtol=1e-12
    )


@settings(**PROPERTY)
@given(data=st.data(), n_classes=st.integers(2, 4), n_rows=st.integers(4, 40))
def test_random_tables_of_text_and_numbers(data: st.DataObject, n_classes: int, n_rows: int) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    text = np.array(list("abcdefgh"), dtype=object)[rng.integers(0, 8, n_rows)]
    text[rng.random(n_rows) < 0.2] = None
    X = {"text": text, "number": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows))}
    y = rng.integers(0, n_classes, n_rows)
    kind = data.draw(st.sampled_from([coterie.GradientBoostingClassifier, coterie.RandomForestClassifier]))
    model = kind(n_estimators=3, random_state=0).fit(X, y)
    new = {"text": np.append(text, ["z", ""]), "number": np.append(X["number"], [0.0, np.nan])}
    assert_same(model, new)


def test_the_graph_knows_its_types_and_sizes() -> None:
    X = numbers()
    model = coterie.RandomForestClassifier(3, random_state=0).fit(X, targets(X) > 2)
    onnx = pytest.importorskip("onnx")
    exported = to_onnx(model, dtype="float32")
    graph = exported.graph
    assert exported.producer_name == "coterie"
    assert {each.domain: each.version for each in exported.opset_import} == {"": 18, "ai.onnx.ml": 5}
    shapes = {
        each.name: (
            each.type.tensor_type.elem_type,
            [size.dim_value or size.dim_param for size in each.type.tensor_type.shape.dim],
        )
        for each in [*graph.input, *graph.output]
    }
    assert shapes == {
        "X": (onnx.TensorProto.FLOAT, ["n", 4]),
        "label": (onnx.TensorProto.BOOL, ["n"]),
        "probabilities": (onnx.TensorProto.FLOAT, ["n", 2]),
    }


def test_other_types_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="dtype='int8': expected 'float64' or 'float32'"):
        to_onnx(coterie.DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0]), dtype="int8")


def test_categories_of_models_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=200), "town": rng.choice(["Cork", "Oslo", "Rome"], 200)})
    y = X["size"] + (X["town"] == "Oslo") * 2
    theirs = HistGradientBoostingRegressor(max_iter=5, categorical_features=["town"])
    model = import_model(theirs.fit(X.astype({"town": "category"}), y))
    new = {"size": X["size"].to_numpy(), "town": X["town"].to_numpy(dtype=object)}
    new["town"][::9] = "Zork"
    np.testing.assert_allclose(onnx_answers(model, new)["prediction"][:, 0], model.predict(new), rtol=1e-12)
    codes = np.column_stack([X["size"], rng.choice([3.0, 8.0, 11.0], 200)])
    model = import_model(HistGradientBoostingRegressor(max_iter=5, categorical_features=[1]).fit(codes, y))
    codes[::9, 1] = 5.0
    assert_same(model, codes)
