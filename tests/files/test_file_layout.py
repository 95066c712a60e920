"""The bytes of a file: safetensors reads them, the same model has the same ones, and each of them has a guard."""

import io
import json
import pickle
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

import coterie
from coterie.errors import InvalidType, ModelFileError
from coterie.files import container
from coterie.files.upgrades import FORMAT
from tests.helpers.mutations import Opened, loaded, stored


@pytest.fixture(scope="module")
def small() -> bytes:
    """A file of a few kilobytes."""
    return stored(coterie.DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"]))


def test_safetensors_reads_the_file(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = coterie.GradientBoostingRegressor(n_estimators=3).fit(X, X[:, 0])
    coterie.save(model, tmp_path / "model")

    with safe_open(tmp_path / "model", framework="np") as file:
        assert file.metadata()["coterie_format"] == str(FORMAT)
        assert np.array_equal(file.get_tensor("baseline_"), model.baseline_)
        trees = [model.forest_.tree(i) for i in range(3)]
        leaves = np.concatenate([tree.value[tree.feature < 0, 0] for tree in trees])
        assert np.array_equal(file.get_tensor("forest_.leaf_value"), leaves)


def test_tensors_are_aligned_for_mapping(small: bytes) -> None:
    start = 8 + int.from_bytes(small[:8], "little")
    assert start % 8 == 0
    header = Opened(small)
    sizes = [array.dtype.itemsize for array in header.tensors.values()]
    assert sizes == sorted(sizes, reverse=True)


def unnoticed(data: bytes, bits: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Which of these bits can be flipped without an error."""
    changed = bytearray(data)
    found = []
    for place, bit in bits:
        changed[place] ^= 1 << bit
        try:
            loaded(bytes(changed))
            found.append((place, bit))
        except ModelFileError:
            pass
        changed[place] ^= 1 << bit
    assert bytes(changed) == data
    return found


def test_a_flipped_bit_of_any_byte_is_noticed(small: bytes) -> None:
    assert unnoticed(small, [(place, place % 8) for place in range(len(small))]) == []


@pytest.mark.slow
def test_every_flipped_bit_is_noticed(small: bytes) -> None:
    assert unnoticed(small, [(place, bit) for place in range(len(small)) for bit in range(8)]) == []


def test_a_file_that_was_cut_off_anywhere_is_refused(small: bytes) -> None:
    for length in range(len(small)):
        with pytest.raises(ModelFileError):
            loaded(small[:length])


def test_a_file_with_something_after_its_end_is_refused(small: bytes) -> None:
    for more in (b"\0", b" ", small, small[-32:]):
        with pytest.raises(ModelFileError):
            loaded(small + more)


def test_the_order_of_the_work_does_not_change_the_bytes() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    one, two = (
        stored(
            coterie.RandomForestRegressor(n_estimators=4, random_state=0, n_jobs=n)
            .fit(X, X[:, 0])
            .set_params(n_jobs=1)
        )
        for n in (1, 3)
    )
    assert one == two


def test_other_files_are_told_by_name(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("model.json", "{}" * 100)
    others = {
        "pickle": (pickle.dumps(list(range(1000))), "looks like a pickle"),
        "zip": (packed.getvalue(), "is a zip file"),
        "text": (b"# a model\n" * 30, "begins with"),
        "json": (b'{"learner": {}}' * 20, "begins like JSON"),
        "lightgbm": (b"tree\nversion=v4\n" * 20, "LightGBM"),
        "empty": (b"", "it is empty"),
        "short": (b"abc", "too short"),
        "zeros": (bytes(1000), "begins with"),
    }
    for name, (content, words) in others.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=words) as caught:
            coterie.load(path)
        assert str(path) in str(caught.value)


def test_what_is_no_file_is_told_too(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        coterie.load(tmp_path / "nowhere")
    with pytest.raises(ModelFileError, match="is a folder"):
        coterie.load(tmp_path)
    with pytest.raises(ModelFileError, match="is a folder"):
        coterie.save(coterie.DecisionTreeRegressor(), tmp_path)
    with pytest.raises(InvalidType, match="path=7"):
        coterie.load(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="path=7"):
        coterie.save(coterie.DecisionTreeRegressor(), 7)  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="'rb'"):
        coterie.load(io.StringIO("text"))  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="trusted"):
        coterie.load(tmp_path / "nowhere", trusted="sklearn.tree._tree.Tree")


def test_safetensors_of_somebody_else_are_no_model(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"weights": np.zeros((20, 20))}, tmp_path / "other")
    with pytest.raises(ModelFileError):
        coterie.load(tmp_path / "other")


def test_a_later_format_is_refused_in_a_sentence(small: bytes) -> None:
    opened = Opened(small)
    opened.metadata |= {"coterie_format": str(FORMAT + 1), "coterie_version": "9.0.0"}
    with pytest.raises(
        ModelFileError,
        match=rf"'9.0.0' in format {FORMAT + 1}.*reads formats up to {FORMAT}. Install a newer coterie",
    ):
        loaded(opened.data())


@pytest.mark.parametrize("format_", ["", "0", "-1", "1.0", "one", "١", "1" * 30])
def test_a_format_that_is_no_number_is_refused(small: bytes, format_: str) -> None:
    opened = Opened(small)
    opened.metadata["coterie_format"] = format_
    with pytest.raises(ModelFileError, match=r"coterie_format|in format"):
        loaded(opened.data())


def test_a_summary_reads_no_tensors_but_the_classes(small: bytes) -> None:
    damaged = bytearray(small)
    place = small.index(np.array([0.5]).tobytes(), 8 + int.from_bytes(small[:8], "little"))
    damaged[place] ^= 1

    summary = coterie.inspect_file(io.BytesIO(bytes(damaged)))

    assert (summary.model, summary.n_trees, summary.classes) == ("DecisionTreeClassifier", 1, ["a", "b"])
    assert summary.format == FORMAT
    assert summary.params["max_depth"] == 1
    with pytest.raises(ModelFileError, match=r"tensor 'tree_.native.cuts', which is damaged"):
        loaded(bytes(damaged))


def test_numbers_as_classes_are_in_the_summary() -> None:
    model = coterie.RandomForestClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0]], [3, 5, 5])
    summary = coterie.inspect_file(io.BytesIO(stored(model)))
    assert summary.classes == [3, 5]
    assert "trees: 2" in str(summary)


def test_the_summary_knows_the_largest_tensors() -> None:
    model = coterie.RandomForestRegressor(n_estimators=2, random_state=0).fit(
        [[float(i)] for i in range(40)], range(40)
    )
    data = stored(model)
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    sizes = {name: np.ptp(entry["data_offsets"]) for name, entry in header.items() if name != "__metadata__"}

    largest = coterie.inspect_file(io.BytesIO(data)).largest
    assert dict(largest) == {name: sizes[name] for name, _ in largest}
    assert max(sizes.values()) == largest[0][1] > 0


def random_bytes(n: int) -> list[bytes]:
    rng = random.Random(0)
    return [rng.randbytes(rng.randrange(300)) for _ in range(n)]


def test_random_bytes_are_refused() -> None:
    for data in random_bytes(500):
        with pytest.raises(ModelFileError):
            loaded(data)


def test_a_file_object_may_be_given(small: bytes, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(small)
    with open(tmp_path / "m", "rb") as file:
        model: Any = coterie.load(file)
    assert model.predict([[2.0]]).tolist() == ["b"]


_MEASURED = """
import resource
import sys

import coterie

coterie.load(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
coterie.load(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
def test_loading_takes_no_more_than_twice_the_memory_of_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 10))
    y = X[:, 0] + rng.normal(size=40_000)
    for name, model in {
        "forest": coterie.RandomForestRegressor(n_estimators=30, random_state=0),
        "boosting": coterie.GradientBoostingRegressor(n_estimators=500, max_leaf_nodes=255, random_state=0),
    }.items():
        coterie.save(model.fit(X[:50], y[:50]), tmp_path / "small")
        coterie.save(model.fit(X, y), tmp_path / name)
        run = subprocess.run(
            [sys.executable, "-c", _MEASURED, str(tmp_path / "small"), str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert 1024 * int(run.stdout) < 2.2 * (tmp_path / name).stat().st_size


@pytest.mark.parametrize("offsets", [[2**63, 2**63 + 8], [-8, 0], [0.0, 8.0], [0, 4, 8]])
def test_places_are_two_whole_numbers_that_a_file_can_have(offsets: list[Any]) -> None:
    with pytest.raises(ModelFileError, match="expected two places"):
        container._check_entry({"dtype": "F64", "shape": [1], "data_offsets": offsets}, "x")
