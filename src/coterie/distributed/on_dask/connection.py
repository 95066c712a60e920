"""Exchanges between Dask's workers: handlers that a plugin adds to each worker, and the collective that calls them.

Members send their words to one another at once, over connections that Dask keeps, and each combines what has come:
messages without replies, so that an exchange takes the time of one message. Messages hold plain values and buffers.
Each names its gang; those of gangs that a worker has not opened, or has closed, are dropped.

Who waits looks now and then whether those it waits for still answer: a machine that is frozen, or cut off, keeps its
connections open.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import TimeoutError as WaitedLongEnough
from typing import Any

import numpy as np
from distributed import WorkerPlugin
from distributed.comm import CommClosedError
from distributed.protocol import to_serialize

from coterie.boosting.shards import Words
from coterie.distributed.collective import GangAborted, exchanged
from coterie.distributed.session import Session

_GANGS: dict[tuple[str, str], "OpenGang"] = {}  # by the address of the worker and the name of the gang


class GangPlugin(WorkerPlugin):
    """Adds the handlers to a worker."""

    name = "coterie-gangs"
    idempotent = True

    def setup(self, worker: Any) -> None:
        def exchange(gang: str, step: int, rank: int, kind: str, words: Any) -> dict[str, Any]:
            own = _GANGS.get((worker.address, gang))
            if own is None:
                return {"state": "closed"}
            own.receive(step, rank, kind, np.asarray(words))
            return {"state": "ok"}

        async def abort(gang: str, reason: str) -> dict[str, Any]:
            own = _GANGS.get((worker.address, gang))
            if own is not None:
                own.abort(GangAborted(reason))
            return {"state": "ok"}

        async def alive(gang: str) -> dict[str, Any]:
            return {"state": "ok" if (worker.address, gang) in _GANGS else "closed"}

        worker.handlers.update(coterie_exchange=exchange, coterie_abort=abort, coterie_alive=alive)


class OpenGang:
    """A gang on one of its members: the collective of its session."""

    def __init__(self, worker: Any, name: str, addresses: list[str], step_timeout: float) -> None:
        self.name, self.addresses = name, addresses
        self.rank = addresses.index(worker.address)
        self.session: Session | None = None
        self._worker, self._loop = worker, worker.loop.asyncio_loop
        self._timeout = step_timeout
        self._step = 0
        self._condition = threading.Condition()
        self._brought: defaultdict[int, dict[int, tuple[str, Words]]] = defaultdict(dict)
        self._sending: set[asyncio.Task[None]] = set()  # touched by the event loop alone
        self._failure: GangAborted | None = None

    # The collective

    def sum(self, words: Words) -> Words:
        return self._exchange("sum", words)

    def max(self, words: Words) -> Words:
        return self._exchange("max", words)

    def gather(self, words: Words) -> Words:
        return self._exchange("gather", words)

    def abort(self, reason: GangAborted) -> None:
        """End what this member waits for."""
        with self._condition:
            self._failure = self._failure or reason
            self._condition.notify_all()
        if self.session is not None:
            self.session.abort(reason)

    def _exchange(self, kind: str, words: Words) -> Words:
        return exchanged(kind, words, len(self.addresses), self._swap)

    # Messages

    def receive(self, step: int, rank: int, kind: str, words: Words) -> None:
        """Words of another member, perhaps for a step that this one has not come to."""
        with self._condition:
            self._brought[step][rank] = (kind, words)
            self._condition.notify_all()

    def _swap(self, kind: str, outgoing: Sequence[Words]) -> list[Words]:
        """Send each member its words; what they have sent to this one, and its own, in the order of members."""
        self._step += 1
        step, others = self._step, [rank for rank in range(len(self.addresses)) if rank != self.rank]
        self._loop.call_soon_threadsafe(self._send_all, step, kind, outgoing)
        with self._condition:
            while len(self._brought[step]) < len(others):
                if self._failure is not None:
                    raise self._failure
                if not self._condition.wait(self._timeout / 2):
                    absent = [self.addresses[rank] for rank in others if rank not in self._brought[step]]
                    self._condition.release()
                    try:
                        self._check_alive(absent)
                    finally:
                        self._condition.acquire()
            brought = self._brought.pop(step)
        if any(other != kind for other, _ in brought.values()):
            raise GangAborted(f"Members make different calls in step {step}.")
        brought[self.rank] = kind, outgoing[self.rank]
        return [brought[rank][1] for rank in range(len(self.addresses))]

    def _send_all(self, step: int, kind: str, outgoing: Sequence[Words]) -> None:
        for rank, words in enumerate(outgoing):
            if rank != self.rank:
                sending = self._loop.create_task(self._send(self.addresses[rank], step, kind, words))
                self._sending.add(sending)
                sending.add_done_callback(self._sending.discard)

    async def _send(self, address: str, step: int, kind: str, words: Words) -> None:
        given = {"gang": self.name, "step": step, "rank": self.rank, "kind": kind}
        try:
            await self._worker.rpc(address).coterie_exchange(**given, words=to_serialize(words), reply=False)
        except Exception as error:  # whatever it is, the others would wait for these words
            lost = address if isinstance(error, OSError | CommClosedError) else None
            self.abort(GangAborted(f"Words cannot be sent to {address}: {error}.", lost))

    # Who is there

    def _check_alive(self, addresses: list[str]) -> None:
        """Raise if one of these does not answer; those that work answer, because their event loop is free."""
        asked = [
            (address, asyncio.run_coroutine_threadsafe(self._ping(address), self._loop))
            for address in addresses
        ]
        for address, reply in asked:
            try:
                state = reply.result(self._timeout)["state"]
            except (OSError, CommClosedError, WaitedLongEnough) as error:
                reply.cancel()
                raise GangAborted(
                    f"{address} has not answered for {self._timeout:g} seconds.", address
                ) from error
            if state != "ok":
                raise GangAborted(f"{address} has left the gang.")

    async def _ping(self, address: str) -> Any:
        return await self._worker.rpc(address).coterie_alive(gang=self.name)

    def tell_others(self, reason: str) -> None:
        """Let the others know that this member has failed; the client tells those that this does not reach."""

        async def tell(address: str) -> None:
            await self._worker.rpc(address).coterie_abort(gang=self.name, reason=reason)

        for rank, address in enumerate(self.addresses):
            if rank != self.rank:
                asyncio.run_coroutine_threadsafe(tell(address), self._loop)


def open_gang(worker: Any, name: str, addresses: list[str], step_timeout: float) -> None:
    """Open a gang on a worker, before its session begins, so that no message comes too early."""
    _GANGS[worker.address, name] = OpenGang(worker, name, addresses, step_timeout)


def gang_of(worker: Any, name: str) -> OpenGang:
    """A gang that is open on a worker."""
    own = _GANGS.get((worker.address, name))
    if own is None:
        raise GangAborted("The gang is closed.")
    return own


def close_gang(worker: Any, name: str, reason: str) -> OpenGang | None:
    """End a gang on a worker; messages that come for it later are dropped."""
    own = _GANGS.pop((worker.address, name), None)
    if own is not None:
        own.abort(GangAborted(reason))
    return own
