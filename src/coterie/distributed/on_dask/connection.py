"""Exchanges between Dask's workers: handlers that a plugin adds to each worker, and the collective that calls them.

Members bring their words to the first one, the root, which answers when all have come: one request and its reply a
member and exchange, over connections that Dask keeps. Messages hold plain values and buffers. Each names its gang;
gangs that a worker has not opened, or has closed, get no answer but that.

Who waits looks now and then whether those it waits for still answer: a machine that is frozen, or cut off, keeps its
connections open.
"""

import asyncio
import threading
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as WaitedLongEnough
from typing import Any

import numpy as np
from distributed import WorkerPlugin
from distributed.comm import CommClosedError
from distributed.protocol import to_serialize

from coterie.boosting.shards import Words
from coterie.distributed.collective import GangAborted, combined
from coterie.distributed.session import Session

_GANGS: dict[tuple[str, str], "OpenGang"] = {}  # by the address of the worker and the name of the gang


class GangPlugin(WorkerPlugin):
    """Adds the handlers to a worker."""

    name = "coterie-gangs"
    idempotent = True

    def setup(self, worker: Any) -> None:
        async def exchange(gang: str, step: int, rank: int, kind: str, words: Any) -> dict[str, Any]:
            own = _GANGS.get((worker.address, gang))
            if own is None:
                return {"state": "aborted", "reason": "The gang is closed.", "lost": None}
            return await own.receive(step, rank, kind, np.asarray(words))

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
        self._brought: dict[int, dict[int, tuple[str, Words]]] = {}
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}  # touched by the event loop alone
        self._asked: Any = None
        self._failure: GangAborted | None = None

    # The collective

    def sum(self, words: Words) -> Words:
        return self._exchange("sum", words)

    def max(self, words: Words) -> Words:
        return self._exchange("max", words)

    def gather(self, words: Words) -> Words:
        return self._exchange("gather", words)

    def abort(self, reason: GangAborted) -> None:
        """End what this member waits for, and answer those who wait for it."""
        with self._condition:
            self._failure = self._failure or reason
            self._condition.notify_all()
            asked = self._asked
        if self.session is not None:
            self.session.abort(reason)
        if asked is not None:
            asked.cancel()
        self._loop.call_soon_threadsafe(self._answer_all)

    def _exchange(self, kind: str, words: Words) -> Words:
        self._step += 1
        if self._failure is not None:
            raise self._failure
        if len(self.addresses) == 1:
            return words
        return self._bring_together(kind, words) if self.rank == 0 else self._ask_root(kind, words)

    # The root

    async def receive(self, step: int, rank: int, kind: str, words: Words) -> dict[str, Any]:
        """What a member gets for its words, once all have come."""
        if self._failure is not None:
            return _aborted(self._failure)
        answer = self._answers.get(step)
        if answer is None:
            answer = self._answers[step] = self._loop.create_future()
        with self._condition:
            self._brought.setdefault(step, {})[rank] = (kind, words)
            self._condition.notify_all()
        return await asyncio.shield(answer)

    def _bring_together(self, kind: str, words: Words) -> Words:
        step, others = self._step, range(1, len(self.addresses))
        with self._condition:
            while len(brought := self._brought.get(step, {})) < len(others):
                if self._failure is not None:
                    raise self._failure
                if not self._condition.wait(self._timeout / 2):
                    absent = [self.addresses[rank] for rank in others if rank not in brought]
                    self._condition.release()
                    try:
                        self._check_alive(absent)
                    finally:
                        self._condition.acquire()
            del self._brought[step]
        if any(other != kind for other, _ in brought.values()):
            raise GangAborted(f"Members make different calls in step {step}.")
        answer = combined(kind, [words, *(brought[rank][1] for rank in others)])
        self._loop.call_soon_threadsafe(self._answer, step, {"state": "ok", "words": to_serialize(answer)})
        return answer

    def _answer(self, step: int, answer: dict[str, Any]) -> None:
        waiting = self._answers.pop(step, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def _answer_all(self) -> None:
        assert self._failure is not None
        for step in list(self._answers):
            self._answer(step, _aborted(self._failure))

    # The others

    def _ask_root(self, kind: str, words: Words) -> Words:
        root = self.addresses[0]
        asked = asyncio.run_coroutine_threadsafe(self._request(root, kind, words), self._loop)
        with self._condition:
            self._asked = asked
        while True:
            try:
                reply = asked.result(self._timeout / 2)
                break
            except CancelledError:
                raise self._failure or GangAborted("The exchange was cancelled.") from None
            except WaitedLongEnough:
                if asked.done():
                    raise GangAborted(f"{root} does not answer.", root) from None
                if self._failure is not None:
                    raise self._failure from None
                self._check_alive([root])
            except (OSError, CommClosedError) as error:
                raise GangAborted(f"The connection to {root} is lost: {error}.", root) from error
        if reply["state"] != "ok":
            raise GangAborted(reply["reason"], reply["lost"])
        return np.asarray(reply["words"])

    async def _request(self, root: str, kind: str, words: Words) -> Any:
        return await self._worker.rpc(root).coterie_exchange(
            gang=self.name, step=self._step, rank=self.rank, kind=kind, words=to_serialize(words)
        )

    # Both

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

    def tell_root(self, reason: str) -> None:
        """Let the root know that this member has failed; the client tells those that this does not reach."""
        if self.rank > 0:

            async def tell() -> None:
                await self._worker.rpc(self.addresses[0]).coterie_abort(gang=self.name, reason=reason)

            asyncio.run_coroutine_threadsafe(tell(), self._loop)


def _aborted(failure: GangAborted) -> dict[str, Any]:
    return {"state": "aborted", "reason": failure.reason, "lost": failure.lost}


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
