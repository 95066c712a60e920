"""coterie at work on files: two tables, a committee for each, a report, and predictions by the command line.

The first table is real and tidy (breast cancer, from scikit-learn). The second is made up and messy: text, ordered
categories, dates, ids, a column of many streets, and holes in most columns. Each is written as CSV, one part to learn
from and one to be judged by. Everything after that is done by commands, each in a process of its own; they are printed
before they run, and work as printed in build/demo. What is printed comes from rows that the models did not see.

    python examples/demo.py          about a minute
    python examples/demo.py 1        one second for each fit
"""

import csv
import importlib.util
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

import numpy as np

from coterie.datasets import load_table, make_messy

FOLDER = Path("build") / "demo"


def write_csv(name: str, table: Mapping[str, np.ndarray], rows: np.ndarray) -> None:
    columns = [[_written(value) for value in values[rows]] for values in table.values()]
    with open(FOLDER / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*columns, strict=True))


def _written(value: object) -> str:
    """A hole is an empty field."""
    return "" if value is None or value != value else str(value)


def write_parts(stem: str, table: Mapping[str, np.ndarray], target: str, y: np.ndarray) -> None:
    """Four fifths of the rows to learn from, and a fifth to be judged by."""
    whole = {"id": np.arange(len(y)) + 10_001, **table, target: y}
    rows = np.random.default_rng(0).permutation(len(y))
    write_csv(f"{stem}.csv", whole, np.sort(rows[len(y) // 5 :]))
    write_csv(f"{stem}_new.csv", whole, np.sort(rows[: len(y) // 5]))


def coterie(*arguments: object) -> None:
    """Show a command, and run it as one would."""
    words = [str(own) for own in arguments]
    print(f"\n$ coterie {' '.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "coterie", *words], cwd=FOLDER, check=True)


def show(stem: str, target: str, seconds: float) -> None:
    model, page = f"{stem}.coterie", f"{stem}.html"
    limits = ["--time-limit", f"{seconds:g}", "--seed", 0]
    coterie("fit", f"{stem}.csv", "--target", target, "--drop", "id", *limits, "-o", model)
    coterie("evaluate", model, f"{stem}_new.csv", "--fail-under", "auc=0.6")
    coterie("report", model, f"{stem}_new.csv", "--new", "-o", page)
    coterie("predict", model, f"{stem}_new.csv", "--id", "id", "--proba", "-o", f"{stem}_answers.csv")
    with open(FOLDER / f"{stem}_answers.csv", encoding="utf-8") as file:
        print("".join(file.readlines()[:4]), end="")


def main() -> None:
    if any(importlib.util.find_spec(package) is None for package in ("typer", "rich", "duckdb", "skops")):
        print("This example needs the command line: pip install 'coterie[cli]'")
        return
    begin = perf_counter()
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
    FOLDER.mkdir(parents=True, exist_ok=True)
    table, kind = load_table("breast_cancer")
    write_parts("cancer", table, "kind", kind)
    houses, verdict = make_messy(4000, random_state=0)
    write_parts("houses", houses, "verdict", verdict)
    print(f"Two tables are in {FOLDER}: cancer.csv and houses.csv, and new rows of each.")
    show("cancer", "kind", seconds)
    show("houses", "verdict", 1.5 * seconds)
    coterie("inspect", "houses.coterie")
    print(f"\nAll of it took {perf_counter() - begin:.0f} seconds. Everything is in {FOLDER}.")


if __name__ == "__main__":
    main()
