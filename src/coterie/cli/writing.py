"""What a command leaves behind: files that appear whole or not at all, and results on the standard output."""

import json
import math
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from coterie.cli.errors import STDOUT, USAGE, CommandError, writing
from coterie.data.table_files.suggestions import guessed

# Endings of files that hold something else than a model of ours.
_OF_OTHER_FILES = {
    **dict.fromkeys(
        (".pkl", ".pickle", ".joblib", ".dill"),
        "pickles run code when they are loaded, and this file is none",
    ),
    **dict.fromkeys(
        (".onnx", ".tl"), "to write that format, fit a .coterie file first and use `coterie export`"
    ),
    **dict.fromkeys((".html", ".txt", ".md"), "reports are written by --report"),
    **dict.fromkeys(
        (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", ".xlsx"),
        "tables are written by `coterie predict`",
    ),
}


def check_model_place(path: Path) -> None:
    """Refuse a name that says that a model file is something else, and places that cannot be written."""
    reason = _OF_OTHER_FILES.get(path.suffix.lower())
    if reason is not None:
        raise CommandError(
            f"--output {path}: a model file has a layout of its own; {reason}.",
            USAGE,
            parameter="--output",
            received=path,
            allowed="a name that ends in .coterie",
            hint=f"Call it {path.with_suffix('.coterie')}, and load it by coterie.load.",
        )
    check_place(path, "--output")


def check_place(path: Path, option: str, endings: tuple[str, ...] = ()) -> None:
    """Refuse a file that cannot be written, before the work begins."""

    def refused(message: str, **fields: Any) -> CommandError:
        return CommandError(f"{option} {path}{message}", USAGE, parameter=option, received=path, **fields)

    if endings and path.suffix.lower() not in endings:
        allowed = f"a name that ends in {' or '.join(endings)}"
        raise refused(f": expected {allowed}.", allowed=allowed)
    if path.is_dir():
        raise refused(" is a folder; give the name of a file in it.")
    if path.exists() and not path.is_file():
        raise refused(" is no ordinary file, so it cannot be replaced by one.")
    folder = path.absolute().parent
    if not folder.is_dir():
        beside = [own.name for own in folder.parent.iterdir()] if folder.parent.is_dir() else []
        hint = guessed(folder.name, beside) or "Make it first."
        raise refused(f": there is no folder '{folder}'.", hint=hint)
    if not os.access(folder, os.W_OK):
        raise refused(f": you may not write into the folder '{folder}'.")


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """A file beside `path` to be written; it takes its place when all went well, and goes away otherwise."""
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.stem[:100]}.{secrets.token_hex(8)}.part{target.suffix}")
    try:
        with writing(path):
            yield part
            with open(part, "rb") as file:
                os.fsync(file.fileno())
            os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def print_out(text: str) -> None:
    """A result on the standard output."""
    with writing(STDOUT):
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()


def print_part(text: str) -> None:
    """A part of a result on the standard output, to which others follow."""
    with writing(STDOUT):
        sys.stdout.write(text)


def as_json(value: Any, *, indent: int | None = 2) -> str:
    """JSON of results: arrays are lists, and what is no number is null.

    Examples
    --------
    >>> as_json({"score": np.float64(0.5), "error": float("nan"), "names": ("a",)}, indent=None)
    '{"score": 0.5, "error": null, "names": ["a"]}'
    """
    return json.dumps(_plain(value), indent=indent, allow_nan=False, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(own) for own in value]
    if isinstance(value, np.ndarray):
        return [_plain(own) for own in value.tolist()]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool) or value is None else str(value)
