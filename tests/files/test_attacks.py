"""Files made by hand to do harm, all with the right checksums: each is refused at load, in a sentence."""

import builtins
import hashlib
import io
import json
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import coterie
from coterie.errors import ModelFileError
from coterie.files.container import chunks_of
from tests.helpers.mutations import Opened, loaded, stored, stored_plainly

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
TABLE = {"size": X[:, 0], "town": np.array(["Oslo", "Rome", "Cork"])[np.digitize(X[:, 1], [-0.4, 0.4])]}
LABELS = np.where((X[:, 0] > 0) ^ (TABLE["town"] == "Rome"), "high", "low")


@pytest.fixture(scope="module")
def streams() -> dict[str, bytes]:
    """Files as they are written today."""
    return _stored(stored)


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """Files in which every array of every tree is as it is."""
    return _stored(stored_plainly)


def _stored(store: Callable[[Any], bytes]) -> dict[str, bytes]:
    models = {
        "boosting": coterie.GradientBoostingClassifier(n_estimators=3, min_samples_leaf=2),
        "forest": coterie.RandomForestClassifier(n_estimators=3, random_state=0),
        "tree": coterie.DecisionTreeClassifier(),
        "stumps": coterie.AdaBoostClassifier(n_estimators=3),
    }
    found = {name: store(model.fit(TABLE, LABELS)) for name, model in models.items()}
    members = [("a", coterie.DecisionTreeClassifier()), ("b", coterie.DecisionTreeClassifier(max_depth=1))]
    found["voting"] = store(coterie.VotingClassifier(members).fit(X, LABELS))
    return found


def assert_refused(data: bytes, words: str) -> None:
    """The file is refused when it is loaded, and the message says why."""
    with pytest.raises(ModelFileError, match=words):
        loaded(data)


def changed(data: bytes, name: str, attribute: str, change: Callable[[Any], Any]) -> bytes:
    """The file with another tensor."""
    opened = Opened(data)
    tensor = opened.tensor_of(name, attribute)
    array = opened.tensors[tensor].copy()
    made = change(array)
    opened.tensors[tensor] = array if made is None else made
    return opened.data()


def put(place: Any, value: Any) -> Callable[[Any], None]:
    return lambda array: array.__setitem__(place, value)


CHILDREN = [0, 10**6, 2**31, 2**32 - 1]


@pytest.mark.parametrize("child", CHILDREN)
def test_children_that_are_parents_or_nowhere(files: dict[str, bytes], child: int) -> None:
    assert_refused(
        changed(files["boosting"], "engine.Forest", "left", put(0, child)), "children outside the tree"
    )
    assert_refused(changed(files["tree"], "engine.Tree", "left", put(0, child)), "children outside the tree")
    assert_refused(
        changed(files["forest"], "engine.PackedForest", "nodes", put((0, 0), child)),
        "Node 0 of tree 0 has children that do not come after it",
    )


@pytest.mark.parametrize("pair", [10**6, 2**31, 2**32 - 1])
def test_pairs_of_children_that_are_nowhere(streams: dict[str, bytes], pair: int) -> None:
    for name, spec in (
        ("boosting", "engine.Forest"),
        ("tree", "engine.Tree"),
        ("forest", "engine.PackedForest"),
    ):
        opened = Opened(streams[name])
        state = opened.node(spec)["state"]
        n_splits = int(np.count_nonzero(opened.tensors[opened.tensor_of(spec, "is_split")]))
        pairs = np.zeros(n_splits, dtype=np.uint32)
        pairs[-1] = pair
        if "pair" not in state:
            opened.nodes.insert(0, {"array": "pairs"})
            for node in opened.nodes[1:]:
                _shift(node)
            state["pair"] = {"ref": 0}
            opened.tensors["pairs"] = pairs
        else:
            opened.tensors[opened.tensor_of(spec, "pair")] = pairs
        assert_refused(opened.data(), "children|shares a child")


def test_splits_that_make_no_tree(streams: dict[str, bytes]) -> None:
    for name, spec in (
        ("boosting", "engine.Forest"),
        ("tree", "engine.Tree"),
        ("forest", "engine.PackedForest"),
    ):
        for change in (put(0, 0), put(-1, 1), put(slice(None), 1)):
            assert_refused(changed(streams[name], spec, "is_split", change), "refused by the engine: ")


