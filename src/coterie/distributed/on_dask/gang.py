"""The client's side of a gang: members begin, grow epoch by epoch, and begin anew when one of them is lost."""

import secrets
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

import numpy as np
from distributed import Lock, wait
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from coterie.boosting.shards import Shard, TrainedBoosting
from coterie.distributed.collective import GangAborted
from coterie.distributed.members import MemberRows
from coterie.distributed.on_dask import member
from coterie.distributed.on_dask.connection import GangPlugin
from coterie.distributed.partitions import Binning
from coterie.distributed.session import (
    Epoch,
    KnownRounds,
    PackedRounds,
    counts_of,
    joined,
    packed_rounds,
    unpacked,
)
from coterie.distributed.settings import ClusterSettings
from coterie.errors import WorkerLostError

_LOOK = 0.2  # seconds between two looks at who is there
_GRACE = 5.0  # seconds for the others to say why the gang has ended
_WORTH = 5  # times the seconds of its first epoch that a gang works before it begins anew for the sake of more members
_NO_WORKERS = 120.0  # seconds to wait for a worker when there is none


class _Lost(Exception):
    """The gang is no more; some of these members may be gone."""

    def __init__(self, reason: str, addresses: list[str]) -> None:
        super().__init__(reason)
        self.reason, self.addresses = reason, addresses


