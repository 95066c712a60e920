"""Examples that need a package which few have are left out of doctests, and run here where it is installed."""

import doctest
import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import coterie.mlflow
from coterie.datasets import make_messy
from tests.helpers.repository import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]


def run(text: str, names: dict[str, Any]) -> doctest.TestResults:
    """Run examples, those that are left out as well."""
    text = text.replace("# doctest: +SKIP", "")
    examples = doctest.DocTestParser().get_doctest(text, names, "examples", None, 0)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    found = runner.run(examples, clear_globs=False)
    names.update(examples.globs)
    return found


def absent(package: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"not installed: {package}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    return tmp_path


@absent("optuna")
@pytest.mark.usefixtures("folder")
def test_the_page_on_tuning_runs_with_optuna() -> None:
    text = (ROOT / "docs/how-to/tuning.md").read_text(encoding="utf-8").replace("n_trials=30", "n_trials=2")
    names: dict[str, Any] = {}
    assert run(text, names).failed == 0
    assert set(names["study"].best_params) == {"learning_rate", "max_leaf_nodes", "l2_regularization"}


@absent("mlflow")
def test_the_examples_of_mlflow_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    mlflow.set_tracking_uri((folder / "runs").as_uri())
    experiment = mlflow.create_experiment("here", artifact_location=(folder / "artifacts").as_uri())
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", experiment)
    table, y = make_messy(300, task="regression", as_="pandas", missing=0.0)
    X = table[["area", "income"]]
    model = coterie.GradientBoostingRegressor(random_state=0).fit(X, y)
    names = {"coterie": coterie, "mlflow": mlflow, "model": model, "X": X, "table": X}

    for function in (coterie.mlflow.save_model, coterie.mlflow.log_model, coterie.mlflow.load_model):
        assert run(inspect.getdoc(function) or "", dict(names)) == (0, len(examples_of(function)))
    page = (ROOT / "docs/guide/serving.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```python\n(import coterie.mlflow\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(block, names)
    assert (names["service"].predict(X) == model.predict(X)).all()


def examples_of(function: Any) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")
