"""Files of LightGBM and XGBoost answer here as they answered there."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier

from coterie.errors import InvalidInput, ModelFileError, SchemaMismatch
from coterie.export import from_lightgbm, from_xgboost, import_model
from tests.helpers.saved_models import FILES, FOLDER, answers, noted

# XGBoost adds up in single precision.
TOLERANCE = {"lightgbm": 1e-14, "xgboost": 1e-6}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_answers_as_its_library_did(file: Path) -> None:
    seen, model = noted(file), import_model(file)
    ours = answers(model, seen.rows)
    expected = seen.answers
    if is_classifier(model) and expected.ndim == 1:
        ours = ours[:, 1]
    tolerance = TOLERANCE[file.stem.split("_")[0]]
    np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_row_reaches_the_leaf_of_the_original(file: Path) -> None:
    seen = noted(file)
    np.testing.assert_array_equal(import_model(file).apply(seen.rows), seen.leaves)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_content_of_a_file_is_as_good_as_its_path(file: Path) -> None:
    rows = noted(file).rows
    read = from_lightgbm if file.suffix == ".txt" else from_xgboost
    contents = [file.read_bytes()] if file.suffix == ".ubj" else [file.read_bytes(), file.read_text("utf-8")]
    for content in contents:
        np.testing.assert_array_equal(answers(read(content), rows), answers(import_model(str(file)), rows))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_number_of_threads_and_of_rows_changes_no_bit(file: Path) -> None:
    rows = {name: values * 60 for name, values in noted(file).rows.items()}
    model = import_model(file)
    expected = answers(model.set_params(n_jobs=1), rows)
    np.testing.assert_array_equal(answers(model.set_params(n_jobs=3), rows), expected)
    one = {name: values[7:8] for name, values in rows.items()}
    np.testing.assert_array_equal(answers(model, one), expected[7:8])


def test_json_and_ubj_hold_the_same_model() -> None:
    for file in (file for file in FILES if file.suffix == ".ubj"):
        rows = noted(file).rows
        as_json = import_model(file.with_suffix(".json"))
        np.testing.assert_array_equal(answers(import_model(file), rows), answers(as_json, rows))


def test_a_model_says_where_it_comes_from() -> None:
    model = import_model(FOLDER / "lightgbm_binary.txt")
    assert (model.source_, model.objective_) == ("LightGBM", "binary sigmoid:1.5")
    assert model.feature_names_in_.tolist() == ["age", "debt", "shop"]
    assert model.n_features_in_ == 3
    assert model.classes_.tolist() == [0, 1]


def test_scores_of_two_classes_are_the_log_odds() -> None:
    model = import_model(FOLDER / "xgboost_binary.json")
    rows = noted(FOLDER / "xgboost_binary.json").rows
    shares = model.predict_proba(rows)
    np.testing.assert_allclose(model.decision_function(rows), np.log(shares[:, 1] / shares[:, 0]))
    np.testing.assert_array_equal(model.predict(rows), (shares[:, 1] > 0.5).astype(int))


@pytest.mark.parametrize("name", ["lightgbm_multiclass.txt", "xgboost_categories.json"])
def test_any_table_will_do(name: str) -> None:
    model, rows = import_model(FOLDER / name), noted(FOLDER / name).rows
    expected = answers(model, rows)
    frame = pd.DataFrame(rows)
    np.testing.assert_array_equal(answers(model, frame), expected)
    frame["town"] = pd.Categorical(
        frame["town"], categories=["Oslo", "Rome", "Cork", "Lund", "Bath", "Nowhere"]
    )
    np.testing.assert_array_equal(answers(model, frame), expected)
    np.testing.assert_array_equal(answers(model, pl.DataFrame(rows)), expected)


@pytest.mark.parametrize("name", ["lightgbm_multiclass.txt", "xgboost_categories.json"])
def test_categories_may_be_given_by_number(name: str) -> None:
    model, rows = import_model(FOLDER / name), noted(FOLDER / name).rows
    towns = ["Bath", "Cork", "Lund", "Oslo", "Rome"]
    by_number = {**rows, "town": [towns.index(town) for town in rows["town"]]}
    np.testing.assert_array_equal(answers(model, by_number), answers(model, rows))


def test_an_unknown_town_is_missing_to_lightgbm_and_an_error_to_xgboost() -> None:
    rows = {name: values[:2] for name, values in noted(FOLDER / "xgboost_categories.json").rows.items()}
    unknown, missing = {**rows, "town": ["Paris", "Oslo"]}, {**rows, "town": [None, "Oslo"]}
    lightgbm = import_model(FOLDER / "lightgbm_multiclass.txt")
    np.testing.assert_array_equal(answers(lightgbm, unknown), answers(lightgbm, missing))
    with pytest.raises(InvalidInput) as caught:
        import_model(FOLDER / "xgboost_categories.json").predict(unknown)
    assert (caught.value.parameter, caught.value.received) == ("town", "'Paris'")


def test_text_in_a_column_of_numbers_is_explained() -> None:
    with pytest.raises(SchemaMismatch) as caught:
        import_model(FOLDER / "lightgbm_binary.txt").predict({"age": ["old"], "debt": [1.0], "shop": [1.0]})
    error = caught.value
    assert (error.parameter, error.received, error.allowed) == ("age", "'old'", "numbers")


def test_the_booster_answers_with_all_trees_and_its_wrapper_with_the_best() -> None:
    stopped = import_model(FOLDER / "xgboost_stopped.json")
    everything = import_model(FOLDER / "xgboost_booster.json")
    assert len(stopped.forest_) < len(everything.forest_)


class _StandsForLightGBM:
    """What the classifiers of LightGBM have: a booster that gives its text, and labels."""

    def __init__(self, text: str, labels: list[str]) -> None:
        self.booster_ = SimpleNamespace(model_to_string=lambda: text)
        self.classes_ = np.array(labels)


def test_a_classifier_of_lightgbm_keeps_its_labels() -> None:
    text = (Path(__file__).parent / "data" / "lightgbm_binary.txt").read_text()

    assert from_lightgbm(_StandsForLightGBM(text, ["no", "yes"])).classes_.tolist() == ["no", "yes"]
    with pytest.raises(ModelFileError, match="1 classes_, and scores for 2"):
        from_lightgbm(_StandsForLightGBM(text, ["no"]))
