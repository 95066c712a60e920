"""The session of a member: a thread that runs the program of the fit, epoch by epoch, and what it has grown so far."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coterie import _engine
from coterie.boosting.forest_rounds import rounds_in
from coterie.boosting.shards import Collective, Rounds, Shard, ShardFeatures, ShardTrainer, TrainedBoosting
from coterie.distributed.collective import GangAborted

KnownRounds = list[list[Rounds]]  # by stage and booster
PackedRounds = list[list[Any]]  # the same, a forest for each booster

_PATIENCE = 600.0  # seconds that a session waits for the client before it takes it for dead


@dataclass(frozen=True)
class Epoch:
    """What a member says at the end of an epoch.

    Attributes
    ----------
    n_rounds : how many rounds it has grown in all
    rounds : those that the client has not seen; None if another member sends them
    result : the model, at the end
    """

    n_rounds: int
    rounds: PackedRounds | None = None
    result: TrainedBoosting | None = None


class Session:
    """One member's part of one gang.

    Parameters
    ----------
    features : makes the features of the shard, which takes exchanges with the other members
    known : rounds that gangs before this one have grown
    watched : whether somebody may ask to stop after a round
    """

    def __init__(
        self,
        shard: Shard,
        features: Callable[[], ShardFeatures],
        collective: Collective,
        n_threads: int,
        known: KnownRounds,
        *,
        watched: bool = False,
    ) -> None:
        self._shape = shard.n_features, max(1, shard.n_outputs)
        # Given up when the thread ends: gangs and sessions know each other, and hold much memory.
        self._work: Callable[[], TrainedBoosting] | None = lambda: ShardTrainer(
            shard,
            features(),
            collective,
            n_threads,
            known=known,
            after_pause=self._pause,
            after_round=self._asks_to_stop if watched else None,
        ).train()
        self._condition = threading.Condition()
        self._grown: list[list[Rounds]] = []
        self._permitted = 0
        self._stop_after: int | None = None
        self._aborted: GangAborted | None = None
        self._closed = False
        self._result: TrainedBoosting | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="coterie-session", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def advance(self, n_rounds: int, stop_after: int | None = None) -> Epoch:
        """Let it grow until it has so many rounds, and wait for that; raises what the session raised."""
        with self._condition:
            self._permitted, self._stop_after = n_rounds, stop_after
            self._condition.notify_all()
            while not self._closed and self._n_grown() < n_rounds:
                self._condition.wait()
            if self._closed and self._error is not None:
                raise self._error
            return Epoch(self._n_grown(), result=self._result if self._closed else None)

    def abort(self, reason: GangAborted) -> None:
        """End it, whatever it waits for; the collective has to be aborted as well."""
        with self._condition:
            self._aborted = self._aborted or reason
            self._condition.notify_all()

    def join(self, seconds: float) -> bool:
        """Wait until the thread has ended; False if it has not."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def rounds_after(self, seen: list[list[int]]) -> PackedRounds:
        """Rounds beyond the first that are known of each stage and booster."""
        packed: PackedRounds = []
        shape = self._shape
        for stage, boosters in enumerate(self._grown):
            counts = seen[stage] if stage < len(seen) else [0] * len(boosters)
            packed.append(
                [_forest_of(rounds[count:], *shape) for rounds, count in zip(boosters, counts, strict=True)]
            )
        return packed

    def _n_grown(self) -> int:
        return sum(max(map(len, boosters)) for boosters in self._grown)

    def _run(self) -> None:
        assert self._work is not None
        try:
            self._result = self._work()
        except BaseException as error:
            self._error = error
        self._work = None
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def _pause(self, stage: int, boosters: list[Rounds]) -> None:
        with self._condition:
            if stage == len(self._grown):
                self._grown.append(boosters)
            self._condition.notify_all()
            while self._n_grown() >= self._permitted:
                if self._aborted is not None:
                    raise self._aborted
                if not self._condition.wait(_PATIENCE):
                    raise GangAborted(f"The client has not been heard of for {_PATIENCE:.0f} seconds.")

    def _asks_to_stop(self, number: int) -> bool:
        return number == self._stop_after


def _forest_of(rounds: Rounds, n_features: int, n_outputs: int) -> Any:
    forest = _engine.Forest(n_features, n_outputs)
    for trees in rounds:
        for output, tree in enumerate(trees):
            forest.add(tree, output)
    return forest


def packed_rounds(known: KnownRounds, n_features: int, n_outputs: int) -> PackedRounds:
    """Rounds as forests, to be sent."""
    return [[_forest_of(rounds, n_features, n_outputs) for rounds in boosters] for boosters in known]


def unpacked(packed: PackedRounds) -> KnownRounds:
    """Rounds that came as forests."""
    return [[rounds_in(forest) for forest in boosters] for boosters in packed]


def joined(known: KnownRounds, new: KnownRounds) -> None:
    """Add rounds to those that are known, booster by booster."""
    for stage, boosters in enumerate(new):
        if stage == len(known):
            known.append([[] for _ in boosters])
        for held, rounds in zip(known[stage], boosters, strict=True):
            held += rounds


def counts_of(known: KnownRounds) -> list[list[int]]:
    """How many rounds are known of each stage and booster."""
    return [[len(rounds) for rounds in boosters] for boosters in known]
