"""Forests on Dask: ranges of trees are tasks on workers that each have a copy of the table.

A worker that is lost loses its tasks and nothing else: Dask runs them again where the table is still. If no copy is
left, the client sends it once more.
"""

import secrets
from concurrent.futures import CancelledError
from typing import Any

from distributed import get_worker
from distributed.scheduler import KilledWorker

from coterie.data.prepare import TrainingData
from coterie.distributed.forest import gathered_training
from coterie.distributed.on_dask.fit import DaskCluster, client_of
from coterie.distributed.on_dask.gang import wait_for_some
from coterie.distributed.on_dask.member import refuse_other_versions, versions
from coterie.distributed.settings import ClusterSettings, current_settings
from coterie.errors import WorkerLostError
from coterie.forests.tree_ranges import ForestTask, GrownRange, RangeGrower, RangeSource

_TASKS_OF_A_WORKER = 4  # so that what a lost worker loses is a part of its trees
_SPECULATIVE = 16  # trees for each worker at a time, if nobody knows how many will serve


def gathered_table(estimator: Any, X: Any, y: Any, sample_weight: Any) -> TrainingData:
    """The whole table, as a fit in memory prepares it."""
    cluster = DaskCluster(X, {"y": y, "sample_weight": sample_weight}, current_settings())
    return gathered_training(estimator, cluster)


def range_source(task: ForestTask, n_trees: int | None) -> RangeSource:
    """Workers that grow the trees of a task up to a number, the trees of earlier fits included; None: for ever."""
    settings = current_settings()
    wanted = None if n_trees is None else n_trees - task.first_tree
    return DaskRanges(client_of(settings), settings, RangeGrower(task), wanted)


class DaskRanges:
    """Ranges of trees as tasks; see `coterie.forests.tree_ranges.RangeSource`."""

    def __init__(
        self, client: Any, settings: ClusterSettings, grower: RangeGrower, n_trees: int | None
    ) -> None:
        self._client, self._settings, self._n_trees = client, settings, n_trees
        self._grower = grower
        self._sent: Any = None  # the grower, on workers
        self._n_planned = 0
        self._ranges: dict[int, tuple[int, str]] = {}  # how many trees, and where, by the first of them
        self._futures: dict[int, Any] = {}
        self._name, self._n_sent = secrets.token_hex(8), 0

    def range_from(self, first: int) -> GrownRange:
        if first not in self._futures:
            self._plan(first)
        while True:
            future = self._futures[first]
            wait_for_some([future])
            if future.status == "pending":
                continue
            try:
                if future.status in ("cancelled", "lost"):
                    raise CancelledError
                found: GrownRange = future.result()
            except KilledWorker as error:
                raise self._given_up(str(error.last_worker.address)) from error
            except CancelledError:  # whoever had the table is gone
                self._send_again()
                continue
            del self._futures[first]
            return found

    def close(self) -> None:
        for future in self._futures.values():
            future.cancel(force=True)
        self._futures, self._sent = {}, None

    def _plan(self, first: int) -> None:
        """Blocks of trees that follow each other, one for each worker, in parts."""
        workers = self._client.nthreads()
        places = sorted(workers) or [""]
        end = first + _SPECULATIVE * len(places) if self._n_trees is None else self._n_trees
        edges = [first + (end - first) * place // len(places) for place in range(len(places) + 1)]
        for part in range(_TASKS_OF_A_WORKER):
            for place, address in enumerate(places):
                begin, n = edges[place], edges[place + 1] - edges[place]
                own = begin + n * part // _TASKS_OF_A_WORKER
                n_trees = begin + n * (part + 1) // _TASKS_OF_A_WORKER - own
                if n_trees:
                    self._ranges[own] = n_trees, address
        self._submit([own for own in self._ranges if own >= first])

    def _submit(self, firsts: list[int]) -> None:
        if self._sent is None:
            [self._sent] = self._client.scatter([self._grower], broadcast=True, hash=False)
            self._n_sent += 1
        for first in firsts:
            n_trees, address = self._ranges[first]
            self._futures[first] = self._client.submit(
                grow_range,
                self._sent,
                first,
                n_trees,
                versions(),
                workers=[address] if address else None,
                allow_other_workers=bool(address),
                key=f"coterie-trees-{self._name}-{self._n_sent}-{first}",
                retries=self._settings.max_restarts,
            )

    def _send_again(self) -> None:
        if self._n_sent > self._settings.max_restarts:
            raise self._given_up(None)
        waiting = list(self._futures)
        for first in waiting:
            self._futures.pop(first).release()
        self._sent = None
        self._submit(waiting)

    def _given_up(self, worker: str | None) -> WorkerLostError:
        return WorkerLostError(
            "Workers that grow trees are lost again and again"
            + (f", the last one {worker}." if worker else f": all were gone {self._n_sent} times."),
            parameter="X",
            received=worker,
            allowed="workers that stay",
            hint="A worker that is killed again and again has too little memory for the table: give it more "
            "(memory_limit), or take fewer rows with X.sample(frac=...).",
        )


def grow_range(grower: RangeGrower, first: int, n_trees: int, of_client: dict[str, str]) -> GrownRange:
    """As a task: some trees."""
    worker = get_worker()
    refuse_other_versions(versions(), of_client, worker.address)
    return grower.grow(first, n_trees, max(1, worker.state.nthreads))
