"""A damaged file is refused, or is another model: it never does harm."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import ModelFileError
from coterie.export import import_model
from tests.helpers.saved_models import FILES, FOLDER, answers, noted

SMALL = [file for file in FILES if "multiclass" not in file.name and "booster" not in file.name]


def model_or_error(content: str | bytes) -> Any:
    """Any other error than ours fails the test."""
    try:
        return import_model(content)
    except ModelFileError as error:
        return error


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_that_ends_too_early_is_refused(file: Path) -> None:
    data = file.read_bytes()
    end = data.find(b"end of trees") if file.suffix == ".txt" else len(data.rstrip())
    for part in np.linspace(1, end - 1, 12).astype(int):
        with pytest.raises(ModelFileError):
            import_model(data[:part])


@settings(max_examples=150, derandomize=True, deadline=None)
@given(data=st.data())
def test_changed_bytes_do_no_harm(data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(SMALL))
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    model = model_or_error(bytes(content))
    if isinstance(model, ModelFileError):
        assert str(model)
        return
    assert model.forest_.n_features >= 1
    if model.n_features_in_ == 3 and not hasattr(model, "feature_names_in_"):
        assert len(answers(model, np.zeros((2, 3)))) == 2


ODD = [None, True, -1, 0, 7, 2**40, 1e300, float("nan"), "x", "", "[1]", [], [1], [[1]], {}, {"a": 1}]


@settings(max_examples=250, derandomize=True, deadline=None)
@given(data=st.data())
def test_changed_values_of_json_do_no_harm(data: st.DataObject) -> None:
    file = data.draw(st.sampled_from([file for file in SMALL if file.suffix == ".json"]))
    document = json.loads(file.read_bytes())
    holder = document
    while True:  # go down to some value, and put something else in its place
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = data.draw(st.sampled_from(list(keys)))
        if not isinstance(holder[key], dict | list) or not holder[key] or data.draw(st.integers(0, 5)) == 0:
            break
        holder = holder[key]
    holder[key] = data.draw(st.sampled_from(ODD))
    model = model_or_error(json.dumps(document).encode())
    assert "XGBoost" in (str(model) if isinstance(model, ModelFileError) else model.source_)


@settings(max_examples=250, derandomize=True, deadline=None)
@given(data=st.data())
def test_changed_lines_of_text_do_no_harm(data: st.DataObject) -> None:
    file = data.draw(st.sampled_from([file for file in FILES if file.suffix == ".txt"]))
    lines = file.read_text("utf-8").split("\n")
    end = lines.index("end of trees")
    place = data.draw(st.integers(1, end - 1))
    name, _, value = lines[place].partition("=")
    words = value.split() or [""]
    words[data.draw(st.integers(0, len(words) - 1))] = data.draw(
        st.sampled_from(
            ["", "-1", "0", "1", "99999", "-99999", "1e400", "nan", "inf", "x", "9" * 30, "0.5", "1 1"]
        )
    )
    lines[place] = f"{name}={' '.join(words)}"
    model = model_or_error("\n".join(lines))
    assert "LightGBM" in (str(model) if isinstance(model, ModelFileError) else model.source_)


def changed_line(pattern: str, other: str, name: str = "lightgbm_multiclass.txt") -> str:
    text, n_changed = re.subn(pattern, other, (FOLDER / name).read_text("utf-8"), count=1, flags=re.MULTILINE)
    assert n_changed == 1
    return text


@pytest.mark.parametrize(
    ("pattern", "other", "message"),
    [
        (r"^num_leaves=.*", "num_leaves=0", r"tree 0: num_leaves='0'; expected at least 1"),
        (r"^num_leaves=.*", "num_leaves=4", r"tree 0: leaf_value=.*; expected 4 numbers, not 6"),
        (r"^num_leaves=.*", "", r"tree 0 has no line 'num_leaves'"),
        (r"^threshold=\S+", "threshold=high", r"tree 0: threshold=.*; expected numbers with blanks"),
        (r"^left_child=\S+", "left_child=0", r"tree 0: a node has two parents, or is its own ancestor"),
        (r"^left_child=\S+", "left_child=-7", r"tree 0: left_child=.*; expected numbers from -6 to 4"),
        (r"^split_feature=\S+", "split_feature=4", r"tree 0: node 0 has a column that is not one of 0 to 3"),
        (r"^split_feature=\S+", "split_feature=-1", r"expected columns from 0 to 3"),
        (
            r"^cat_boundaries=0 \S+",
            "cat_boundaries=0 999",
            r"cat_boundaries=.*; expected numbers that ascend",
        ),
        (r"^num_cat=[1-9]", "num_cat=9", r"num_cat='9'; expected the number of sets"),
        (r"^objective=.*", "objective=magic", r"objective='magic'; expected one of binary, multiclass"),
        (
            r"^num_tree_per_iteration=.*",
            "num_tree_per_iteration=5",
            r"expected a divisor of the number of trees, 12",
        ),
        (r"^max_feature_idx=.*", "max_feature_idx=9", r"4 feature_names, and max_feature_idx=9"),
        (r"^end of trees", "", r"ends after 12 trees without the line 'end of trees'"),
        (r"^pandas_categorical:.*", "pandas_categorical:[[", r"'pandas_categorical:' holds no valid JSON"),
        (
            r"^pandas_categorical:.*",
            "pandas_categorical:[3]",
            r"'pandas_categorical:' holds no list of lists",
        ),
    ],
)
def test_what_is_wrong_in_a_text_is_said(pattern: str, other: str, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        import_model(changed_line(pattern, other))


def of_first_tree(name: str, place: int, value: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        booster = document["learner"]["gradient_booster"]
        booster.get("gbtree", booster)["model"]["trees"][0][name][place] = value

    return change


def of_learner(*path: str, value: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        holder = document["learner"]
        for name in path[:-1]:
            holder = holder[name]
        holder[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (of_first_tree("left_children", 0, 0), "tree 0: a node has two parents, or is its own ancestor"),
        (of_first_tree("left_children", 0, 500), "tree 0: node 0 has the child 500"),
        (
            of_first_tree("left_children", 0, 0.5),
            r"trees\[0\]\.left_children is .*; expected a list of whole numbers",
        ),
        (of_first_tree("split_conditions", 0, float("nan")), "tree 0: node 0 has NaN for a threshold"),
        (of_first_tree("split_conditions", 0, "x"), r"split_conditions is .*; expected a list of numbers"),
        (of_first_tree("split_indices", 0, 3), "a column that is not one of 0 to 2"),
        (
            of_learner("learner_model_param", "num_feature", value="many"),
            "num_feature is 'many'; expected a whole number",
        ),
        (
            of_learner("learner_model_param", "num_feature", value="9"),
            "feature_names is .*; expected 9 names",
        ),
        (of_learner("learner_model_param", "base_score", value="[1"), "base_score is .*; expected a number"),
        (
            of_learner("learner_model_param", "base_score", value="2"),
            "base_score is '2'; expected a prediction that binary",
        ),
        (
            of_learner("learner_model_param", "base_score", value="[0.5, 0.5]"),
            r"base_score is '\[0.5, 0.5\]'; expected 1 or 1 numbers",
        ),
        (
            of_learner("learner_model_param", "base_score", value="[[0.5]]"),
            r"base_score is '\[\[0.5\]\]'; expected 1 or 1 numbers",
        ),
        (of_learner("objective", "name", value="reg:magic"), "the objective is 'reg:magic'; expected one of"),
        (
            of_learner("gradient_booster", "name", value="gblinear"),
            "the booster is 'gblinear'; expected 'gbtree'",
        ),
        (of_learner("gradient_booster", "model", value={}), "model has no 'trees'"),
        (
            of_learner("gradient_booster", "model", "tree_info", value=[0]),
            "tree_info is .*; expected a list of 4 numbers",
        ),
        (
            of_learner("gradient_booster", "model", "tree_info", value=[0, 0, 0, 1]),
            "tree 3 is added to output 1",
        ),
    ],
)
def test_what_is_wrong_in_a_document_is_said(change: Callable[[Any], None], message: str) -> None:
    document = json.loads((FOLDER / "xgboost_binary.json").read_bytes())
    change(document)
    with pytest.raises(ModelFileError, match=message):
        import_model(json.dumps(document))


def test_a_file_that_promises_too_much_is_refused() -> None:
    document = json.loads((FOLDER / "xgboost_binary.json").read_bytes())
    document["learner"]["feature_names"] = []
    for name, value in (("num_feature", "4000000000"), ("num_class", "4000000000")):
        param = {**document["learner"]["learner_model_param"], name: value}
        changed = {**document, "learner": {**document["learner"], "learner_model_param": param}}
        changed["learner"]["objective"] = {
            "name": "multi:softprob" if name == "num_class" else "binary:logistic"
        }
        with pytest.raises(ModelFileError, match="a model of 4000000000"):
            import_model(json.dumps(changed))


def test_json_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(ModelFileError, match=r"nested too deeply|damaged"):
        import_model(b'{"learner":' + b"[" * 200_000)


def test_the_rows_of_an_intact_file_are_answered() -> None:
    """So that the tests above do not pass because everything is refused."""
    for file in SMALL:
        rows = noted(file).rows
        assert np.isfinite(answers(import_model(file.read_bytes()), rows)).all()


@pytest.mark.parametrize("counts", ["-1 1 0 0 0 0", "3 0 0 0 0 0"])
def test_leaves_that_are_lines_have_the_columns_that_are_listed(counts: str) -> None:
    text = changed_line(r"^num_features=0 0 0 0 0 0$", f"num_features={counts}", "lightgbm_linear.txt")

    with pytest.raises(
        ModelFileError, match=r"num_features=.*; expected as many as there are in leaf_features"
    ):
        import_model(text)
