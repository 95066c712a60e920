"""Awkward files as people have them, and what must be read from each: kinds and values, or an error that helps."""

import bz2
import gzip
import io
import lzma
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie.data.table_files.callers import COMMAND_LINE, PYTHON
from coterie.errors import CoterieError, InvalidInput, MissingPackage

GAP = math.nan


@dataclass(frozen=True)
class Awkward:
    """A file, options of `read_table`, and what is expected: a kind and values for each column, and a warning.

    `again` is a part of the warning of a later table with the same content.
    """

    content: str | bytes
    expected: Mapping[str, tuple[str, Sequence[Any]]]
    name: str = "t.csv"
    options: Mapping[str, Any] = field(default_factory=dict)
    warning: str | None = None
    again: str | None = None


def read(path: Path, warning: str | None, **options: Any) -> Any:
    """A table, and whether it is read with this warning alone."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X = coterie.read_table(path, **options)
    assert len(caught) == (warning is not None), [str(own.message) for own in caught]
    assert warning is None or warning in str(caught[0].message)
    assert all(own.filename == __file__ for own in caught), "the line that reads the table"
    return X


def numbers(*values: float) -> tuple[str, Sequence[Any]]:
    return "number", values


def labels(*values: str | None) -> tuple[str, Sequence[Any]]:
    return "category", values


def dates(*values: str | None) -> tuple[str, Sequence[Any]]:
    return "date", [None if value is None else np.datetime64(value, "s") for value in values]


def flags(*values: bool | None) -> tuple[str, Sequence[Any]]:
    return "flag", values


FILES: dict[str, Awkward] = {
    "semicolons and decimal commas": Awkward(
        "a;b\n1,5;x\n2,25;y\n", {"a": numbers(1.5, 2.25), "b": labels("x", "y")}
    ),
    "a decimal comma in quotes": Awkward(
        'a,b\n"1,5",2\n"0,75",3\n', {"a": numbers(1.5, 0.75), "b": numbers(2, 3)}
    ),
    "thousands with points": Awkward(
        "a;b\n1.234,5;1.234\n99,5;2.000\n", {"a": numbers(1234.5, 99.5), "b": numbers(1234, 2000)}
    ),
    "thousands with commas": Awkward('a,b\n"1,234.5",1\n"1,000,000",2\n', {"a": numbers(1234.5, 1e6)}),
    "thousands with commas alone": Awkward('a,b\n"1,234",1\n"12,500",2\n', {"a": numbers(1234, 12500)}),
    "groups of three beside small numbers are thousands": Awkward(
        "a;b\n900;x\n1.600;y\n12.345;z\n", {"a": numbers(900, 1600, 12345)}
    ),
    "a point in doubt, in a late row": Awkward(
        "a;b\n" + "7;1,5\n" * 2000 + "1.234;2,5\n", {"a": numbers(*[7] * 2000, 1234)}
    ),
    "three decimals are decimals": Awkward(
        "a;b\n9.001;x\n1.600;y\n2.345;z\n", {"a": numbers(9.001, 1.6, 2.345)}
    ),
    "a comma in doubt is decimal among semicolons": Awkward(
        "a;b\n1,234;x\n2,500;y\n", {"a": numbers(1.234, 2.5)}
    ),
    "a comma in doubt, with the option": Awkward(
        'a,b\n"1,234",1\n"12,500",2\n', {"a": numbers(1.234, 12.5)}, options={"decimal": ","}
    ),
    "thousands with spaces": Awkward("a,b\n1 234.5,x\n12\u00a0000,y\n", {"a": numbers(1234.5, 12000)}),
    "thousands with apostrophes": Awkward("a,b\n1'234.50,x\n12’000,y\n", {"a": numbers(1234.5, 12000)}),
    "thousands as in India": Awkward('a,b\n"12,34,567",1\n"1,000",2\n', {"a": numbers(1234567, 1000)}),
    "a thousands mark by option": Awkward(
        "a;b\n1.234;x\n2.500;y\n",
        {"a": numbers(1234, 2500)},
        options={"thousands": "."},
    ),
    "dollars": Awkward('a,b\n"$1,234.50",1\n-$3,2\n', {"a": numbers(1234.5, -3)}),
    "euros behind": Awkward("a;b\n1.234,50 €;x\n3 €;y\n", {"a": numbers(1234.5, 3)}),
    "codes of currencies": Awkward("a,b\nUSD 12.5,x\n7 EUR,y\n", {"a": numbers(12.5, 7)}),
    "percent in every row": Awkward("a,b\n12.5%,x\n3 %,y\n", {"a": numbers(12.5, 3)}),
    "percent in some rows": Awkward("a,b\n12.5%,x\n0.5,y\n", {"a": numbers(0.125, 0.5)}),
    "negatives in brackets and behind": Awkward("a,b\n(1.5),x\n7-,y\n−2,z\n", {"a": numbers(-1.5, -7, -2)}),
    "powers of ten": Awkward("a;b\n1,5e3;x\n2E-2;y\n", {"a": numbers(1500, 0.02)}),
    "marks of missing values among numbers": Awkward(
        "a,b\n1,x\n-,?\nn/a,NA\n,\n?,y\n#DIV/0!,-\n2.5,none\n",
        {"a": numbers(1, GAP, GAP, GAP, GAP, GAP, 2.5), "b": labels("x", None, None, None, "y", "-", "none")},
    ),
    "a mark of one's own": Awkward(
        "a,b\n1,x\n-999,y\nmissed,z\n", {"a": numbers(1, GAP, GAP)}, options={"na": ["-999", "missed"]}
    ),
    "a few words among many numbers": Awkward(
        "a\n" + "1,5\n".replace(",", ".") * 19 + "closed\n",
        {"a": numbers(*[1.5] * 19, GAP)},
        again="1 value is no number and is read as missing: 'closed' in line 21",
    ),
    "codes that are nearly numbers stay codes": Awkward(
        "a\n" + "250.8\n" * 19 + "V57\n", {"a": labels(*["250.8"] * 19, "V57")}
    ),
    "a mixed column as numbers by option": Awkward(
        "a,b\n12,x\nV57,y\n",
        {"a": numbers(12, GAP)},
        options={"kinds": {"a": "number"}},
        again="is no number and is read as missing: 'V57' in line 3",
    ),
    "postal codes with zeros": Awkward("a,b\n01067,1\n80331,2\n", {"a": labels("01067", "80331")}),
    "ids of 25 digits": Awkward(
        "a,b\n1000000000000000000000001,1\n1000000000000000000000002,2\n",
        {"a": labels("1000000000000000000000001", "1000000000000000000000002")},
    ),
    "days first with points": Awkward(
        "a,b\n31.12.2024,1\n1.2.2025,2\n", {"a": dates("2024-12-31", "2025-02-01")}
    ),
    "days first with slashes": Awkward(
        "a,b\n15/03/2021,1\n04/05/2021,2\n", {"a": dates("2021-03-15", "2021-05-04")}
    ),
    "months first": Awkward("a,b\n03/15/2021,1\n04/05/2021,2\n", {"a": dates("2021-03-15", "2021-04-05")}),
    "dates in doubt follow another column": Awkward(
        "a,b\n04/05/2021,31/12/2020\n06/07/2021,01/12/2020\n",
        {"a": dates("2021-05-04", "2021-07-06"), "b": dates("2020-12-31", "2020-12-01")},
    ),
    "dates in doubt by option": Awkward(
        "a,b\n04/05/2021,1\n06/07/2021,2\n",
        {"a": dates("2021-05-04", "2021-07-06")},
        options={"date_format": "%d/%m/%Y"},
    ),
    "years of two digits": Awkward("a,b\n31-12-99,1\n01-02-24,2\n", {"a": dates("1999-12-31", "2024-02-01")}),
    "names of months": Awkward(
        'a,b\n"Mar 15, 2021",2. Mai 2020\n"December 1, 2020",3 août 2021\n',
        {"a": dates("2021-03-15", "2020-12-01"), "b": dates("2020-05-02", "2021-08-03")},
    ),
    "dates with times and zones": Awkward(
        "a,b\n2021-03-15T10:30:00Z,15.03.2021 2:30 PM\n2021-03-15T10:30:00+02:00,-\n",
        {"a": dates("2021-03-15T10:30", "2021-03-15T08:30"), "b": dates("2021-03-15T14:30", None)},
    ),
    "dates of one number by option": Awkward(
        "a,b\n20210315,1\n20211201,2\n",
        {"a": dates("2021-03-15", "2021-12-01")},
        options={"kinds": {"a": "date"}, "date_format": "%Y%m%d"},
    ),
    "times": Awkward(
        "a,b\n10:30,x\n2:15:30 pm,y\n",
        {"a": ("time", [np.timedelta64(630, "m"), np.timedelta64(51330, "s")])},
    ),
    "words for yes and no": Awkward(
        "a,b,c\nJa,Y,TRUE\nnein,N,false\nja,,TRUE\n",
        {"a": flags(True, False, True), "b": flags(True, False, None), "c": flags(True, False, True)},
    ),
    "Latin-1": Awkward(
        "a;b\n1,5;café\n2,5;Köln\n".encode("latin-1"),
        {"a": numbers(1.5, 2.5), "b": labels("café", "Köln")},
        warning="is read as Windows-1252 (encoding='NAME' changes that)",
        again="is read as Windows-1252",
    ),
    "another encoding by option": Awkward(
        "a,b\n1,Łódź\n2,Kraków\n".encode("cp1250"),
        {"b": labels("Łódź", "Kraków")},
        options={"encoding": "cp1250"},
    ),
    "UTF-16 with a mark": Awkward(
        "a\tb\n1\tü\n2\tx\n".encode("utf-16"), {"a": numbers(1, 2), "b": labels("ü", "x")}
    ),
    "UTF-16 without a mark": Awkward(
        "a,b\n1,u\n2,x\n".encode("utf-16-le"), {"a": numbers(1, 2), "b": labels("u", "x")}
    ),
    "UTF-8 with a mark": Awkward(
        "a,b\n1,u\n2,x\n".encode("utf-8-sig"), {"a": numbers(1, 2), "b": labels("u", "x")}
    ),
    "quotes, commas and lines in texts": Awkward(
        'a,b\n1,"x, ""y"""\n2,"two\nlines"\n', {"a": numbers(1, 2), "b": labels('x, "y"', "two\nlines")}
    ),
    "a line for Excel": Awkward(
        "sep=;\na;b\n1,5;x\n2,5;y\n", {"a": numbers(1.5, 2.5), "b": labels("x", "y")}
    ),
    "carriage returns": Awkward("a,b\r\n1,x\r\n2,y\r\n", {"a": numbers(1, 2), "b": labels("x", "y")}),
    "an empty column and a delimiter too many": Awkward(
        "a,b,\n1,,\n2,,\n", {"a": numbers(1, 2), "b": labels(None, None), "column2": labels(None, None)}
    ),
    "the same name twice": Awkward(
        "a,a,A\n1,2,3\n4,5,6\n",
        {"a": numbers(1, 4), "a_1": numbers(2, 5)},
        warning="names 'a', 'A' more than once; later columns of that name are called a_1, a_2 and so on",
        again="more than once",
    ),
    "names in quotes with delimiters": Awkward(
        'a;"b, c, d, e"\n1;2\n3;4\n', {"a": numbers(1, 3), "b, c, d, e": numbers(2, 4)}
    ),
    "bars between": Awkward(
        "a|b\n1|x,y\n2|z,z\n", {"a": numbers(1, 2), "b": labels("x,y", "z,z")}, name="t.txt"
    ),
    "gzip": Awkward(gzip.compress(b"a;b\n1,5;x\n2,5;y\n"), {"a": numbers(1.5, 2.5)}, name="t.csv.gz"),
    "bzip2": Awkward(bz2.compress(b"a,b\n1,x\n2,y\n"), {"a": numbers(1, 2)}, name="t.csv.bz2"),
    "xz": Awkward(lzma.compress(b"a,b\n1,x\n2,y\n"), {"a": numbers(1, 2)}, name="t.csv.xz"),
    "gzip under another name": Awkward(gzip.compress(b"a,b\n1,x\n2,y\n"), {"a": numbers(1, 2)}, name="t.csv"),
    "lines of JSON": Awkward(
        '{"a": "1,5", "b": 1}\n{"a": "2,25", "b": null}\n',
        {"a": numbers(1.5, 2.25), "b": numbers(1, GAP)},
        name="t.ndjson",
    ),
    "JSON with dates": Awkward(
        '[{"a": "15.03.2021"}, {"a": "1.4.2021"}, {"a": null}]',
        {"a": dates("2021-03-15", "2021-04-01", None)},
        name="t.json",
    ),
}


