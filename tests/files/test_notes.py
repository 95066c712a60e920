"""Notes in model files: texts by name that readers see and models do not use."""

import io
from typing import Any

import pytest

import coterie
from coterie.errors import InvalidType, ModelFileError
from coterie.files.summary import read_notes
from tests.helpers.mutations import stored

TREE = coterie.DecisionTreeRegressor().fit([[0], [1], [2]], [1.0, 2.0, 4.0])


def noted(notes: Any) -> io.BytesIO:
    file = io.BytesIO()
    coterie.save(TREE, file, notes=notes)
    file.seek(0)
    return file


def test_notes_are_read_back() -> None:
    summary = coterie.inspect_file(noted({"target": "price", "by": "Zoë"}))
    assert summary.notes == {"by": "Zoë", "target": "price"}
    assert "target: price" in str(summary)


def test_a_model_with_notes_is_the_same_model() -> None:
    model = coterie.load(noted({"target": "price"}))
    assert model.predict([[2]]) == [4.0]
    assert stored(model) == stored(TREE)


def test_a_file_without_notes_has_none() -> None:
    assert coterie.inspect_file(io.BytesIO(stored(TREE))).notes == {}
    assert noted({}).getvalue() == stored(TREE)


@pytest.mark.parametrize("notes", [{"target": 3}, {3: "target"}, "target", ["target"]])
def test_notes_are_texts_by_name(notes: Any) -> None:
    with pytest.raises(InvalidType, match=r"notes=.*expected a dict of texts by name"):
        noted(notes)


@pytest.mark.parametrize("text", ["[]", '{"a":1}', "{", '{"a": "b"}'])
def test_notes_that_are_no_texts_are_refused(text: str) -> None:
    with pytest.raises(ModelFileError, match="m: the notes"):
        read_notes({"notes": text}, "m")
