"""Files with models: reading them whole, and telling their formats apart by what is inside."""

import os
from pathlib import Path
from typing import Any, Literal

from coterie.errors import ModelFileError

Format = Literal["lightgbm text", "json", "ubjson"]

_REFUSED = (
    (b"\x80", "a pickle, which can run any code when it is read"),
    (b"PK\x03\x04", "a zip file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"binf", "the old binary format of XGBoost"),
    (b"CBM1", "a CatBoost model"),
)
_ADVICE = (
    "Expected the text of LightGBM's save_model, or the JSON or UBJ file of XGBoost's save_model; a scikit-learn model "
    "is imported as the object it is."
)


def is_file_like(source: Any) -> bool:
    """Whether this is a path, or the content of a file."""
    return isinstance(source, str | bytes | os.PathLike)


def bytes_of(source: str | bytes | os.PathLike[str]) -> bytes:
    """The content of a file. Text of several lines, or that begins with a brace, is the content itself."""
    if isinstance(source, bytes):
        return source
    if isinstance(source, str) and ("\n" in source or source.lstrip()[:1] == "{"):
        return source.encode()
    return Path(source).read_bytes()


def format_of(data: bytes) -> Format:
    """Which of the formats this is, whatever the file is called."""
    for start, what in _REFUSED:
        if data.startswith(start):
            raise ModelFileError(f"The file is {what}. {_ADVICE}")
    text = data[:64].lstrip()
    if text.startswith(b"tree") and text[4:].lstrip(b"\r")[:1] == b"\n":
        return "lightgbm text"
    if text.startswith(b"{"):
        inside = text[1:].lstrip()[:1]
        return "json" if inside in (b'"', b"}", b"") else "ubjson"
    raise ModelFileError(
        f"The file begins with {data[:20]!r}, which is no model that can be imported. {_ADVICE}"
    )
