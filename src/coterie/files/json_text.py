"""JSON that is written in one way only, and read with limits: on its depth, its number of values and its form.

The way is `canonical`: names in order, no blanks, ASCII. Text that is not written in this way is refused, so a name
that comes twice, a number with a leading zero or a blank in a strange place needs no rule of its own.
"""

import json
import re
from typing import Any

import numpy as np

from coterie.errors import ModelFileError

_MOST_DEPTH = 64
_MOST_VALUES = 1_000_000
_BYTES_PER_VALUE = 32  # of a large file: what a value takes in memory is then in proportion to the file
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def canonical(value: Any) -> str:
    """The text of a value; the same value has the same text everywhere.

    Examples
    --------
    >>> canonical({"b": [1, 2.5], "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def check_size(text: bytes, file_size: int, where: str) -> None:
    """Refuse text of so many values that reading it would take much more memory than the file is large."""
    n_values = sum(text.count(mark) for mark in (b",", b"[", b"{", b":"))
    most = max(_MOST_VALUES, file_size // _BYTES_PER_VALUE)
    if n_values > most:
        raise ModelFileError(
            f"{where} has about {n_values} values, and at most {most} are read from a file of {file_size} bytes."
        )


def parsed(text: bytes, where: str) -> Any:
    """The value of a text that `canonical` wrote; `check_size` comes first."""
    _check_depth(text, where)
    try:
        value = json.loads(text, parse_constant=_no_constant)
        again = canonical(value).encode()
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where} is no JSON: {error}.") from None
    if again != text:
        raise ModelFileError(
            f"{where} is not in the one form that coterie writes: a name may come twice or not in order, or a blank "
            "or a digit may be too many."
        )
    return value


def _check_depth(text: bytes, where: str) -> None:
    marks = np.frombuffer(_TEXT.sub(b"", text), dtype=np.uint8)
    opens = (marks == ord("[")) | (marks == ord("{"))
    closes = (marks == ord("]")) | (marks == ord("}"))
    depth = np.cumsum(opens.astype(np.int32) - closes.astype(np.int32))
    if depth.max(initial=0) > _MOST_DEPTH:
        raise ModelFileError(f"{where} is nested {depth.max()} deep; at most {_MOST_DEPTH} is allowed.")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