def same(values: np.ndarray, expected: Sequence[Any]) -> bool:
    assert len(values) == len(expected)
    for value, own in zip(
        values.tolist() if values.dtype.kind not in "mM" else values, expected, strict=True
    ):
        if values.dtype.kind in "mM":
            fits = np.isnat(value) if own is None else value == own
        elif isinstance(own, float) and math.isnan(own):
            fits = value != value
        else:
            fits = value == pytest.approx(own) if isinstance(own, float) else value == own
        if not fits:
            return False
    return True


@pytest.mark.parametrize("case", FILES)
def test_an_awkward_file_is_read_as_it_is_meant(case: str, tmp_path: Path) -> None:
    own = FILES[case]
    path = tmp_path / own.name
    path.write_bytes(own.content if isinstance(own.content, bytes) else own.content.encode())

    X = read(path, own.warning, **own.options)

    for name, (kind, values) in own.expected.items():
        assert X.reading[name].kind == kind, (name, X.reading)
        assert same(X[name], values), (name, X[name])


@pytest.mark.parametrize("case", FILES)
def test_the_same_reading_gives_the_same_again(case: str, tmp_path: Path) -> None:
    own = FILES[case]
    path = tmp_path / own.name
    path.write_bytes(own.content if isinstance(own.content, bytes) else own.content.encode())
    first = read(path, own.warning, **own.options)
    stored = type(first.reading).of_json(first.reading.to_json())
    given = {name: value for name, value in own.options.items() if name in ("encoding", "na")}

    again = read(path, own.again, reading=stored, **given)

    for name, values in first.items():
        np.testing.assert_array_equal(again[name], values)


