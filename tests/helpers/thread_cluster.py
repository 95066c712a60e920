"""A cluster whose workers are threads of this process: the core of distributed fits without any engine for clusters."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coterie import _engine
from coterie.boosting.shards import Shard, TrainedBoosting
from coterie.distributed.collective import GangAborted, ThreadGang
from coterie.distributed.fit import cluster_data
from coterie.distributed.members import MemberRows
from coterie.distributed.partitions import (
    bin_partition,
    codes_of_partition,
    column_values,
    shard_features,
    survey_partition,
)
from coterie.distributed.session import KnownRounds, Session, counts_of, joined, unpacked
from coterie.fitting.eval_set import named_eval_sets


class ThreadCluster:
    """Partitions of a table in memory, and so many threads that train on them."""

    def __init__(self, parts: list[dict[str, Any]], n_workers: int, *, faults: Sequence[int] = ()) -> None:
        self.parts, self.n_workers = parts, n_workers
        self.faults = list(faults)  # numbers of exchanges after which a gang is lost
        self.gangs = 0

    def given(self) -> list[dict[str, Any]]:
        return [
            {name: column_values(held) for name, held in part.items() if name != "X"} for part in self.parts
        ]

    def survey(self, rows: Any, categorical: Any) -> Any:
        return [
            survey_partition(part["X"], own, categorical) for part, own in zip(self.parts, rows, strict=True)
        ]

    def codes(self, rows: Any, encoder: Any, wanted: list[int]) -> Any:
        return [
            codes_of_partition(part["X"], own, encoder, wanted)
            for part, own in zip(self.parts, rows, strict=True)
        ]

    def make_blocks(self, rows: Any, digests: Any, binning: Any) -> None:
        self.binning = binning
        self.blocks = [
            bin_partition(part["X"], own, digest, binning)
            for part, own, digest in zip(self.parts, rows, digests, strict=True)
        ]

    def gang(
        self,
        divide_among: Callable[[int], list[MemberRows]],
        shard_of: Callable[[MemberRows], Shard],
        known: KnownRounds,
        shape: tuple[int, int],
        *,
        watched: bool,
    ) -> "GangOfThreads":
        return GangOfThreads(self, divide_among, shard_of, known, watched)


class GangOfThreads:
    def __init__(
        self,
        cluster: ThreadCluster,
        divide_among: Any,
        shard_of: Any,
        known: Any,
        watched: bool,
    ) -> None:
        self.known = known
        self._cluster, self._divide_among, self._shard_of = cluster, divide_among, shard_of
        self._watched = watched
        self._begin()

    def _begin(self) -> None:
        cluster = self._cluster
        cluster.gangs += 1
        members = self._divide_among(max(1, cluster.n_workers - cluster.gangs + 1))
        fault = cluster.faults.pop(0) if cluster.faults else None
        self._gang = ThreadGang(len(members)) if fault is None else FaultyGang(len(members), fault)
        self._sessions = []
        for rank, own in enumerate(members):
            collective = self._gang.member(rank)
            pieces = [(cluster.blocks[piece.partition], piece.begin, piece.end) for piece in own.pieces]

            def features(own: Any = own, pieces: Any = pieces, collective: Any = collective) -> Any:
                communicator = _engine.Communicator(collective)
                return shard_features(pieces, cluster.binning, communicator, own.first_row, 1)

            self._sessions.append(
                Session(
                    self._shard_of(own), features, collective, 1 + rank % 2, self.known, watched=self._watched
                )
            )
        for session in self._sessions:
            session.start()

    def advance(self, n_rounds: int, stop_after: int | None) -> TrainedBoosting | None:
        while True:
            try:
                return self._advance(n_rounds, stop_after)
            except GangAborted:
                packed = self._sessions[-1].rounds_after(counts_of(self.known))
                self.close()
                joined(self.known, unpacked(packed))
                self._begin()

    def _advance(self, n_rounds: int, stop_after: int | None) -> TrainedBoosting | None:
        import threading

        found: list[Any] = [None] * len(self._sessions)

        def run(rank: int) -> None:
            try:
                found[rank] = self._sessions[rank].advance(n_rounds, stop_after)
            except BaseException as error:
                found[rank] = error
                self._gang.abort(f"member {rank} failed")

        threads = [threading.Thread(target=run, args=(rank,)) for rank in range(len(self._sessions))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive(), "a member hangs"
        errors = [each for each in found if isinstance(each, BaseException)]
        for error in sorted(errors, key=lambda each: isinstance(each, GangAborted)):
            raise error
        joined(self.known, unpacked(self._sessions[0].rounds_after(counts_of(self.known))))
        result: TrainedBoosting | None = found[0].result
        if result is not None and result.held_out is not None:
            result.held_out = np.concatenate([each.result.held_out for each in found])
        return result

    def close(self) -> None:
        for session in self._sessions:
            session.abort(GangAborted("closed"))
        self._gang.abort("closed")
        for session in self._sessions:
            assert session.join(60), "a session does not end"


class FaultyGang(ThreadGang):
    """A gang that is lost after so many exchanges."""

    def __init__(self, n_members: int, after: int) -> None:
        super().__init__(n_members)
        self._after = after

    def exchange(self, rank: int, step: int, kind: str, words: Any) -> Any:
        if step == self._after:
            self.abort("lost")
        return super().exchange(rank, step, kind, words)


def fitted_by_threads(model: Any, parts: list[dict[str, Any]], n_workers: int, **options: Any) -> Any:
    """The model, fitted to partitions by threads; `eval_set` is as in fit, `faults` as in ThreadCluster."""
    faults = options.pop("faults", ())
    cluster, n_faults = ThreadCluster(parts, n_workers, faults=faults), len(faults)
    eval_set = options.pop("eval_set", None)
    with model._fitting(None, None, resume=options.pop("resume", False)) as run:
        data = cluster_data(model, run, cluster, options.pop("epoch_seconds", 0.05))
        plan = model._plan(data, has_eval_set=eval_set is not None)
        data = model._add_evaluation(data, plan, named_eval_sets(eval_set))
        signature = model._begin(run, data, plan)
        trained = model._train(run, model._boosting_fit(run, data, plan))
        model._conclude(trained, signature)
        model._set_calibration(data.train)
    assert cluster.gangs == 1 + n_faults, "each fault ends a gang"
    return model
