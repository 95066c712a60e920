"""An imported model is a fitted estimator of scikit-learn that cannot be fitted again."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from coterie.errors import InvalidInput, InvalidType, ModelFileError, SchemaMismatch
from coterie.export import ImportedClassifier, ImportedRegressor, from_lightgbm, from_xgboost, import_model
from tests.helpers.saved_models import FILES, FOLDER, answers, noted

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
LABELS = np.where(X[:, 0] > 0, "yes", "no")


@pytest.fixture
def forest() -> ImportedClassifier:
    return import_model(RandomForestClassifier(8, max_depth=3, random_state=0).fit(X, LABELS))


def test_fit_says_that_there_is_nothing_to_fit(forest: Any) -> None:
    with pytest.raises(InvalidInput, match="ImportedClassifier was trained elsewhere and cannot be fitted"):
        forest.fit(X, LABELS)


def test_a_clone_is_the_model_itself(forest: Any) -> None:
    assert clone(forest) is forest


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_copy_and_a_pickle_give_the_same_bits(file: Path) -> None:
    model, rows = import_model(file), noted(file).rows
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(answers(twin, rows), answers(model, rows))
        np.testing.assert_array_equal(twin.apply(rows), model.apply(rows))


def test_scikit_learn_takes_it_for_what_it_is(forest: Any) -> None:
    assert is_classifier(forest)
    assert is_regressor(import_model(DecisionTreeRegressor().fit(X, X[:, 0])))
    assert forest.score(X, LABELS) > 0.9
    importance = permutation_importance(forest, X, LABELS, n_repeats=2, random_state=0).importances_mean
    assert importance.argmax() == 0


def test_a_frozen_one_can_be_part_of_something_that_is_fitted(forest: Any) -> None:
    calibrated = CalibratedClassifierCV(FrozenEstimator(forest)).fit(X, LABELS)
    assert calibrated.score(X, LABELS) > 0.9


def test_an_empty_one_says_how_to_get_a_full_one() -> None:
    for model in (ImportedClassifier(), ImportedRegressor()):
        with pytest.raises(NotFittedError, match=r"coterie\.export\.import_model"):
            model.predict(X)


def test_a_wrong_number_of_columns_is_explained(forest: Any) -> None:
    with pytest.raises(SchemaMismatch, match="X has 2 features, but ImportedClassifier is expecting 3"):
        forest.predict(X[:, :2])


def test_log_probabilities_are_logarithms(forest: Any) -> None:
    np.testing.assert_array_equal(np.exp(forest.predict_log_proba(X)) > 0, forest.predict_proba(X) > 0)


def test_matrices_of_any_kind_give_the_same_answers(forest: Any) -> None:
    whole = np.round(4 * X)
    expected = forest.predict_proba(whole)
    for table in (np.asfortranarray(whole), whole.astype(np.float32), whole.astype(np.int16), whole.tolist()):
        np.testing.assert_array_equal(forest.predict_proba(table), expected)


def test_the_input_is_not_changed() -> None:
    file = FOLDER / "lightgbm_zero_missing.txt"
    model, rows = import_model(file), noted(file).rows
    table = np.array([[np.nan if value is None else value for value in column] for column in rows.values()]).T
    before = table.copy()
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(table)
    np.testing.assert_array_equal(table, before)


def test_gaps_of_a_sparse_matrix_are_missing_to_xgboost() -> None:
    file = FOLDER / "xgboost_binary.json"
    content = file.read_text("utf-8").replace('"feature_names":["age","debt","shop"]', '"feature_names":[]')
    model = from_xgboost(content)
    gaps = np.where(RNG.random((50, 3)) < 0.5, np.nan, RNG.normal(size=(50, 3)))
    stored = sparse.coo_array((gaps[~np.isnan(gaps)], np.nonzero(~np.isnan(gaps))), shape=gaps.shape)
    np.testing.assert_array_equal(model.predict_proba(stored.tocsr()), model.predict_proba(gaps))


def test_lightgbm_knows_names_with_underlines() -> None:
    text = (FOLDER / "lightgbm_binary.txt").read_text("utf-8").replace("age debt shop", "the_age debt shop")
    rows = noted(FOLDER / "lightgbm_binary.txt").rows
    spaced = {"the age": rows["age"], "debt": rows["debt"], "shop": rows["shop"]}
    expected = answers(import_model(FOLDER / "lightgbm_binary.txt"), rows)
    np.testing.assert_array_equal(answers(from_lightgbm(text), spaced), expected)


@pytest.mark.parametrize("model", [LogisticRegression(), 3, None, [1, 2]])
def test_other_things_are_refused_by_name(model: Any) -> None:
    with pytest.raises(InvalidType) as caught:
        import_model(model)
    assert (caught.value.parameter, caught.value.received) == ("model", model)


@pytest.mark.parametrize("read", [from_lightgbm, from_xgboost])
def test_a_reader_refuses_what_is_not_of_its_library(read: Any) -> None:
    with pytest.raises(InvalidType) as caught:
        read({})
    assert (caught.value.parameter, caught.value.received) == ("model", {})


def test_a_reader_refuses_the_file_of_another_library() -> None:
    with pytest.raises(ModelFileError) as caught:
        from_lightgbm(FOLDER / "xgboost_binary.ubj")
    assert caught.value.allowed == "a model in LightGBM's text format"
    with pytest.raises(ModelFileError) as caught:
        from_xgboost(FOLDER / "lightgbm_binary.txt")
    assert caught.value.allowed == "a file of XGBoost"


def test_a_pickle_is_never_opened() -> None:
    with pytest.raises(ModelFileError, match="a pickle, which can run any code"):
        import_model(pickle.dumps(LogisticRegression()))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"binf\x00", "old binary format of XGBoost"),
        (b"CBM1", "CatBoost"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"", "begins with b''"),
        (b"hello\n", "begins with b'hello"),
    ],
)
def test_other_files_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        import_model(content)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        import_model(tmp_path / "nothing.json")