def test_cuts_and_codes_that_do_not_exist(streams: dict[str, bytes]) -> None:
    assert_refused(
        changed(streams["boosting"], "engine.Forest", "cut", put(0, 10**6)), "a cut that does not exist"
    )
    assert_refused(
        changed(streams["boosting"], "engine.Forest", "feature", put(0, 9)), "a feature that does not"
    )
    assert_refused(
        changed(streams["boosting"], "engine.Forest", "features", put(0, 9)), "a feature that does not"
    )
    assert_refused(changed(streams["boosting"], "engine.Forest", "n_nodes", put(0, 2**32 - 1)), "entries in")
    assert_refused(
        changed(streams["forest"], "engine.PackedForest", "code", put(0, 60_000)), "a code that does not"
    )
    assert_refused(
        changed(streams["forest"], "engine.PackedForest", "feature", put(0, 9)), "splits on feature 9"
    )
    assert_refused(
        changed(streams["forest"], "engine.PackedForest", "answer", put(0, 10**6)), "names a leaf value"
    )
    assert_refused(
        changed(streams["forest"], "engine.PackedForest", "answer", lambda own: own[1:]), "differ in length"
    )


def test_nodes_in_two_forms(files: dict[str, bytes], streams: dict[str, bytes]) -> None:
    opened = Opened(streams["forest"])
    del opened.node("engine.PackedForest")["state"]["code"]
    assert_refused(opened.data(), "not all that makes them|no node uses|nodes that the model does not use")
    opened = Opened(files["boosting"])
    opened.node("engine.Forest")["state"]["cuts"] = opened.node("engine.Forest")["state"]["value"]
    assert_refused(opened.data(), "does not belong to the others")


def test_a_short_file_that_is_a_long_array() -> None:
    few = np.frombuffer(b"\x01\x01\0\0\0" + bytes(8), dtype=np.uint8)
    for shape in ([2**40], [2**20, 2**20], [2**24] * 2):
        opened = Opened(stored(coterie.GradientBoostingRegressor(n_estimators=1).fit(X, X[:, 0])))
        name = str(opened.nodes[opened.nodes[-1]["state"]["baseline_"]["ref"]]["array"])
        opened.nodes[opened.nodes[-1]["state"]["baseline_"]["ref"]] = {
            "coded": name,
            "dtype": "F64",
            "shape": shape,
        }
        opened.tensors[name] = few
        assert_refused(opened.data(), "would be an array of")


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"dtype": "F32", "shape": [1]}, "cannot be decoded"),
        ({"dtype": "F64", "shape": [0]}, "of the shape"),
        ({"dtype": "F64", "shape": [1.0]}, "of the shape"),
        ({"dtype": "F64", "shape": [-1]}, "of the shape"),
        ({"dtype": "F64", "shape": None}, "of the shape"),
        ({"dtype": "C64", "shape": [1]}, "of an unknown type"),
        ({"dtype": "F64"}, "of the shape"),
        ({"dtype": "F64", "shape": [1], "more": 1}, "has no place"),
    ],
)
def test_codes_that_are_none(node: dict[str, Any], words: str) -> None:
    opened = Opened(stored(coterie.GradientBoostingRegressor(n_estimators=1).fit(X, X[:, 0])))
    place = opened.nodes[-1]["state"]["baseline_"]["ref"]
    name = str(opened.nodes[place]["array"])
    opened.tensors[name] = np.frombuffer(b"\x01\x01\0\0\0" + bytes(8), dtype=np.uint8)
    opened.nodes[place] = {"coded": name, **node}
    assert_refused(opened.data(), words)


def test_a_child_with_two_parents(files: dict[str, bytes]) -> None:
    data = files["forest"]
    opened = Opened(data)
    nodes = opened.tensors[opened.tensor_of("engine.PackedForest", "nodes")]
    splits = np.flatnonzero(
        nodes[: int(opened.tensors[opened.tensor_of("engine.PackedForest", "n_nodes")][0]), 1] < 2**31
    )
    one, other = splits[0], splits[1]
    nodes[other, 0] = nodes[one, 0] if nodes[one, 0] > other else nodes[other, 0] - 2
    assert_refused(opened.data(), "of tree 0 ")


