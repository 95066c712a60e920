"""The same model in fewer bytes, and a model whose arrays stay in its file."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie.errors import InvalidInput, InvalidType, ModelFileError
from coterie.files import container
from coterie.files.arrays import coded_array, decoded_array, most_decoded
from coterie.files.container import Container, is_mapped
from coterie.files.source import opened
from tests.helpers.mutations import Opened, loaded, stored, stored_plainly

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
Y = X[:, 0] + X[:, 1] ** 2
LABELS = np.array(["low", "high"])[(Y > 1).astype(int)]
TABLE = {"size": X[:, 0], "town": np.array(["Oslo", "Rome", "Cork"])[np.digitize(X[:, 1], [-0.4, 0.4])]}


def models() -> dict[str, tuple[Any, Any]]:
    small: dict[str, Any] = {"n_estimators": 5, "random_state": 0}
    return {
        "forest": (coterie.RandomForestClassifier(**small).fit(X, LABELS), X),
        "categories": (coterie.ExtraTreesRegressor(bootstrap=True, **small).fit(TABLE, Y), TABLE),
        "boosting": (coterie.GradientBoostingRegressor(**small).fit(X, Y), X),
        "sets": (coterie.GradientBoostingClassifier(**small).fit(TABLE, LABELS), TABLE),
        "lines": (coterie.GradientBoostingRegressor(linear_leaves=True, **small).fit(X, Y), X),
        "tree": (coterie.DecisionTreeRegressor().fit(TABLE, Y), TABLE),
        "stumps": (coterie.AdaBoostClassifier(**small).fit(TABLE, LABELS), TABLE),
    }


@pytest.fixture(scope="module")
def fitted() -> dict[str, tuple[Any, Any]]:
    return models()


NAMES = ("forest", "categories", "boosting", "sets", "lines", "tree", "stumps")


@pytest.mark.parametrize("name", NAMES)
def test_a_compact_model_is_the_same_in_fewer_bytes(fitted: Any, name: str) -> None:
    model, table = fitted[name]
    short, plain = stored(model), stored_plainly(model)

    for data in (short, plain):
        again = loaded(data)
        assert np.array_equal(again.predict(table), model.predict(table))
        assert np.array_equal(again.feature_importances_, model.feature_importances_)
        assert stored(again) == short
        assert stored_plainly(again) == plain
    if name != "stumps":
        assert len(short) < 0.75 * len(plain)


def test_the_numbers_of_every_tree_are_the_same_bits(fitted: Any) -> None:
    for name in ("boosting", "sets", "lines"):
        model, _ = fitted[name]
        again = loaded(stored(model))
        for place in range(len(model.forest_)):
            mine, other = model.forest_.tree(place).state(), again.forest_.tree(place).state()
            assert all(np.asarray(mine[key]).tobytes() == np.asarray(other[key]).tobytes() for key in mine)


def test_arrays_of_any_type_come_back_with_all_bits() -> None:
    rng = np.random.default_rng(1)
    for dtype in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"):
        array = (rng.integers(0, 2 if dtype == "?" else 9, (40, 30))).astype(dtype)
        found = coded_array(array)
        assert found is not None
        assert len(found[0]) < array.nbytes
        node = {"dtype": found[1], "shape": [40, 30]}
        again = decoded_array(node, found[0], lambda _: None)
        assert again.dtype == array.dtype
        assert np.array_equal(again, array)
    odd = np.full(600, np.nan)
    odd[::3] = -0.0
    found = coded_array(odd)
    assert found is not None
    again = decoded_array({"dtype": "F64", "shape": [600]}, found[0], lambda _: None)
    assert again.tobytes() == odd.tobytes()
    assert coded_array(np.frombuffer(rng.bytes(8000), dtype="f8")) is None
    assert coded_array(np.zeros(3)) is None


def test_a_byte_that_is_neither_true_nor_false_is_refused() -> None:
    found = coded_array(np.full(1000, 2, dtype=np.uint8))
    assert found is not None
    with pytest.raises(ModelFileError, match="neither true nor false"):
        decoded_array({"dtype": "BOOL", "shape": [1000]}, found[0], lambda _: None)


def test_a_model_of_next_to_nothing_is_stored_without_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.files.arrays._ALWAYS", 0)
    monkeypatch.setattr("coterie.files.arrays._MOST_TIMES", 0)
    assert most_decoded(10**9) == 0
    model = coterie.GradientBoostingRegressor(n_estimators=3).fit(X, Y)
    data = stored(model)

    assert not any("coded" in node for node in Opened(data).nodes)
    assert np.array_equal(loaded(data).predict(X), model.predict(X))


@pytest.fixture
def path(fitted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A forest in a file whose arrays are all worth mapping."""
    monkeypatch.setattr(container, "_WORTH_MAPPING", 1)
    path = tmp_path / "forest"
    coterie.save(fitted["forest"][0], path, compact=False)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_mapped_model_is_the_same(
    fitted: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "_WORTH_MAPPING", 1)
    model, table = fitted[name]
    for compact in (True, False):
        coterie.save(model, tmp_path / "model", compact=compact)
        again = coterie.load(tmp_path / "model", mmap=True)
        assert np.array_equal(again.predict(table), model.predict(table))
        assert stored(again) == stored(model)


