"""The command line as its tests use it: a run in this process, and small tables as files."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner, Result

from coterie.cli.app import app
from coterie.errors import CoterieError

# A committee of one quick member: tests are about the command line.
QUICK = ("--members", "linear", "--cv", "2", "--time-limit", "0", "--seed", "0")


def coterie(*arguments: object, given: str | None = None) -> Result:
    """Run a command; the standard input is `given`."""
    return CliRunner().invoke(app, [str(own) for own in arguments], input=given)


def done(*arguments: object, given: str | None = None) -> str:
    """The standard output of a command that works."""
    result = coterie(*arguments, given=given)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def failed(code: int, *arguments: object, given: str | None = None) -> str:
    """What a command prints that fails with this exit code; never a traceback."""
    result = coterie(*arguments, given=given)
    assert result.exit_code == code, (result.exit_code, result.stderr)
    assert "Traceback" not in result.stderr
    return result.stderr


def error_of(code: int, *arguments: object, given: str | None = None) -> CoterieError:
    """The error of a command that fails with this exit code, of which one line is printed."""
    result = coterie(*arguments, given=given)
    assert result.exit_code == code, (result.exit_code, result.stderr)
    error = result.exception.__context__.__cause__  # type: ignore[union-attr]
    assert isinstance(error, CoterieError)
    assert result.stderr.endswith(f"coterie: {error}\n")
    return error


def json_of(*arguments: object) -> Any:
    """The JSON that a command prints."""
    return json.loads(done(*arguments, "--json"))


Rows = Sequence[Mapping[str, Any]]


def flats(n_rows: int = 80, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of a small table: an id, numbers, a text with holes, a date, a flag, and two targets."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n_rows):
        area, town = rng.uniform(20, 140), str(rng.choice(["Cork", "Oslo", "Rome"]))
        rent = 2 + 0.09 * area + 3 * (town == "Oslo") + rng.normal()
        rows.append(
            {
                "flat": 1000 + number,
                "area": round(area, 1) if rng.random() > 0.1 else None,
                "town": town,
                "let": f"202{number % 4}-0{1 + number % 9}-11",
                "lift": ["true", "false"][number % 2],
                "rent": round(rent, 3),
                "dear": "yes" if rent > 9 else "no",
            }
        )
    return rows


def write_csv(path: Path, rows: Rows, delimiter: str = ",") -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))
