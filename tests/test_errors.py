"""Our errors are also the built-in ones that callers already catch."""

import pytest

from coterie import errors
from coterie._optional import need
from coterie.errors import CoterieError, MissingPackage


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
    with pytest.raises(
        MissingPackage, match=r"Drawing trees uses 'no_such_thing'.*pip install 'coterie\[plot\]'"
    ):
        need("no_such_thing", purpose="Drawing trees", extra="plot")


def test_an_absent_package_without_an_extra_is_named_itself() -> None:
    with pytest.raises(MissingPackage, match=r"pip install 'no_such_thing'"):
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