@pytest.mark.parametrize("feature", [2, 1000, 2**31 - 1, -2])
def test_features_that_the_table_does_not_have(files: dict[str, bytes], feature: int) -> None:
    assert_refused(
        changed(files["boosting"], "engine.Forest", "feature", put(0, feature)), "splits on feature|refused"
    )
    assert_refused(
        changed(files["tree"], "engine.Tree", "feature", put(0, feature)),
        "splits on feature|that its table does not have",
    )


def test_a_leaf_that_splits_on_a_feature(files: dict[str, bytes]) -> None:
    def ask(nodes: Any) -> None:
        leaf = np.flatnonzero(nodes[:, 1] >= 2**31)[0]
        nodes[leaf, 1] |= 2**29 - 1

    assert_refused(
        changed(files["forest"], "engine.PackedForest", "nodes", ask), "of tree 0 is a leaf that splits on"
    )


def test_answers_that_are_not_there(files: dict[str, bytes]) -> None:
    def far(nodes: Any) -> None:
        nodes[np.flatnonzero(nodes[:, 1] >= 2**31)[0], 0] = 10**6

    assert_refused(changed(files["forest"], "engine.PackedForest", "nodes", far), "names a leaf value")


def test_sets_of_categories_that_are_too_long_or_not_there(files: dict[str, bytes]) -> None:
    def name_set(levels: Any) -> None:
        levels[0] = 7

    assert_refused(
        changed(files["boosting"], "engine.Forest", "levels", name_set), "level set that does not exist"
    )
    assert_refused(
        changed(files["tree"], "engine.Tree", "level_bits", lambda bits: np.append(bits, bits[:1])),
        "four words each",
    )
    assert_refused(changed(files["tree"], "Coding", "code", put(0, 255)), "code does not exist")
    assert_refused(
        changed(files["forest"], "engine.PackedForest", "ranks", lambda ranks: ranks[:-1]), "entries in ranks"
    )


def test_thresholds_that_are_no_numbers(files: dict[str, bytes]) -> None:
    def spoil(thresholds: Any) -> None:
        thresholds[:] = np.nan

    assert_refused(changed(files["boosting"], "engine.Forest", "threshold", spoil), "NaN as its threshold")
    assert_refused(changed(files["tree"], "engine.Tree", "threshold", spoil), "NaN as its threshold")
    assert_refused(changed(files["forest"], "engine.PackedForest", "thresholds", spoil), "do not ascend")
    assert_refused(changed(files["stumps"], "engine.StumpTable", "cuts", spoil), "out of order")


@pytest.mark.parametrize("length", [2**31, 2**31 - 1, 2**32 - 1])
def test_lengths_of_two_to_the_31(files: dict[str, bytes], length: int) -> None:
    assert_refused(changed(files["boosting"], "engine.Forest", "n_feature", put(0, length)), "entries in")
    assert_refused(
        changed(files["forest"], "engine.PackedForest", "n_nodes", put(0, length)), "nodes that are not there"
    )
    opened = Opened(files["forest"])
    opened.node("engine.PackedForest")["state"]["n_columns"] = length
    assert_refused(opened.data(), "refused by the engine|another number of outputs")


