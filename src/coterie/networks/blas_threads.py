"""One thread of BLAS while networks are at work: they run side by side in threads, and the bits stay the same.

BLAS has one limit for the whole process. The first who enters sets it and the last who leaves restores it, so that
fits in several threads of Python do not undo each other's.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_held: list[Any] = []
_n_inside = 0


@cache
def _controller() -> Any:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside the block."""
    global _n_inside
    with _lock:
        if _n_inside == 0:
            _held.append(_controller().limit(limits=1, user_api="blas"))
            _held[-1].__enter__()
        _n_inside += 1
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                _held.pop().__exit__(None, None, None)
