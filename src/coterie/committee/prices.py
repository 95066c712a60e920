"""What members cost once they are fitted: bytes, and seconds of a prediction within a limit."""

import pickle
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.committee._committee_data import MemberRecord


class _ByteCount:
    """A file that keeps nothing but the number of bytes that were written to it."""

    def __init__(self) -> None:
        self.total = 0

    def write(self, written: Any) -> int:
        n_bytes = memoryview(written).nbytes
        self.total += n_bytes
        return n_bytes


def bytes_of(models: Sequence[Any]) -> int | None:
    """The size of models when they are copied to another process; None if they cannot be.

    Examples
    --------
    >>> bytes_of([np.zeros(1000)]) > 8000, bytes_of([lambda: 0]) is None
    (True, True)
    """
    count: Any = _ByteCount()
    try:
        pickle.Pickler(count, protocol=5).dump(list(models))
    except Exception:  # learners of others fail in their own ways
        return None
    return int(count.total)


def shares_of_predict_time(records: Sequence[MemberRecord], most: float, owner: str) -> FloatArray:
    """By how much of the limit each member takes to predict; a warning if all take more."""
    times = np.array([record.predict_time for record in records])
    if times.min() > most:
        fastest = records[int(np.argmin(times))].name
        warnings.warn(
            f"{owner}: no member predicts 1,000 rows within max_predict_time={most:g} s. The committee is the fastest "
            f"alone, {fastest}, which takes {times.min():.2g} s.",
            UserWarning,
            stacklevel=2,
        )
    return times / most
