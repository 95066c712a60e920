"""Our errors are also the built-in ones that callers already catch."""

import copy
import pickle
from typing import Any

import pytest

from coterie import errors
from coterie._optional import need
from coterie.errors import CoterieError, MissingPackage
from tests.helpers.errors import raised


@pytest.mark.parametrize(
    ("error", "built_in"),
    [
        (errors.InvalidParameter, ValueError),
        (errors.InvalidInput, ValueError),
        (errors.InvalidType, ValueError),
        (errors.InvalidType, TypeError),
        (errors.SchemaMismatch, ValueError),
        (errors.MissingPackage, ImportError),
        (errors.ModelFileError, ValueError),
    ],
)
def test_each_error_can_be_caught_by_its_built_in_name(error: type[Exception], built_in: type) -> None:
    assert issubclass(error, built_in)
    assert issubclass(error, CoterieError)


def test_every_public_error_has_a_docstring() -> None:
    assert all(getattr(errors, name).__doc__ for name in errors.__all__)


def test_an_absent_package_says_the_pip_line_of_its_extra() -> None:
    with raised(
        MissingPackage,
        parameter="no_such_thing",
        hint="pip install 'coterie[plot]'",
        about="Drawing trees uses 'no_such_thing', which is not installed.",
    ):
        need("no_such_thing", purpose="Drawing trees", extra="plot")


def test_an_absent_package_without_an_extra_is_named_itself() -> None:
    with raised(MissingPackage, parameter="no_such_thing.part", hint="pip install 'no_such_thing'"):
        need("no_such_thing.part", purpose="Drawing trees")


def test_a_present_package_is_returned() -> None:
    assert need("json", purpose="Reading").loads("[1]") == [1]


def test_a_package_broken_inside_shows_its_own_error(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    (folder / "broken_inside.py").write_text("import something_it_lacks\n")
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(ModuleNotFoundError, match="something_it_lacks") as caught:
        need("broken_inside", purpose="Drawing trees")
    assert not isinstance(caught.value, MissingPackage)


WRONG = errors.InvalidInput(
    "Row 3 of y is NaN.",
    parameter="y",
    received=float("nan"),
    allowed="finite numbers",
    hint="Drop it.",
    column="price",
    row=3,
)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
@pytest.mark.parametrize("kind", [getattr(errors, name) for name in errors.__all__])
def test_an_error_survives_pickling_and_copies(kind: type[CoterieError], again: Any) -> None:
    error = kind(
        "Row 3 of y is 7.", parameter="y", received=7, allowed="6", hint="Drop it.", column="price", row=3
    )
    error.add_note("in the member 'trees'")

    other = again(error)

    assert type(other) is kind
    assert str(other) == str(error) == "Row 3 of y is 7. Drop it."
    assert vars(other) == vars(error)
    assert other.__notes__ == ["in the member 'trees'"]


def test_a_value_that_cannot_be_pickled_is_kept_as_text() -> None:
    error = errors.InvalidParameter("No.", parameter="loss", received=lambda: 0)

    other = pickle.loads(pickle.dumps(error))

    assert other.parameter == "loss"
    assert other.received == repr(error.received)


def test_an_error_within_a_part_of_the_input_keeps_its_fields() -> None:
    other = WRONG.within("eval_set")

    assert type(other) is errors.InvalidInput
    assert str(other) == "eval_set: Row 3 of y is NaN. Drop it."
    assert other.parameter == "y"
    assert other.received is WRONG.received
    assert other.allowed == "finite numbers"
    assert other.hint == "Drop it."
    assert other.column == "price"
    assert other.row == 3


def test_an_error_without_fields_says_that_nothing_is_known() -> None:
    error = CoterieError("Something is wrong.")

    assert vars(error) == {"message": "Something is wrong."} | dict.fromkeys(
        ("parameter", "received", "allowed", "hint", "column", "row")
    )