def test_a_mapped_forest_can_do_everything(fitted: Any, path: Path) -> None:
    model, _ = fitted["forest"]
    again = coterie.load(path, mmap=True)
    path.unlink()  # what is mapped stays there

    assert np.array_equal(again.apply(X), model.apply(X))
    assert np.array_equal(again.explain(X[:2]).values, model.explain(X[:2]).values)
    assert np.array_equal(again.oob_importances().importances_mean, model.oob_importances().importances_mean)
    assert np.array_equal(again.oob_decision_function_, model.oob_decision_function_, equal_nan=True)
    assert np.array_equal(again.estimators_[1].predict(X), model.estimators_[1].predict(X))
    for each in (again, model):
        each.set_params(n_estimators=7, warm_start=True).fit(X, LABELS)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    model.set_params(n_estimators=5, warm_start=False).fit(X, LABELS)


def test_a_saved_file_takes_the_place_of_one_that_is_mapped(fitted: Any, path: Path) -> None:
    model, _ = fitted["forest"]
    again = coterie.load(path, mmap=True)
    coterie.save(fitted["boosting"][0], path)

    assert np.array_equal(again.predict(X), model.predict(X))


def test_arrays_of_a_mapped_file_stay_there(path: Path) -> None:
    with opened(path) as source:
        held = Container(source, mapped=True)
        held.read_hashes()
        assert is_mapped(held.tensor("forest_.nodes"))
        assert is_mapped(held.tensor("forest_.nodes")[3:, :2])
        assert not is_mapped(np.zeros(3))


def test_a_damaged_tree_is_noticed_when_it_is_first_used(fitted: Any, path: Path) -> None:
    changed = Opened(path.read_bytes())
    nodes = changed.tensors["forest_.nodes"]
    n_first = int(changed.tensors["forest_.n_nodes"][0])
    nodes[n_first, 0] = 10**6  # the root of the second tree
    path.write_bytes(changed.data())

    with pytest.raises(ModelFileError, match="Node 0 of tree 1 has children that do not come after it"):
        coterie.load(path)
    again = coterie.load(path, mmap=True)
    for question in (again.predict, again.predict_proba, again.apply, again.explain):
        with pytest.raises(InvalidInput, match="Node 0 of tree 1 has children that do not come after it"):
            question(X)
    with pytest.raises(InvalidInput, match="Node 0 of tree 1"):
        again.oob_importances()
    assert np.array_equal(again.estimators_[0].predict(X), fitted["forest"][0].estimators_[0].predict(X))


def test_lengths_of_a_mapped_file_are_checked_at_once(path: Path) -> None:
    for name in ("nodes", "answers", "thresholds"):
        changed = Opened(path.read_bytes())
        tensor = f"forest_.{name}"
        changed.tensors[tensor] = changed.tensors[tensor][:-1]
        other = path.with_name("other")
        other.write_bytes(changed.data())
        with pytest.raises(ModelFileError, match=r"entries in|not there|belong to no tree"):
            coterie.load(other, mmap=True)


def test_only_files_can_be_mapped(fitted: Any) -> None:
    with pytest.raises(InvalidType, match="mmap=True needs the path of a file"):
        coterie.load(io.BytesIO(stored(fitted["tree"][0])), mmap=True)