@pytest.mark.parametrize(
    ("first", "later", "value"),
    [
        ("a;b\n900;1,5\n12;2,5\n", "a;b\n1.012;1,5\n", 1012),  # commas are the decimal marks there
        ("a;b\n900;1.5\n12;2.5\n", "a;b\n1.012;1.5\n", 1.012),
        ("a;b\n900;x\n12;y\n", "a;b\n1.012;x\n", 1.012),  # no mark at all
    ],
)
def test_whole_numbers_have_the_decimal_mark_of_their_file_later(
    first: str, later: str, value: float, tmp_path: Path
) -> None:
    (tmp_path / "first.csv").write_text(first)
    (tmp_path / "later.csv").write_text(later)
    X = coterie.read_table(tmp_path / "first.csv")
    assert X["a"].tolist() == [900, 12]
    assert coterie.read_table(tmp_path / "later.csv", reading=X.reading)["a"].tolist() == [value]


def test_zstd_is_read(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "t.csv.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"a;b\n1,5;x\n2,5;y\n"))
    assert coterie.read_table(path)["a"].tolist() == [1.5, 2.5]


def test_zstd_without_its_package_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    if sys.version_info >= (3, 14):
        pytest.skip("Python has zstd of its own")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = tmp_path / "t.csv.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd and more")
    with pytest.raises(MissingPackage, match="pip install 'zstandard'"):
        coterie.read_table(path)


