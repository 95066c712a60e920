"""Values that are none of the kind of their column: named with their number, the first of them, and its line."""

from pathlib import Path
from typing import Any

import pytest

import coterie as library
from coterie.data.table_files import data_table
from tests.helpers.command import coterie, error_of

ODD = ("--members", "linear", "--cv", "2", "--time-limit", "0", "--quiet")


def table(path: Path, values: list[str]) -> Path:
    """A table whose text has two lines in the second row."""
    texts = ["two\nlines" if n == 1 else "one" for n in range(len(values))]
    rows = [
        f'{own},{n % 7},{n % 3},"{text}"' for n, (own, text) in enumerate(zip(values, texts, strict=True))
    ]
    path.write_text("a,b,y,text\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    data = table(folder / "train.csv", ["closed" if n == 5 else f"{n}.5" for n in range(60)])
    path = folder / "m.coterie"
    result = coterie("fit", data, "-t", "y", "--task", "regression", "-o", path, *ODD)
    assert result.exit_code == 0, result.stderr
    return path


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_later_tables_name_what_is_read_as_missing(command: str, model: Path, tmp_path: Path) -> None:
    new = table(tmp_path / "new.csv", ["1.5", "2", "-", "sold", "free", "3"])
    result = coterie(command, model, new, "--quiet")
    assert result.exit_code == 0, result.stderr
    assert (
        f"warning: Column 'a' of {new}: 2 values are no numbers and are read as missing; the first is 'sold' in line 6."
        in result.stderr
    )


def test_rows_of_a_condition_have_no_lines(model: Path, tmp_path: Path) -> None:
    new = table(tmp_path / "new.csv", ["1.5", "2", "sold"])
    result = coterie("predict", model, new, "--where", "b > 0", "--quiet")
    assert (
        "1 value is no number and is read as missing: 'sold' in row 2 of those that were read."
        in result.stderr
    )


def test_a_table_of_numbers_says_nothing(model: Path, tmp_path: Path) -> None:
    assert coterie("predict", model, table(tmp_path / "new.csv", ["1", "-"]), "--quiet").stderr == ""


def in_batches(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """A fit whose batches have 100 rows, and whose kinds are inferred from 50."""
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(data_table, "_SAMPLED_ROWS", 50)
    monkeypatch.setattr(data_table, "_BATCH_ROWS", 100)
    return ("fit", path, "-t", "y", "--task", "regression", "--memory", "1GB", "-o", folder / "m")


def test_a_fit_in_batches_counts_what_its_sample_did_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = ["closed" if n in (250, 260, 380) else f"{n},5" for n in range(400)]
    path = table(tmp_path / "t.csv", [f'"{own}"' for own in values])
    result = coterie(*in_batches(path, tmp_path, monkeypatch), "--kind", "a=number")
    assert result.exit_code == 0, result.stderr
    assert (
        f"Column 'a' of {path}: 3 values are no numbers and are read as missing; the first is 'closed' in line 253."
        in result.stderr
    )
    assert "Kinds, and numbers of missing values, are those of 50 rows that were drawn." in result.stderr
    assert library.load(tmp_path / "m").n_features_in_ == 3


def test_an_error_in_a_late_batch_names_the_line_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path / "t.csv", [f'"{"V57" if n == 250 else n},5"' for n in range(400)])
    error = error_of(3, *in_batches(path, tmp_path, monkeypatch), "--quiet")
    assert "'V57,5' in line 253; the 50 rows by which its kind was inferred hold numbers." in str(error)
    assert (error.column, error.row) == ("a", 250)
    assert error.hint == "If such values are missing ones: --kind a=number"
