"""Tables as people write them beside the same tables as programs do.

    python benchmarks/accuracy/awkward_files.py FOLDER [--only NAME ...] [--seeds 3]

FOLDER holds Parquet files whose last column is `target`. Each of twelve tables is written twice, plainly, and with
decimal commas, thousands marks, currency and percent signs, words for flags, days first, and several marks of missing
values. Both are fitted by the command line with the same seed and without a time limit, and scored on rows held out.
One thread.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

TABLES = (
    *("compas_two_year", "credit_status", "hmeq_loans", "lending_club", "stroke", "eucalyptus"),
    *(
        "king_county_houses",
        "melbourne_housing",
        "ames_housing",
        "car_msrp",
        "wine_quality",
        "concrete_strength",
    ),
)
# Columns of which a column of dates is made.
DATES = dict.fromkeys(("king_county_houses", "melbourne_housing"), ("sale_year", "sale_month"))
MARKS = ("", "NA", "-", "?", "n/a", "k.A.")
MOST_ROWS = 20_000
MEMBERS = ("--members", "quick_boosting,linear,extra_trees", "--time-limit", "0", "--cv", "3", "--jobs", "1")


def read(path: Path, name: str, rng: np.random.Generator) -> dict[str, list[Any]]:
    """The columns of a table, some rows of a large one, with dates where their parts are."""
    table = parquet.read_table(path / f"{name}.parquet")
    rows = np.sort(rng.permutation(len(table))[:MOST_ROWS])
    columns = {own: table[own].take(rows).to_pylist() for own in table.column_names}
    if name in DATES:
        years, months = (columns.pop(own) for own in DATES[name])
        when = [f"{int(year):04d}-{int(month):02d}-01" for year, month in zip(years, months, strict=True)]
        columns = {"when": when, **columns}
    return columns


def awkward(columns: dict[str, list[Any]], classes: bool) -> dict[str, list[str]]:
    """The same table as people write it."""
    found, place = {}, 0
    for name, values in columns.items():
        known = [own for own in values if own is not None]
        if name == "when":
            found[name] = ["{2}.{1}.{0}".format(*own.split("-")) for own in values]
        elif name == "target" and classes:
            found[name] = [str(own) for own in values]
        elif all(isinstance(own, str) for own in known):
            found[name] = [MARKS[row % 2] if own is None else own for row, own in enumerate(values)]
        elif set(known) <= {0, 1} and name != "target":
            found[name] = [
                _gap(row) if own is None else ("ja" if own else "nein") for row, own in enumerate(values)
            ]
        else:
            style = ("{}", "{} €", "{}%", "CHF {}")[place % 4]
            place += 1
            found[name] = [
                _gap(row) if own is None else style.format(_number(own)) for row, own in enumerate(values)
            ]
    return found


def _gap(row: int) -> str:
    return MARKS[row % len(MARKS)]


def _number(value: float) -> str:
    """All digits, a decimal comma, and points between thousands."""
    text = repr(value)
    if "e" in text:
        return text.replace(".", ",")
    whole, _, part = text.partition(".")
    whole = f"{int(whole):,}".replace(",", ".") if abs(value) >= 1 else whole
    return f"{whole},{part}" if part else whole


def write(path: Path, columns: dict[str, list[Any]], rows: np.ndarray, delimiter: str) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(
            ["" if values[row] is None else values[row] for values in columns.values()] for row in rows
        )
    return path


def scored(folder: Path, train: Path, test: Path, seed: int, *options: str) -> tuple[str, float]:
    """The loss on rows held out, of a committee by the command line."""
    model = folder / "model.coterie"
    common = ("fit", train, "--target", "target", "-o", model, "--seed", seed, "--quiet", *MEMBERS, *options)
    _run(*common)
    scores = json.loads(_run("evaluate", model, test, "--json", "--quiet"))["scores"]
    metric = "log_loss" if "log_loss" in scores else "rmse"
    return metric, scores[metric]


def _run(*arguments: object) -> str:
    command = [sys.executable, "-m", "coterie", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def split(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(order[n_rows // 4 :]), np.sort(order[: n_rows // 4])


def compare_readings(data: Path, name: str, seed: int) -> None:
    columns = read(data, name, np.random.default_rng(seed))
    classes = all(isinstance(own, int) for own in columns["target"]) and len(set(columns["target"])) <= 20
    task = ("--task", "classification" if classes else "regression")
    train, test = split(len(columns["target"]), seed)
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        plain = [
            write(folder / f"{own}.csv", columns, rows, ",") for own, rows in (("a", train), ("b", test))
        ]
        people = awkward(columns, classes)
        odd = [write(folder / f"{own}.csv", people, rows, ";") for own, rows in (("c", train), ("d", test))]
        metric, clean = scored(folder, *plain, seed, *task)
        _, other = scored(folder, *odd, seed, *task)
    print(f"{name:22} {metric:9} {clean:12.6g} {other:12.6g} {other / clean - 1:+9.3%}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    print(f"{'table':22} {'loss':9} {'plain':>12} {'awkward':>12} {'change':>9}")
    for seed in range(given.seeds):
        for name in TABLES:
            if not given.only or name in given.only:
                compare_readings(given.folder, name, seed)


if __name__ == "__main__":
    main()
