"""Fits and predictions on tables as people write them: what is said before the fit, and the same reading afterwards."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie as library
from tests.helpers.command import QUICK, coterie, done, error_of, failed, flats, read_csv, write_csv

COLUMNS = ("--drop", "flat", "--drop", "dear")


def german(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same flats with decimal commas, currency signs, days first, words and marks of missing values."""
    marks = ["-", "k.A.", "", "n/a"]
    return [
        row
        | {
            "area": marks[number % 4] if row["area"] is None else str(row["area"]).replace(".", ","),
            "rent": f"{row['rent']:.3f} €".replace(".", ","),
            "let": "{2}.{1}.{0}".format(*row["let"].split("-")),
            "lift": {"true": "ja", "false": "nein"}[row["lift"]],
        }
        for number, row in enumerate(rows)
    ]


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("data") / "german.csv", german(flats()), delimiter=";")


def test_an_awkward_table_gives_the_model_of_the_plain_one(data: Path, awkward: Path, tmp_path: Path) -> None:
    plain, other = tmp_path / "plain", tmp_path / "other"
    done("fit", data, "-t", "rent", *COLUMNS, "-o", plain, *QUICK)
    done("fit", awkward, "-t", "rent", *COLUMNS, "-o", other, *QUICK)

    assert library.load(plain).oof_score_ == library.load(other).oof_score_
    assert done("predict", plain, data) == done("predict", other, awkward)
    assert done("evaluate", plain, data) == done("evaluate", other, awkward)


def test_new_rows_are_read_as_in_the_fit(awkward: Path, tmp_path: Path) -> None:
    """Of the new rows alone nobody could say what 1.234 and 3.4.2021 mean, and what the empty column holds."""
    model = tmp_path / "m"
    done("fit", awkward, "-t", "rent", *COLUMNS, "-o", model, *QUICK)
    new = tmp_path / "new.csv"
    new.write_text("area;town;let;lift\n1.234;Oslo;03.04.2021;ja\n;Rome;;nein\n", encoding="utf-8")
    same = tmp_path / "same.csv"
    same.write_text("area;town;let;lift\n1234,0;Oslo;3 April 2021;Ja\n-;Rome;-;nein\n", encoding="utf-8")
    assert done("predict", model, new) == done("predict", model, same)

    new.write_text("area;town;let;lift\n12,5;Oslo;03.04.2021;vielleicht\n", encoding="utf-8")
    error = error_of(3, "predict", model, new)
    assert (error.parameter, error.received, error.allowed) == ("lift", "vielleicht", "flags")


def test_what_was_inferred_is_shown_before_the_fit(awkward: Path, tmp_path: Path) -> None:
    text = coterie("fit", awkward, "-t", "rent", *COLUMNS, "-o", tmp_path / "m", *QUICK).stderr
    lines = [line.split() for line in text.splitlines()]

    assert lines[0] == ["column", "kind", "example", "missing", "note"]
    assert [line[:2] for line in lines[1:6]] == [
        ["area", "number"],
        ["town", "category"],
        ["let", "date"],
        ["lift", "flag"],
        ["rent", "number"],
    ]
    assert "decimal commas, currency signs" in text
    assert "To read a column in another way: --kind COLUMN=KIND, --decimal" in text
    assert text.index("To read a column") < text.index("linear, 0.")


def test_a_condition_sees_numbers_and_dates(awkward: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    done("fit", awkward, "-t", "rent", *COLUMNS, "-o", model, *QUICK)
    some = done("predict", model, awkward, "--where", "area > 100 AND let >= DATE '2021-01-01'")
    expected = [row for row in flats() if (row["area"] or 0) > 100 and row["let"] >= "2021-01-01"]
    assert len(read_csv(some)) == len(expected) > 0


def test_options_change_how_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f'"{1 + n % 9},{100 + n}",0{1 + n % 9}/0{1 + n % 7}/2021,{n % 5},g{n % 3},{n}' for n in range(60)]
    path.write_text("a,d,code,gap,y\n" + "\n".join(rows) + "\n")
    model = tmp_path / "m"
    options = ("--decimal", ",", "--date-format", "%d/%m/%Y", "--kind", "code=category", "--na", "g2")
    done("fit", path, "-t", "y", "-o", model, *options, *QUICK)

    held = json.loads(library.inspect_file(model).notes["reading"])
    assert held["a"]["decimal"] == ","
    assert held["d"]["pattern"] == "%d/%m/%Y"
    assert held["code"]["kind"] == "category"
    assert held["gap"]["na"] == ["g2"]
    text = coterie("fit", path, "-t", "y", "-o", model, *QUICK).stderr
    assert "1,100 is read as 1100 (--decimal ,)" in text
    assert "month first: 08/01/2021 is read as 2021-08-01 (--date-format %d/%m/%Y)" in text


@pytest.mark.parametrize(
    ("options", "parameter", "words"),
    [
        (["--kind", "area"], "--kind", "a column and one of number"),
        (["--kind", "area=numbr"], "--kind", "Did you mean 'number'?"),
        (["--kind", "aera=number"], "--kind", "Did you mean 'area'?"),
        (["--decimal", "x"], "--decimal", "'.' or ','"),
        (["--thousands", "abc"], "--thousands", "one mark"),
        (["--date-format", "dd/mm"], "--date-format", "%d/%m/%Y"),
        (["--encoding", "latin-99"], "--encoding", "such as utf-8, latin-1"),
    ],
)
def test_wrong_options_are_refused(options: list[str], parameter: str, words: str, data: Path) -> None:
    result = coterie("fit", data, "-t", "dear", *options)
    assert result.exit_code in (2, 3)
    assert words in result.stderr
    error = result.exception.__context__.__cause__  # type: ignore[union-attr]
    assert error.parameter == parameter


