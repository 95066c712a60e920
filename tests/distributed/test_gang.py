"""When a gang of workers may begin anew: parts of it, without a cluster."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("dask")
pytest.importorskip("distributed")

from coterie.distributed.on_dask import gang
from coterie.distributed.on_dask.gang import DaskGang


def test_how_long_a_beginning_takes_is_measured_at_the_first_one_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Later advances take as long as their rounds, which says nothing about a beginning."""
    now = [10.0]
    monkeypatch.setattr(gang, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(gang, "counts_of", lambda known: known)

    class Quick(DaskGang):
        def __init__(self) -> None:
            self.known: Any = []
            self._name, self._members = None, []
            self._began, self._seconds_to_begin = 10.0, -1.0

        def _may_grow(self) -> bool:
            return False

        def _begin_or_lose(self, orders: Any) -> None:
            self._name = "gang"
            now[0] += 0.25

        def _epochs(self) -> Any:
            return None

        def _concluded(self, epochs: Any) -> Any:
            return None

    started = Quick()
    started.advance(5, None)
    assert started._seconds_to_begin == 0.25
    now[0] += 60.0
    started.advance(5, None)
    assert started._seconds_to_begin == 0.25
