"""A model that was saved and loaded is the model: the same answers, parameters and everything that fit learned."""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import coterie
from tests.helpers.alike import differences
from tests.helpers.estimators import (
    ESTIMATORS,
    NETWORKS,
    answers,
    fingerprint,
    has,
    make,
    params_of,
    random_table,
)

pytestmark = pytest.mark.parametrize("estimator", ESTIMATORS)


def saved(model: Any) -> bytes:
    file = io.BytesIO()
    coterie.save(model, file)
    return file.getvalue()


def loaded(data: bytes) -> Any:
    return coterie.load(io.BytesIO(data))


def test_a_loaded_model_answers_with_the_same_bits(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator).fit(X, y)

    twin = loaded(saved(model))

    assert type(twin) is estimator
    assert np.array_equal(answers(twin, X), answers(model, X))
    assert params_of(twin) == params_of(model)
    assert fingerprint(twin) == fingerprint(model)
    assert differences(model, twin) == []


def test_a_loaded_model_is_saved_with_the_same_bytes(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    data = saved(make(estimator).fit(X, y))

    assert saved(loaded(data)) == data


def test_a_file_of_a_model_with_categories_and_gaps_knows_them(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    size = np.where(np.arange(len(X)) % 9 == 0, np.nan, X[:, 0])
    table = {"size": size, "town": np.array(["Oslo", "Rome", "Cork"])[np.digitize(X[:, 1], [-0.5, 0.5])]}
    model = make(estimator).fit(table, y)

    twin = loaded(saved(model))

    new = {"town": ["Rome", "Lima", None], "size": [0.0, 1.0, np.nan]}
    assert np.array_equal(answers(twin, new), answers(model, new))
    assert differences(model, twin) == []


def test_a_model_that_was_not_fitted_is_stored_as_its_parameters(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator)

    twin = loaded(saved(model))

    assert params_of(twin) == params_of(model)
    with pytest.raises(NotFittedError):
        answers(twin, X)
    assert fingerprint(twin.fit(X, y)) == fingerprint(model.fit(X, y))
    assert fingerprint(clone(twin).fit(X, y)) == fingerprint(model)


def test_a_loaded_model_goes_on_where_the_saved_one_was(estimator: type[Any]) -> None:
    if not has(estimator, "warm_start", "n_estimators"):
        assert not hasattr(make(estimator), "warm_start")
        return
    X, y = random_table(estimator)
    model = make(estimator, n_estimators=3, warm_start=True).fit(X, y)

    twin = loaded(saved(model)).set_params(n_estimators=5).fit(X, y)

    assert fingerprint(twin) == fingerprint(model.set_params(n_estimators=5).fit(X, y))


def test_the_summary_knows_the_class(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator).fit(X, y)

    summary = coterie.inspect_file(io.BytesIO(saved(model)))

    assert summary.model == estimator.__name__
    assert summary.n_features == 4
    assert summary.n_trees >= 1 or estimator in NETWORKS
    assert str(summary).startswith(f"{estimator.__name__}, {summary.n_bytes:,} bytes")
    if hasattr(model, "classes_"):
        assert summary.classes == ["blue", "green", "red"]


_ANOTHER_PROCESS = """
import sys
from pathlib import Path

import numpy as np

import coterie

folder = Path(sys.argv[1])
X = np.load(folder / "X.npy")
for file in sorted(folder.glob("*.model")):
    model = coterie.load(file)
    methods = ("predict_proba", "score_samples", "predict", "transform")
    said = next(getattr(model, name) for name in methods if hasattr(model, name))(X)
    np.save(file.with_suffix(".npy"), said.toarray() if hasattr(said, "toarray") else said)
"""


@pytest.fixture(scope="module")
def answers_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All models in files, and what another process answers with them."""
    folder = tmp_path_factory.mktemp("models")
    for each in ESTIMATORS:
        X, y = random_table(each)
        np.save(folder / "X.npy", X)
        coterie.save(make(each).fit(X, y), folder / f"{each.__name__}.model")
    subprocess.run([sys.executable, "-c", _ANOTHER_PROCESS, str(folder)], check=True, timeout=120)
    return folder


def test_another_process_answers_with_the_same_bits(estimator: type[Any], answers_elsewhere: Path) -> None:
    X, y = random_table(estimator)

    said = np.load(answers_elsewhere / f"{estimator.__name__}.npy")

    assert np.array_equal(said, answers(make(estimator).fit(X, y), X))