def test_files_of_another_encoding_are_read_with_a_word_on_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    text = "a,b\n" + "".join(f"{n},{['Köln', 'Nîmes'][n % 2]}\n" for n in range(40))
    path.write_bytes(text.encode("latin-1"))
    model = tmp_path / "m"
    result = coterie("fit", path, "-t", "b", "-o", model, *QUICK)
    assert result.exit_code == 0, result.stderr
    assert (
        "is not written in UTF-8 and is read as Windows-1252 (--encoding NAME changes that)" in result.stderr
    )
    assert set(library.load(model).classes_) == {"Köln", "Nîmes"}
    quiet = coterie("fit", path, "-t", "b", "-o", model, "--encoding", "latin-1", *QUICK)
    assert "Windows-1252" not in quiet.stderr


def test_headers_that_are_odd_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,a,y\n" + "".join(f"{n},{n % 7},{n % 2}\n" for n in range(40)))
    text = coterie("fit", path, "-t", "y", "-o", tmp_path / "m", *QUICK).stderr
    assert "warning: the first line names 'a' more than once" in text
    path.write_text("".join(f"{n},{n % 7},{n % 2}\n" for n in range(40)))
    text = coterie("fit", path, "-t", "0_1", "-o", tmp_path / "m", *QUICK).stderr
    assert "the first line holds numbers alone, such as 0" in text


def test_the_guess_of_the_task_has_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{n % 11},{n % 9},{n},{n / 7},{['u', 'v'][n % 2]}" for n in range(60)]
    path.write_text("x,few,many,part,label\n" + "\n".join(rows) + "\n")

    def said(target: str, *options: str) -> str:
        return coterie("fit", path, "-t", target, "-o", tmp_path / "m", *options, *QUICK).stderr

    few, many = said("few"), said("many")
    assert (
        "because it has 9 different whole numbers, at most 20. If they are amounts: --task regression" in few
    )
    assert "because it has more than 20 different whole numbers. If they are labels: --task class" in many
    assert "(regression), because it has fractions" in said("part")
    assert "because" not in said("few", "--task", "regression")
    assert "because" not in said("label")


def test_few_rows_and_rare_classes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(7)) + "9,rare\n")
    text = coterie(
        "fit", path, "-t", "y", "-o", tmp_path / "m", "--members", "forest", "--time-limit", "0"
    ).stderr
    assert "warning: 8 rows are few" in text
    assert "warning: of the target 'y', 'rare' has one row" in text
    path.write_text("x,y\n1,a\n2,a\n")
    assert "'a' in every row: there is nothing to learn" in failed(3, "fit", path, "-t", "y")


def test_texts_and_timestamps_are_no_ids(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "row": n,
            "code": f"A{n:04d}",
            "long": 10**24 + n,
            "text": f"a flat with {n} windows",
            "when": f"2021-01-01 10:{n // 60:02d}:{n % 60:02d}",
            "price": int(rng.integers(10**5, 10**7)),
            "y": float(rng.normal()),
        }
        for n in range(120)
    ]
    text = coterie("fit", write_csv(tmp_path / "t.csv", rows), "-t", "y", "-o", tmp_path / "m", *QUICK).stderr
    [line] = [line for line in text.splitlines() if "as ids have" in line]
    assert line.startswith("look at 'row', 'code', 'long': another value in each row")
    assert "the same in every row" not in text


def test_formulas_are_escaped_if_wanted(classifier: Path, tmp_path: Path) -> None:
    rows = [row | {"flat": "=1+1" if number == 0 else "plain"} for number, row in enumerate(flats(3))]
    new = write_csv(tmp_path / "new.csv", rows)
    assert read_csv(done("predict", classifier, new, "--id", "flat"))[0]["flat"] == "=1+1"
    kept = read_csv(done("predict", classifier, new, "--id", "flat", "--escape-formulas"))
    assert [row["flat"] for row in kept] == ["'=1+1", "plain", "plain"]


def test_files_that_note_kinds_alone_are_read(regressor: Path, data: Path, tmp_path: Path) -> None:
    """As files of 0.1 do."""
    kinds = {"area": "number", "town": "text", "let": "date", "lift": "flag", "rent": "number"}
    old = tmp_path / "old.coterie"
    notes = {"target": "rent", "task": "regression", "kinds": json.dumps(kinds)}
    library.save(library.load(regressor), old, notes=notes)
    assert done("predict", old, data) == done("predict", regressor, data)
    assert done("evaluate", old, data) == done("evaluate", regressor, data)


def test_a_text_column_is_used(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    good, bad = ["bright", "sunny", "quiet", "garden"], ["dark", "damp", "noisy", "broken"]
    rows = []
    for number in range(150):
        is_good = bool(rng.integers(2))
        words = rng.choice(good if is_good else bad, 3)
        rows.append(
            {"advert": f"a {' '.join(words)} flat, {number}", "x": float(rng.normal()), "good": is_good}
        )
    path = write_csv(tmp_path / "t.csv", rows)
    settings = ("--members", "linear", "--cv", "3", "--time-limit", "0", "--seed", "0")
    model = tmp_path / "m"
    result = coterie("fit", path, "-t", "good", "-o", model, *settings)
    assert result.exit_code == 0, result.stderr
    assert library.load(model).oof_score_ > -0.2
    proba = read_csv(done("predict", model, path, "--proba"))
    assert len(proba) == 150
    done("fit", path, "-t", "good", "-o", model, "--kind", "advert=category", *settings)
    assert library.load(model).oof_score_ < -0.5