class DaskGang:
    """Members on Dask's workers; see `coterie.distributed.fit.Gang`."""

    def __init__(
        self,
        client: Any,
        settings: ClusterSettings,
        blocks: list[Any],
        binning: Binning,
        divide_among: Callable[[int], list[MemberRows]],
        shard_of: Callable[[MemberRows], Shard],
        known: KnownRounds,
        shape: tuple[int, int],
        *,
        watched: bool,
    ) -> None:
        self.known, self.restarts = known, 0
        self._client, self._settings = client, settings
        self._blocks, self._binning = blocks, binning
        self._divide_among, self._shard_of = divide_among, shard_of
        self._shape, self._watched = shape, watched
        self._name: str | None = None
        self._members: list[str] = []
        self._rows: list[MemberRows] = []
        self._began, self._seconds_to_begin = 0.0, -1.0
        self._futures: list[Any] = []
        self._lock = Lock("coterie-gang", scheduler_rpc=client.scheduler, loop=client.loop)
        client.register_plugin(GangPlugin())  # also of workers that join later
        self._lock.acquire()

    def advance(self, n_rounds: int, stop_after: int | None) -> TrainedBoosting | None:
        while True:
            if self._name is not None and self._may_grow():
                self._learn_all(self._end(self._members, "Workers have joined."))
            orders = member.Orders(n_rounds, stop_after, counts_of(self.known))
            try:
                if self._name is None:
                    self._begin_or_lose(orders)
                else:
                    self._futures = [
                        self._submit(address, member.advance, self._name, orders) for address in self._members
                    ]
                begins = self._seconds_to_begin < 0
                found = self._concluded(self._epochs())
                if begins:
                    self._seconds_to_begin = time.monotonic() - self._began
                return found
            except _Lost as lost:
                self._recover(lost)

    def close(self) -> None:
        """Let the members go; nothing is left of the gang on them."""
        try:
            self._end(
                [address for address in self._members if address in self._present()], "The fit is over."
            )
        finally:
            self._lock.release()

    # Beginning

    def _begin_or_lose(self, orders: member.Orders) -> None:
        try:
            self._begin(orders)
        except (
            OSError,
            KeyError,
            CommClosedError,
            CancelledError,
        ) as error:  # a member went while it was prepared
            raise _Lost(f"A worker is gone: {error}", self._absent()) from error

    def _begin(self, orders: member.Orders) -> None:
        present = self._wait_for_workers()
        self._began, self._seconds_to_begin = time.monotonic(), -1.0
        self._rows = self._divide_among(len(present))
        self._members = present[: len(self._rows)]
        self._name = secrets.token_hex(8)
        opened, silent = self._run(
            self._members, member.open_on_member, self._name, self._members, self._settings.step_timeout
        )
        if silent:
            raise _Lost(f"The worker {silent[0]} does not answer", silent)
        for address, theirs in opened.items():
            member.refuse_other_versions(theirs, member.versions(), address)
        known = packed_rounds(self.known, *self._shape)
        self._futures = []
        for address, own in zip(self._members, self._rows, strict=True):
            [shard] = self._client.scatter([self._shard_of(own)], workers=[address], hash=False)
            cuts = [(piece.begin, piece.end) for piece in own.pieces]
            blocks = [self._blocks[piece.partition] for piece in own.pieces]
            self._futures.append(
                self._submit(
                    address,
                    member.begin,
                    self._name,
                    shard,
                    cuts,
                    blocks,
                    self._binning,
                    known,
                    orders,
                    watched=self._watched,
                )
            )

    def _submit(self, address: str, function: Any, *args: Any, **options: Any) -> Any:
        return self._client.submit(
            function, *args, **options, workers=[address], allow_other_workers=False, pure=False, retries=0
        )

    def _present(self) -> list[str]:
        """Workers that the scheduler knows now, those with the same name first of all."""
        return sorted(self._client.nthreads())

    def _wait_for_workers(self) -> list[str]:
        end = time.monotonic() + _NO_WORKERS
        while not (present := self._present()):
            if time.monotonic() > end:
                raise self._given_up("There is no worker left", [])
            time.sleep(_LOOK)
        return present

    # Growing

    def _epochs(self) -> list[Epoch]:
        """What the members return; raises what one of them raised, or that the gang is lost."""
        pending = list(self._futures)
        while pending:
            # A wait for several of which one has failed raises; so each is asked for itself.
            wait_for_some(pending)
            failed = [each for each in pending if each.status in ("error", "cancelled", "lost")]
            if failed:
                raise self._cause(failed)
            pending = [each for each in pending if each.status != "finished"]
            absent = self._absent()
            if absent and pending:
                raise _Lost(f"The worker {absent[0]} is gone", absent)
        try:
            epochs: list[Epoch] = self._client.gather(self._futures)
        except (OSError, CommClosedError, CancelledError, KilledWorker) as error:
            raise _Lost(f"The results of an epoch are lost: {error}", self._absent()) from error
        return epochs

    def _absent(self) -> list[str]:
        present = set(self._present())
        return [address for address in self._members if address not in present]

    def _cause(self, failed: list[Any]) -> BaseException:
        """Why members have failed: what a member raised by itself comes before what it raised because of others."""
        end = time.monotonic() + _GRACE
        pending = [each for each in self._futures if not each.done()]
        while pending and not self._absent() and time.monotonic() < end:
            wait_for_some(pending)
            pending = [each for each in pending if not each.done()]
        suspects: list[str] = []
        reason = "A worker is gone"
        for each in self._futures:
            if each.status != "error":
                continue
            error = each.exception()
            if isinstance(error, GangAborted):
                reason = error.reason
                suspects += [] if error.lost is None else [error.lost]
            elif not isinstance(error, KilledWorker | CommClosedError | OSError | CancelledError):
                return error  # type: ignore[no-any-return]
        return _Lost(reason, list(dict.fromkeys([*self._absent(), *suspects])))

    def _concluded(self, epochs: list[Epoch]) -> TrainedBoosting | None:
        rounds = epochs[0].rounds
        assert rounds is not None
        joined(self.known, unpacked(rounds))
        result = epochs[0].result
        if result is not None and result.held_out is not None:
            parts = [each.result.held_out for each in epochs if each.result is not None]
            result.held_out = np.concatenate([part for part in parts if part is not None])
        return result

    # Beginning anew

    def _recover(self, lost: _Lost) -> None:
        self.restarts += 1
        if not lost.addresses:  # the scheduler may be about to notice
            time.sleep(_LOOK)
            lost.addresses = self._absent()
        present = self._present()
        self._remove([address for address in lost.addresses if address in present])
        there = [each for each in self._members if each in present and each not in lost.addresses]
        self._learn_all(self._end(there, lost.reason))
        if self.restarts > self._settings.max_restarts:
            raise self._given_up(lost.reason, lost.addresses)

    def _may_grow(self) -> bool:
        """Whether more members would serve: workers have joined, and beginning anew takes a small part of the time."""
        now = time.monotonic()
        if now - self._began < _WORTH * self._seconds_to_begin:
            return False
        return len(self._divide_among(len(self._present()))) > len(self._members)

    def _learn_all(self, found: list[PackedRounds]) -> None:
        for packed in found:
            self._learn(packed)

    def _learn(self, packed: PackedRounds) -> None:
        """Take rounds that are new; what members hold is the beginning of one sequence."""
        for stage, boosters in enumerate(unpacked(packed)):
            if stage == len(self.known):
                self.known.append([[] for _ in boosters])
            for held, rounds, seen in zip(
                self.known[stage], boosters, self._seen(stage, boosters), strict=True
            ):
                held += rounds[len(held) - seen :]

    def _seen(self, stage: int, boosters: list[Any]) -> list[int]:
        return self._seen_then[stage] if stage < len(self._seen_then) else [0] * len(boosters)

    def _end(self, there: list[str], reason: str) -> list[PackedRounds]:
        """Close the gang on these members; what they have grown that the client has not seen."""
        self._seen_then = counts_of(self.known)
        for future in self._futures:
            future.cancel(force=True)
        self._futures = []
        name, self._name = self._name, None
        if name is None or not there:
            return []
        found, silent = self._run(there, member.close_on_member, name, self._seen_then, reason)
        self._remove(silent)
        return [packed for packed in found.values() if packed is not None]

    def _remove(self, frozen: list[str]) -> None:
        """Have the scheduler forget workers that do not answer, so that their partitions are made anew elsewhere."""
        for address in frozen:
            self._client.run_on_scheduler(_remove_worker, address)

    def _run(self, addresses: list[str], function: Any, *args: Any) -> tuple[dict[str, Any], list[str]]:
        """By the event loops of members, one after the other; what they return, and those that do not answer."""
        found: dict[str, Any] = {}
        silent: list[str] = []
        for address in addresses:
            try:
                # `client.run` would wait for a frozen worker for ever.
                found |= self._client.sync(
                    self._client._run,
                    function,
                    *args,
                    workers=[address],
                    callback_timeout=self._settings.step_timeout,
                )
            except (OSError, CommClosedError, KeyError):
                silent.append(address)
        return found, silent

    def _given_up(self, reason: str, addresses: list[str]) -> WorkerLostError:
        worker = addresses[0] if addresses else None
        rows = None
        if worker in self._members:
            own = self._rows[self._members.index(worker)]
            rows = (own.first_row, own.first_row + own.n_rows)
        n_rounds = max((len(rounds) for rounds in self.known[0]), default=0) if self.known else 0
        about = "" if rows is None else f" It had the rows {rows[0]} to {rows[1] - 1}."
        error = WorkerLostError(
            f"{reason.rstrip('.')}, and the fit has begun anew {self._settings.max_restarts} times already. "
            f"{n_rounds} rounds were finished.{about}",
            parameter="X",
            received=worker,
            allowed="workers that stay",
            hint="A worker that is killed again and again has too little memory for its rows: add workers, or memory. "
            "To allow more restarts: with coterie.cluster_settings(max_restarts=10): model.fit(...).",
        )
        error.worker, error.rows = worker, rows
        return error


async def _remove_worker(address: str, dask_scheduler: Any = None) -> None:
    await dask_scheduler.remove_worker(address, stimulus_id="coterie-frozen-worker", close=False)


def wait_for_some(futures: list[Any]) -> None:
    """Until one of these is done, or for a moment."""
    with suppress(TimeoutError, CancelledError), futures[0].client.as_current():
        wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED")
