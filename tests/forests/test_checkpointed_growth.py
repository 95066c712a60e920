"""How many trees a forest grows at once between the parts of its checkpoint. Time is a number of ours."""

from types import SimpleNamespace
from typing import Any

import pytest

from coterie.forests import growth
from coterie.forests.growth import CheckpointedTrees

THREADS = 4


class Trees(list[int]):
    """A training that counts its trees; each takes a second of the clock."""

    def __init__(self, clock: SimpleNamespace) -> None:
        super().__init__()
        self.clock = clock

    def grow(self, n_trees: int) -> None:
        self.extend(range(n_trees))
        self.clock.now += n_trees


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    held = SimpleNamespace(now=0.0)
    monkeypatch.setattr(growth, "time", SimpleNamespace(monotonic=lambda: held.now))
    return held


def growing(clock: Any, every: int | None, seconds_left: float | None) -> tuple[CheckpointedTrees, Trees]:
    checkpoint = SimpleNamespace(every=every, seconds_left=seconds_left, known=[], look=lambda _: None)
    training = Trees(clock)
    return CheckpointedTrees(checkpoint, training, THREADS, track_oob=False), training  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds_left", "n_trees"), [(0.0, 4), (3.9, 4), (4.0, 4), (7.9, 4), (8.0, 8), (13.0, 12), (1e6, 100)]
)
def test_as_many_trees_as_there_is_time_for_and_one_a_thread_at_least(
    clock: Any, seconds_left: float, n_trees: int
) -> None:
    trees, training = growing(clock, None, seconds_left)

    trees.grow(100)
    assert len(training) == THREADS  # nobody knows yet how long a tree takes
    trees.grow(100)
    assert len(training) - THREADS == n_trees


@pytest.mark.parametrize(("every", "n_trees"), [(1, 1), (7, 7), (200, 100), (None, 100)])
def test_a_part_is_not_passed_by(clock: Any, every: int | None, n_trees: int) -> None:
    trees, training = growing(clock, every, None)

    trees.grow(100)

    assert len(training) == n_trees


def test_the_sooner_of_trees_and_seconds_counts(clock: Any) -> None:
    trees, training = growing(clock, 6, 20.0)

    trees.grow(100)
    assert len(training) == 4
    trees.grow(100)
    assert len(training) == 6
    trees.grow(100)  # the part is due, and nobody has written it
    assert len(training) == 7
