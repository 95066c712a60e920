"""The flavour of MLflow: what is saved and logged is loaded again, by us and by pyfunc, and no file is a pickle."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import coterie
import coterie.mlflow
from coterie.datasets import make_messy
from coterie.errors import InvalidInput, InvalidParameter, ModelFileError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("mlflow") is None, reason="not installed: mlflow (coterie[mlflow])"
    ),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]

TABLE, PRICE = make_messy(300, task="regression", as_="pandas", random_state=0)
CLASSES = np.where(PRICE > 250, "dear", "cheap")


@pytest.fixture(scope="module")
def regressor() -> coterie.GradientBoostingRegressor:
    return coterie.GradientBoostingRegressor(n_estimators=20, random_state=0).fit(TABLE, PRICE)


@pytest.fixture(scope="module")
def classifier() -> coterie.RandomForestClassifier:
    return coterie.RandomForestClassifier(20, random_state=0).fit(TABLE, CLASSES)


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """MLflow with a store of its own, which is a folder where nothing for databases is installed."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.chdir(tmp_path)  # a database keeps models in ./mlruns if nothing else is said
    mlflow = importlib.import_module("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(
        f"sqlite:///{tmp_path / 'mlflow.db'}" if has_database() else (tmp_path / "runs").as_uri()
    )
    yield mlflow
    while mlflow.active_run() is not None:
        mlflow.end_run()
    mlflow.set_tracking_uri(before)


def has_database() -> bool:
    """mlflow-skinny comes without what it needs for a database."""
    return all(importlib.util.find_spec(name) is not None for name in ("sqlalchemy", "alembic"))


def test_a_saved_model_is_loaded_with_the_same_bits(regressor: Any, tmp_path: Path) -> None:
    coterie.mlflow.save_model(regressor, tmp_path / "model", notes={"target": "price"})
    again = coterie.mlflow.load_model(tmp_path / "model")

    assert type(again) is coterie.GradientBoostingRegressor
    assert_array_equal(again.predict(TABLE), regressor.predict(TABLE))
    assert coterie.inspect_file(tmp_path / "model" / "model.coterie").notes == {"target": "price"}


def test_nothing_that_is_written_is_a_pickle(regressor: Any, tmp_path: Path) -> None:
    coterie.mlflow.save_model(regressor, tmp_path / "model", input_example=TABLE[:3])
    written = sorted(path.name for path in (tmp_path / "model").iterdir())

    assert written == ["MLmodel", "conda.yaml", "model.coterie", "python_env.yaml", "requirements.txt"]
    for path in (tmp_path / "model").iterdir():
        content = path.read_bytes()
        if path.name == "model.coterie":
            coterie.inspect_file(path)
        else:
            content.decode("utf-8")
        assert not content.startswith(b"\x80")  # as every pickle since protocol 2 does


def test_the_environment_names_what_is_installed(regressor: Any, tmp_path: Path) -> None:
    coterie.mlflow.save_model(regressor, tmp_path / "model")
    needed = (tmp_path / "model" / "requirements.txt").read_text(encoding="utf-8").splitlines()

    assert f"coterie=={coterie.__version__}" in needed
    assert any(each.startswith("mlflow") for each in needed)

    coterie.mlflow.save_model(regressor, tmp_path / "own", pip_requirements=["coterie>=0.2"])
    assert (tmp_path / "own" / "requirements.txt").read_text(encoding="utf-8") == "coterie>=0.2\n"


def test_pyfunc_predicts_with_the_method_that_was_chosen(
    classifier: Any, tmp_path: Path, mlflow: Any
) -> None:
    coterie.mlflow.save_model(classifier, tmp_path / "labels")
    coterie.mlflow.save_model(classifier, tmp_path / "shares", pyfunc_method="predict_proba")

    labels = mlflow.pyfunc.load_model(str(tmp_path / "labels"))
    shares = mlflow.pyfunc.load_model(str(tmp_path / "shares"))
    assert_array_equal(labels.predict(TABLE), classifier.predict(TABLE))
    assert_array_equal(shares.predict(TABLE), classifier.predict_proba(TABLE))


