"""Two hundred small fits leave nothing behind."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.estimators import ESTIMATORS, NETWORKS, OF_LEARNERS, answers, has, make, random_table

# Three hundred fits of several learners or networks each, which are loops of Python.
SLOW = [each for each in ESTIMATORS if each in OF_LEARNERS + NETWORKS or has(each, "estimator")]


def resident_kib() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0])


@pytest.mark.parametrize(
    "estimator", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in ESTIMATORS]
)
def test_memory_does_not_grow_with_fits(estimator: type[Any]) -> None:
    X, y = random_table(estimator)

    def fits(n: int) -> None:
        for _ in range(n):
            answers(make(estimator, n_estimators=3).fit(X, y), X)
        gc.collect()

    fits(100)
    resident = resident_kib()
    few_objects = any(_few_objects_kept(fits))
    fits(100)

    assert few_objects, "objects of Python are kept"
    assert any(_kept_less(resident, fits)), "memory of the engine is kept"


def _few_objects_kept(fits: Callable[[int], None]) -> Iterator[bool]:
    """Whether 100 fits keep less than 100 kB of objects, up to three times.

    Threads of other libraries, which earlier tests have started, keep things now and then; a leak grows each time.
    """
    for _ in range(3):
        tracemalloc.start()
        fits(5)
        before = tracemalloc.get_traced_memory()[0]
        fits(100)
        kept = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        yield kept < 100_000


def _kept_less(resident: int, fits: Callable[[int], None]) -> Iterator[bool]:
    """Whether 200 fits keep less than two mebibytes, up to three times.

    What threads of the allocator keep on a busy machine is kept once; a leak grows each time.
    """
    yield resident_kib() - resident < 2048
    for _ in range(2):
        resident = resident_kib()
        fits(200)
        yield resident_kib() - resident < 2048