def test_a_workbook_is_read(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    from datetime import datetime

    book = openpyxl.Workbook()
    for row in (
        ["price", "sold", "town", "price", None],
        ["1.234,5 €", datetime(2021, 3, 15), "Köln", 1, None],
        ["-", None, None, 2.5, None],
        ["99,5 €", datetime(2021, 4, 1), "Rome", None, None],
    ):
        book.active.append(row)
    path = tmp_path / "t.xlsx"
    book.save(path)

    X = read(path, "the first line names 'price' more than once")

    assert list(X) == ["price", "sold", "town", "price_1"]
    assert same(X["price"], [1234.5, GAP, 99.5])
    assert same(X["sold"], [np.datetime64("2021-03-15"), None, np.datetime64("2021-04-01")])
    assert same(X["town"], ["Köln", None, "Rome"])
    assert same(X["price_1"], [1.0, 2.5, GAP])


def nested_parquet() -> bytes:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.table({"a": [1, 2], "b": [{"c": 1}, {"c": 2}], "l": [[1], [2, 3]]}), file)
    return file.getvalue()


# The name of the file, what is in it, what the error names, and some of its words.
BROKEN: dict[str, tuple[str, bytes, str, str]] = {
    "a line that is too long": ("t.csv", b"a;b\n1;2\n3;4;5\n", "source", "line 3 has 3 fields"),
    "a line that is too short": ("t.csv", b"a,b\n1,2\n3\n", "source", "line 3 has 1 field"),
    "a quote without an end": ("t.csv", b'a,b\n1,2\n"3,4\n', "source", "a quote is opened and never closed"),
    "gzip that is cut off": (
        "t.csv.gz",
        gzip.compress(b"a,b\n1,2\n" * 99)[:-20],
        "source",
        "cannot be decompressed",
    ),
    "no text": ("t.csv", b"\x00\x01\x02\x03" * 50, "source", "is no text"),
    "nothing": ("t.csv", b"", "source", "is empty"),
    "an old workbook": ("t.xls", b"\xd0\xcf\x11\xe0", "source", "Save it as .xlsx or .csv"),
    "no workbook": ("t.xlsx", b"PK, but no zip file", "source", "cannot be read as an Excel workbook"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_cannot_be_read_is_explained(case: str, tmp_path: Path) -> None:
    name, content, parameter, words = BROKEN[case]
    if name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        coterie.read_table(tmp_path / name)
    assert caught.value.parameter == parameter
    assert words in str(caught.value)


def test_nested_types_of_parquet_are_named(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(nested_parquet())
    from coterie.data.table_files.data_table import open_table

    path = tmp_path / "t.parquet"
    X = read(path, "has columns of nested values, which are left out: 'b', 'l'")
    assert list(X) == ["a"], "columns that models can use"
    for caller, hint in (
        (PYTHON, "Turn it into columns of its own."),
        (COMMAND_LINE, "Turn it into columns of its own, or leave it out: --drop b"),
    ):
        with pytest.raises(InvalidInput) as caught, open_table([str(path)], caller=caller) as table:
            table.columns(["a", "b"], table.reading())
        assert (caught.value.parameter, caught.value.hint) == ("b", hint)


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"decimal": ";"}, "decimal"),
        ({"thousands": "abc"}, "thousands"),
        ({"decimal": ",", "thousands": ","}, "thousands"),
        ({"kinds": {"a": "numeral"}}, "kinds"),
        ({"date_format": "dd/mm/yyyy"}, "date_format"),
        ({"encoding": "latin-99"}, "encoding"),
        ({"kinds": {"z": "number"}}, "kinds"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    options: dict[str, Any], parameter: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(CoterieError) as caught:
        coterie.read_table(tmp_path / "t.csv", **options)
    assert caught.value.parameter == parameter