def test_the_signature_follows_from_an_example(tmp_path: Path, mlflow: Any) -> None:
    numbers = TABLE[["area", "rooms"]].astype(float)
    model = coterie.GradientBoostingRegressor(n_estimators=5).fit(numbers, PRICE)
    coterie.mlflow.save_model(
        model, tmp_path / "model", input_example=numbers[:5], metadata={"team": "rents"}
    )
    about = mlflow.models.Model.load(str(tmp_path / "model"))

    assert about.signature.inputs.input_names() == ["area", "rooms"]
    assert about.metadata == {"team": "rents"}
    assert about.flavors["coterie"]["model_class"] == "GradientBoostingRegressor"


def test_a_logged_model_is_loaded_from_its_run(mlflow: Any) -> None:
    table = TABLE[["area", "income", "town"]].astype({"town": object})  # MLflow takes no categories of pandas
    model = coterie.GradientBoostingRegressor(n_estimators=5, random_state=0).fit(table, PRICE)
    with mlflow.start_run():
        info = coterie.mlflow.log_model(model, "rents", input_example=table[:50])

    assert_array_equal(coterie.mlflow.load_model(info.model_uri).predict(table), model.predict(table))
    assert_array_equal(mlflow.pyfunc.load_model(info.model_uri).predict(table), model.predict(table))


def test_a_committee_with_members_of_scikit_learn_is_saved_without_pickle(tmp_path: Path) -> None:
    committee = coterie.CommitteeRegressor(None, portfolio=["linear", "forest"], random_state=0).fit(
        TABLE, PRICE
    )
    coterie.mlflow.save_model(committee, tmp_path / "model")

    assert_array_equal(coterie.mlflow.load_model(tmp_path / "model").predict(TABLE), committee.predict(TABLE))


@pytest.mark.parametrize(
    ("method", "message"),
    [("fit", "pyfunc_method='fit'.*expected one of predict"), ("predict_proba", "has no predict_proba")],
)
def test_a_method_that_is_not_there_is_refused(
    method: str, message: str, regressor: Any, tmp_path: Path
) -> None:
    with pytest.raises(InvalidParameter, match=message):
        coterie.mlflow.save_model(regressor, tmp_path / "model", pyfunc_method=method)
    assert not (tmp_path / "model").exists()


def test_a_folder_with_files_is_left_alone(regressor: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidInput, match="holds files"):
        coterie.mlflow.save_model(regressor, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("data: model.coterie", "data: ../other.coterie", "names the file"),
        ("pyfunc_method: predict", "pyfunc_method: __init__", "names the method"),
        ("  coterie:\n", "  other:\n", "holds a model of other, python_function"),
    ],
)
def test_a_description_that_was_tampered_with_is_refused(
    before: str, after: str, message: str, regressor: Any, tmp_path: Path
) -> None:
    coterie.mlflow.save_model(regressor, tmp_path / "model")
    description = tmp_path / "model" / "MLmodel"
    text = description.read_text(encoding="utf-8")
    assert before in text
    description.write_text(text.replace(before, after), encoding="utf-8")

    with pytest.raises(InvalidInput, match=message):
        coterie.mlflow.load_model(tmp_path / "model")


def test_a_pickle_in_the_place_of_the_model_is_not_opened(regressor: Any, tmp_path: Path) -> None:
    coterie.mlflow.save_model(regressor, tmp_path / "model")
    (tmp_path / "model" / "model.coterie").write_bytes(b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93.")

    with pytest.raises(ModelFileError):
        coterie.mlflow.load_model(tmp_path / "model")


def test_coterie_does_not_import_mlflow_before_it_is_used() -> None:
    assert coterie.mlflow.__name__ == "coterie.mlflow"
    assert sys.modules["coterie.mlflow"] is coterie.mlflow
