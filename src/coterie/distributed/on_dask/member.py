"""What the client has run on members: as tasks, or, for what must not wait for a free thread, by the event loop."""

import sys
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from distributed import get_worker

from coterie import _engine
from coterie.boosting.shards import Shard
from coterie.distributed.collective import GangAborted
from coterie.distributed.on_dask.connection import OpenGang, close_gang, gang_of, open_gang
from coterie.distributed.partitions import Binning, Block, shard_features
from coterie.distributed.session import Epoch, PackedRounds, Session, unpacked
from coterie.errors import InvalidInput


@dataclass(frozen=True)
class Orders:
    """How far to go: until there are so many rounds; `seen` are those that the client has, by stage and booster."""

    n_rounds: int
    stop_after: int | None
    seen: list[list[int]]


def versions() -> dict[str, str]:
    """What has to be the same on all members, or bits may differ."""
    return {
        "coterie": version("coterie"),
        "the engine's revision": str(_engine.REVISION),
        "numpy": version("numpy"),
        "the order of bytes": sys.byteorder,
    }


def refuse_other_versions(theirs: dict[str, str], own: dict[str, str], address: str) -> None:
    """Raise unless a worker has the versions of the client."""
    different = [name for name in own if theirs.get(name) != own[name]]
    if different:
        name = different[0]
        raise InvalidInput(
            f"{name} is {theirs.get(name)} on the worker {address}, and {own[name]} here: models could differ in "
            "their last bits.",
            parameter="X",
            received=theirs.get(name),
            allowed=own[name],
            hint="Install the same versions on all workers.",
        )


def open_on_member(
    name: str, addresses: list[str], step_timeout: float, dask_worker: Any = None
) -> dict[str, str]:
    """By the event loop: the versions of this member, which is ready for messages of the gang now."""
    open_gang(dask_worker, name, addresses, step_timeout)
    return versions()


def close_on_member(
    name: str, seen: list[list[int]], reason: str, dask_worker: Any = None
) -> PackedRounds | None:
    """By the event loop: end the gang; rounds that the client has not seen."""
    own = close_gang(dask_worker, name, reason)
    return None if own is None or own.session is None else own.session.rounds_after(seen)


def begin(
    name: str,
    shard: Shard,
    pieces: list[tuple[int, int]],
    blocks: list[Block],
    binning: Binning,
    known: PackedRounds,
    orders: Orders,
    *,
    watched: bool,
) -> Epoch:
    """As a task: start the session, and grow the first epoch."""
    worker = get_worker()
    own = gang_of(worker, name)
    n_threads = max(1, worker.state.nthreads)
    cut = [(block, begin, end) for block, (begin, end) in zip(blocks, pieces, strict=True)]
    communicator = _engine.Communicator(own)
    own.session = Session(
        shard,
        lambda: shard_features(cut, binning, communicator, shard.first_row, n_threads),
        own,
        n_threads,
        unpacked(known),
        watched=watched,
    )
    own.session.start()
    return _epoch(own, orders)


def advance(name: str, orders: Orders) -> Epoch:
    """As a task: grow the next epoch."""
    return _epoch(gang_of(get_worker(), name), orders)


def _epoch(own: OpenGang, orders: Orders) -> Epoch:
    assert own.session is not None
    try:
        done = own.session.advance(orders.n_rounds, orders.stop_after)
    except BaseException as error:
        reason = f"Member {own.rank} ({own.addresses[own.rank]}) has failed: {error}."
        own.abort(error if isinstance(error, GangAborted) else GangAborted(reason))
        own.tell_others(reason)
        raise
    rounds = own.session.rounds_after(orders.seen) if own.rank == 0 else None
    result = done.result
    if own.rank > 0 and result is not None:
        result.forest = None  # the root has it
    return Epoch(done.n_rounds, rounds, result)