def with_header(data: bytes, change: Callable[[Any], None]) -> bytes:
    """The file with another header, and the checksum that belongs to it."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    change(header)
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 64)
    start = len(text).to_bytes(8, "little") + text
    return start + data[8 + length : -32] + hashlib.blake2b(start, digest_size=32).digest()


@pytest.mark.parametrize(
    "shape", [[2**31], [2**62, 2], [2**63 - 1], [0, 2**62], [-1], [1.0], [[1]], "x", [1] * 9]
)
def test_shapes_that_promise_more_than_the_file_has(files: dict[str, bytes], shape: Any) -> None:
    def promise(header: Any) -> None:
        header["tree_.native.threshold"]["shape"] = shape

    assert_refused(with_header(files["tree"], promise), "tensor 'tree_.native.threshold'")


@pytest.mark.parametrize(
    "offsets", [[0, 2**40], [-8, 0], [8, 0], [0], ["0", "8"], [0, 8, 16], [2**70, 2**70 + 8]]
)
def test_places_outside_the_file(files: dict[str, bytes], offsets: Any) -> None:
    def move(header: Any) -> None:
        header["tree_.native.threshold"]["data_offsets"] = offsets

    assert_refused(with_header(files["tree"], move), "tensor 'tree_.native.threshold'")


def test_tensors_that_overlap(files: dict[str, bytes]) -> None:
    def overlap(header: Any) -> None:
        header["tree_.native.gain"]["data_offsets"] = header["tree_.native.cover"]["data_offsets"]

    assert_refused(with_header(files["tree"], overlap), "begins at byte")


@pytest.mark.parametrize("mark", ["[", '{"a":'])
def test_nesting_of_100_000(mark: str) -> None:
    deep = mark * 100_000 + "0" + {"[": "]", '{"a":': "}"}[mark] * 100_000
    data = b"".join(
        bytes(chunk)
        for chunk in chunks_of({"coterie_format": "1", "coterie_version": "0", "model": deep}, {})
    )
    assert_refused(data, "nested 100000 deep")


def test_a_header_of_nothing_but_brackets() -> None:
    opened = b"[" * 2_000_000
    text = opened + b" " * (-len(opened) % 64)

    start = len(text).to_bytes(8, "little") + b"{" + text[1:]
    assert_refused(start + hashlib.blake2b(start, digest_size=32).digest(), "values, and at most|nested")


def test_names_that_come_twice(files: dict[str, bytes]) -> None:
    opened = Opened(files["tree"])
    opened.node("Schema")["state"]["names"] = {"tuple": ["size", "size"]}
    assert_refused(opened.data(), "two columns of the same name")

    raw = files["tree"]
    length = int.from_bytes(raw[:8], "little")
    text = raw[8 : 8 + length].rstrip(b" ")
    doubled = text[:-1] + b"," + text[1:]
    doubled += b" " * (-len(doubled) % 64)

    start = len(doubled).to_bytes(8, "little") + doubled
    data = start + raw[8 + length : -32] + hashlib.blake2b(start, digest_size=32).digest()
    assert_refused(data, "a name may come twice")


def test_classes_and_attributes_that_are_not_on_the_list(files: dict[str, bytes], monkeypatch: Any) -> None:
    def no_import(name: str, *rest: Any, **more: Any) -> Any:
        assert "antigravity" not in name
        return real(name, *rest, **more)

    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", no_import)
    for name in (
        "antigravity",
        "os.system",
        "builtins.eval",
        "sklearn.tree.DecisionTreeClassifier",
        "object",
        "",
    ):
        opened = Opened(files["tree"])
        opened.nodes[-1]["class"] = name
        assert_refused(opened.data(), "does not know")
    for name in ("__class__", "__dict__", "predict", "_estimator_type", "forest_"):
        opened = Opened(files["tree"])
        opened.nodes[-1]["state"][name] = 1
        assert_refused(opened.data(), "not one of a DecisionTreeClassifier")
    for name in ("__init__", "n_estimators"):
        opened = Opened(files["tree"])
        opened.nodes[-1]["params"][name] = 1
        assert_refused(opened.data(), "has a parameter")
    assert "antigravity" not in sys.modules


def test_attributes_of_another_kind(files: dict[str, bytes]) -> None:
    for attribute, value in [
        ("n_features_in_", "2"),
        ("n_features_in_", -1),
        ("classes_", [1]),
        ("tree_", None),
    ]:
        opened = Opened(files["tree"])
        opened.nodes[-1]["state"][attribute] = value
        assert_refused(opened.data(), rf"has {attribute} = ")


def test_parts_of_two_models(files: dict[str, bytes]) -> None:
    opened = Opened(files["tree"])
    opened.nodes[-1]["state"]["n_features_in_"] = 3
    assert_refused(opened.data(), "has 3 features and a schema of 2")
    opened = Opened(files["forest"])
    opened.nodes[-1]["state"]["n_estimators_"] = 10**9
    assert_refused(opened.data(), "has n_estimators_ = 1000000000 and 3 trees")


def test_rows_that_do_not_fit_the_forest_that_remembers_them(files: dict[str, bytes]) -> None:
    memory = "engine.ForestMemory"
    assert_refused(
        changed(files["forest"], memory, "codes", put(slice(None), 60_000)), "level that does not exist"
    )
    assert_refused(changed(files["forest"], memory, "order", put(0, 10**6)), "refused|keeps rows")
    assert_refused(
        changed(files["forest"], memory, "n_levels", put(1, 5)), "refused|keeps rows of other categories"
    )
    assert_refused(
        changed(files["forest"], memory, "n_classes", put(0, 2**31)), "impossible number of classes"
    )
    assert_refused(changed(files["forest"], memory, "targets", put(0, np.nan)), "no number")
    opened = Opened(files["forest"])
    opened.node(memory)["state"]["n_table_rows"] = 2**40
    assert_refused(opened.data(), "rows of a table of")


def test_references_forward_to_itself_and_round_and_round(files: dict[str, bytes]) -> None:
    for place in (len(Opened(files["tree"]).nodes) - 1, 10**9, -1, True, "0", None):
        opened = Opened(files["tree"])
        opened.nodes[-1]["state"]["tree_"] = {"ref": place}
        assert_refused(opened.data(), "refers to node|has tree_ =")


def test_a_few_nodes_that_refer_to_each_other_a_million_times(files: dict[str, bytes]) -> None:
    opened = Opened(files["voting"])
    root = opened.nodes[-1]
    for _ in range(20):
        again = json.loads(json.dumps(root))
        again["params"]["estimators"] = [{"tuple": [name, {"ref": len(opened.nodes) - 1}]} for name in "ab"]
        opened.nodes.append(again)
    assert_refused(opened.data(), "over and over")


def test_a_nest_of_a_thousand_models(files: dict[str, bytes]) -> None:
    opened = Opened(files["voting"])
    root = opened.nodes[-1]
    for _ in range(150):
        again = json.loads(json.dumps(root))
        again["params"]["estimators"] = [{"tuple": ["a", {"ref": len(opened.nodes) - 1}]}]
        opened.nodes.append(again)
    assert_refused(opened.data(), "nested more than 100 deep|over and over")


def test_tensors_and_nodes_that_nobody_uses(files: dict[str, bytes]) -> None:
    opened = Opened(files["tree"])
    opened.tensors["more"] = np.zeros(3)
    assert_refused(opened.data(), "no node uses the tensor 'more'")
    opened = Opened(files["tree"])
    opened.nodes.insert(0, {"items": [], "shape": [0], "as": "O"})
    for node in opened.nodes[1:]:
        _shift(node)
    assert_refused(opened.data(), "nodes that the model does not use")


def _shift(value: Any) -> None:
    if isinstance(value, dict):
        if set(value) == {"ref"}:
            value["ref"] += 1
        for each in value.values():
            _shift(each)
    elif isinstance(value, list):
        for each in value:
            _shift(each)


class Harm:
    def __reduce__(self) -> Any:
        return os.mkdir, ("harm",)


def test_code_in_the_place_of_a_model_is_not_run(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    harm = pickle.dumps(Harm())
    wrapped = b"".join(
        bytes(chunk)
        for chunk in chunks_of(
            {
                "coterie_format": "1",
                "coterie_version": "0",
                "model": json.dumps(
                    {"nodes": [{"skops": "code", "type": "Harm"}]}, sort_keys=True, separators=(",", ":")
                ),
            },
            {"code": np.frombuffer(harm, dtype=np.uint8)},
        )
    )
    for data in (harm, harm * 20, wrapped):
        with pytest.raises(ModelFileError):
            coterie.load(io.BytesIO(data))
    assert not (tmp_path / "harm").exists()


def test_a_tree_of_30_000_levels_can_be_asked_and_explained() -> None:
    data = stored_plainly(
        coterie.GradientBoostingRegressor(n_estimators=1, min_samples_leaf=1).fit(X, X[:, 0])
    )
    opened = Opened(data)
    n = 60_001
    is_split = (np.arange(n) % 2 == 0) & (np.arange(n) < n - 1)  # each has a leaf and the next split below it
    made = {
        "feature": np.where(is_split, np.arange(n) // 2 % 3, -1).astype(np.int32),
        "left": np.where(is_split, np.arange(n) + 1, 0).astype(np.uint32),
        "levels": np.full(n, -1, np.int32),
        "n_feature": np.array([n], np.uint32),
    }
    for name in ("threshold", "value", "gain", "cover", "missing_left", "n_rows"):
        made[name] = np.ones(n, opened.tensors[opened.tensor_of("engine.Forest", name)].dtype)
    for name, array in made.items():
        opened.tensors[opened.tensor_of("engine.Forest", name)] = array
    model = loaded(opened.data())

    assert np.isfinite(model.predict(X)).all()
    background = np.random.default_rng(1).normal(size=(2, 3))
    assert np.isfinite(model.explain(X[:2], background=background).values).all()
