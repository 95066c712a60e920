"""Collections of Dask as tables to train on."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dask
import numpy as np
from distributed import default_client, wait

from coterie._typing import AnyArray, CategoricalFeatures, CodeArray
from coterie.boosting.shards import BoostingData, Shard
from coterie.data.prepare import Encoder
from coterie.distributed.fit import cluster_data
from coterie.distributed.forest import WorkerLimits
from coterie.distributed.members import MemberRows, divide
from coterie.distributed.on_dask.collections import computed, is_collection, partitions_of
from coterie.distributed.on_dask.gang import DaskGang
from coterie.distributed.partitions import (
    Binning,
    PartitionRows,
    PartitionSurvey,
    bin_partition,
    codes_of_partition,
    column_values,
    encode_partition,
    survey_partition,
)
from coterie.distributed.session import KnownRounds
from coterie.distributed.settings import ClusterSettings, current_settings
from coterie.errors import InvalidInput, InvalidType


def prepare_collections(
    estimator: Any, run: Any, X: Any, given: dict[str, Any], eval_set: Any
) -> tuple[BoostingData, Any]:
    """What a fit needs of collections, and the eval set in memory."""
    settings = current_settings()
    cluster = DaskCluster(X, given, settings)
    data = cluster_data(estimator, run, cluster, settings.epoch_seconds)
    return data, eval_set_in_memory(eval_set)


def eval_set_in_memory(eval_set: Any) -> Any:
    """An eval set whose collections are computed: its rows are gathered by the client."""
    if isinstance(eval_set, list | tuple):
        return type(eval_set)(eval_set_in_memory(each) for each in eval_set)
    return computed(eval_set) if is_collection(eval_set) else eval_set


class DaskCluster:
    """Partitions that Dask can compute; see `coterie.distributed.fit.Cluster`, and `forest.PartitionedTable`."""

    def __init__(self, X: Any, given: dict[str, Any], settings: ClusterSettings) -> None:
        self._client = client_of(settings)
        self._settings = settings
        self._X = partitions_of(X, "X")
        self._given: dict[str, list[Any]] = {}
        if given["y"] is None:
            raise InvalidInput("fit needs a target y.", parameter="y", allowed="a collection of Dask")
        for name, collection in given.items():
            if collection is None:
                continue
            if not is_collection(collection):
                raise InvalidType.expecting(
                    f"{name} is a {type(collection).__name__}, and X a collection of Dask",
                    "a collection of Dask, with the partitions of X",
                    name,
                    type(collection).__name__,
                )
            parts = partitions_of(collection, name)
            if len(parts) != len(self._X):
                raise InvalidInput(
                    f"{name} has {len(parts)} partitions, and X has {len(self._X)}.",
                    parameter=name,
                    received=len(parts),
                    allowed=f"{len(self._X)} partitions, with the rows of X",
                    hint="Make both of one collection, or call repartition (rechunk for arrays).",
                )
            self._given[name] = parts
        self._blocks: list[Any] = []
        self._binning: Binning | None = None

    def given(self) -> list[dict[str, AnyArray]]:
        read = dask.delayed(_rows_of, pure=False)
        names = list(self._given)
        tasks = [read(names, *parts) for parts in zip(*self._given.values(), strict=True)]
        found: list[dict[str, AnyArray]] = self._computed(tasks)
        return found

    def survey(
        self, rows: Sequence[PartitionRows], categorical: CategoricalFeatures
    ) -> list[PartitionSurvey | None]:
        look = dask.delayed(survey_partition, pure=False)
        return self._computed(  # type: ignore[no-any-return]
            [look(part, own, categorical) for part, own in zip(self._X, rows, strict=True)]
        )

    def codes(
        self, rows: Sequence[PartitionRows], encoder: Encoder, wanted: list[int]
    ) -> list[list[CodeArray]]:
        look, encoder = dask.delayed(codes_of_partition, pure=False), dask.delayed(encoder)
        return self._computed(  # type: ignore[no-any-return]
            [look(part, own, encoder, wanted) for part, own in zip(self._X, rows, strict=True)]
        )

    def encoded(
        self,
        rows: Sequence[PartitionRows],
        digests: Sequence[str | None],
        encoder: Encoder,
        types: Sequence[np.dtype[Any]],
    ) -> Iterator[list[AnyArray]]:
        encode = dask.delayed(encode_partition, pure=False)
        shared = [dask.delayed(encoder), dask.delayed(list(types), traverse=False)]
        futures = self._client.compute(
            [encode(part, *own, *shared) for part, *own in zip(self._X, rows, digests, strict=True)]
        )
        while futures:  # workers give up a partition when the client has it
            yield futures.pop(0).result()

    def workers(self) -> list[WorkerLimits]:
        known = self._client.scheduler_info(n_workers=-1)["workers"]
        return [
            WorkerLimits(address, int(own["memory_limit"] or 0), int(own["nthreads"]))
            for address, own in known.items()
        ]

    def make_blocks(
        self, rows: Sequence[PartitionRows], digests: Sequence[str | None], binning: Binning
    ) -> None:
        self._binning = binning
        make, shared = dask.delayed(bin_partition, pure=False), dask.delayed(binning)
        homes = self._homes(rows)
        tasks = []
        for part, own, digest, home in zip(self._X, rows, digests, homes, strict=True):
            with dask.annotate(workers=[home], allow_other_workers=True):
                tasks.append(make(part, own, digest, shared))
        self._blocks = self._client.compute(tasks)
        with self._client.as_current():  # `wait` asks for the client of the thread
            wait(self._blocks)
        failed = [block for block in self._blocks if block.status == "error"]
        if failed:
            failed[0].result()

    def gang(
        self,
        divide_among: Callable[[int], list[MemberRows]],
        shard_of: Callable[[MemberRows], Shard],
        known: KnownRounds,
        shape: tuple[int, int],
        *,
        watched: bool,
    ) -> DaskGang:
        assert self._binning is not None
        return DaskGang(
            self._client,
            self._settings,
            self._blocks,
            self._binning,
            divide_among,
            shard_of,
            known,
            shape,
            watched=watched,
        )

    def _computed(self, tasks: list[Any]) -> Any:
        return self._client.gather(self._client.compute(tasks))

    def _homes(self, rows: Sequence[PartitionRows]) -> list[str]:
        """For each partition the worker that will have most of its rows."""
        workers = sorted(self._client.nthreads())
        members = divide([own.n_rows for own in rows], len(workers))
        homes = []
        for own in rows:
            middle = own.first_row + own.n_rows // 2
            place = sum(member.first_row <= middle for member in members) - 1
            homes.append(workers[max(0, place)])
        return homes


def _rows_of(names: list[str], *parts: Any) -> dict[str, AnyArray]:
    return {name: column_values(part) for name, part in zip(names, parts, strict=True)}


def client_of(settings: ClusterSettings) -> Any:
    """The client to train with."""
    if settings.client is not None:
        return settings.client
    try:
        return default_client()
    except ValueError as error:
        raise InvalidInput(
            "X is a collection of Dask, and there is no client of a cluster to train on.",
            parameter="X",
            allowed="a collection of Dask while a client is open",
            hint="Start one: from dask.distributed import Client; client = Client(). To train in this process, compute "
            "the collections first.",
        ) from error
