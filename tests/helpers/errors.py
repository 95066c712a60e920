"""Errors as tests ask for them: by their fields, not by the words of a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from coterie.errors import CoterieError

_EXACT = ("parameter", "received", "column", "row")


@contextmanager
def raised(kind: type[CoterieError], **fields: Any) -> Iterator[pytest.ExceptionInfo[CoterieError]]:
    """The block raises an error of exactly this kind, whose fields are these; see `check_fields`."""
    with pytest.raises(kind) as caught:
        yield caught
    assert type(caught.value) is kind, f"{type(caught.value).__name__}: {caught.value}"
    check_fields(caught.value, **fields)


def check_fields(error: CoterieError, **fields: Any) -> None:
    """Compare the fields that are given.

    `parameter`, `received`, `column` and `row` are compared as they are; of `allowed`, `hint` and `about`, which is
    the text of the error, a part is enough.
    """
    for name, wanted in fields.items():
        found = str(error) if name == "about" else getattr(error, name)
        fits = same(found, wanted) if name in _EXACT else wanted in (found or "")
        assert fits, f"{name}={found!r}, expected {wanted!r}: {error}"


def same(found: Any, wanted: Any) -> bool:
    """Equal and of the same type; NaN is NaN, and arrays are compared entry by entry."""
    if found is wanted:
        return True
    if isinstance(found, np.ndarray) or isinstance(wanted, np.ndarray):
        return type(found) is type(wanted) and np.array_equal(found, wanted)
    if isinstance(found, float | np.floating) and isinstance(wanted, float | np.floating):
        return bool(found == wanted or (np.isnan(found) and np.isnan(wanted)))
    if isinstance(wanted, int) and isinstance(found, np.integer):
        return bool(found == wanted)
    return type(found) is type(wanted) and bool(found == wanted)
