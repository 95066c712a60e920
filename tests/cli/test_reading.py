"""Files that cannot be found or read: which, where, and what to do."""

import gzip
from pathlib import Path

import pytest

from coterie.data.table_files.data_table import open_table
from tests.helpers.command import error_of, failed, flats, write_csv

BROKEN = {
    "a line that is too long": (
        "a,b\n1,2\n3,4,5\n",
        "line 3 has 3 fields, and the first line names 2 columns",
    ),
    "a line that is too short": (
        "a;b\n1;2\n3\n",
        "line 3 has 1 field, and the first line names 2 columns (separated by ';')",
    ),
    "a quote that never ends": (
        'a,b\n1,2\n"3,4\n5,6\n',
        "from line 3 on, a quote is opened and never closed",
    ),
    "no text": (b"\x00\x01\x02\x03" * 50, "is no text, so it is no CSV file"),
    "no rows": ("a,b\n", "has no rows"),
    "nothing": ("", "is empty"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_csv_file_is_explained_by_line(case: str, tmp_path: Path) -> None:
    content, words = BROKEN[case]
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert words in failed(3, "fit", path, "--target", "b")


def test_broken_json_and_parquet_are_explained(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('[{"a": 1, "b": 2}, {"a":')
    assert "cannot be read as JSON: Malformed JSON" in failed(3, "fit", tmp_path / "t.json", "-t", "b")
    (tmp_path / "t.parquet").write_text("PAR1 and no more than this, which is not enough")
    assert "cannot be read as PARQUET" in failed(3, "fit", tmp_path / "t.parquet", "-t", "b")


def test_a_file_that_is_not_there_is_guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_csv(tmp_path / "flats.csv", flats(3))
    monkeypatch.chdir(tmp_path)
    cases = {
        "falts.csv": "Did you mean 'flats.csv'?",
        "zebra.csv": "This folder holds 'flats.csv'.",
        "nowhere/flats.csv": "There is no folder 'nowhere' either.",
        "*.parquet": "This folder holds 'flats.csv'.",
        ".": "To read the files in it: './*.csv'.",
    }
    for name, hint in cases.items():
        error = error_of(3, "fit", name, "-t", "dear")
        assert (error.received, error.hint) == (name, hint)


def test_what_is_no_file_is_a_wrong_use(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "flats.csv", flats(3))
    assert "Download it first." in failed(2, "fit", "https://example.org/t.csv", "-t", "dear")
    assert "cannot stand beside other files" in failed(2, "fit", "-", path, "-t", "dear", given="a,b\n1,2\n")


def test_files_of_different_formats_are_not_mixed(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", flats(3))
    (tmp_path / "t.json").write_text('[{"a": 1}]')
    assert "files of one format are read at a time" in failed(
        3, "fit", path, tmp_path / "t.json", "-t", "dear"
    )


def test_nested_values_are_named(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('[{"a": {"b": 1}, "y": 2}, {"a": {"b": 2}, "y": 3}]')
    error = error_of(3, "fit", tmp_path / "t.json", "-t", "y")
    assert (error.parameter, error.allowed) == ("a", "numbers, texts and dates")
    assert (error.hint or "").endswith("leave it out: --drop a")


def test_columns_keep_their_kinds(tmp_path: Path) -> None:
    text = 'n,x,t,d,m,f,hole,"a ""b"""\n1,1.5,u,2020-01-31,2020-01-31 10:00:00,yes,,7\n2,NA,?,,,no,,8\n'
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write(text)
    with open_table([str(tmp_path / "t.csv.gz")]) as table:
        reading = table.reading()
        assert [own.kind for own in reading.values()] == [
            "number",
            "number",
            "category",
            "date",
            "date",
            "flag",
            "category",
            "number",
        ]
        held = table.columns(list(reading), reading)
    assert [values.dtype.kind for values in held.values()] == list("ifOMMbOi")
    assert held["t"].tolist() == ["u", None]
    assert held["hole"].tolist() == [None, None]
    assert held['a "b"'].tolist() == [7, 8]
