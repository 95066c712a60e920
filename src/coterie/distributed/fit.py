"""Gradient boosting on a cluster: what the client does, whatever the cluster is."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from coterie import _engine
from coterie._params import in_short, is_auto
from coterie._typing import AnyArray, CategoricalFeatures, CodeArray
from coterie.boosting.shards import (
    BoostingData,
    BoostingFit,
    DividedFit,
    OnRound,
    Shard,
    TrainedBoosting,
)
from coterie.data.encoding import Encoded
from coterie.data.prepare import Encoder, TrainingData
from coterie.distributed.knowledge import GivenRows, TableKnowledge, given_rows
from coterie.distributed.members import MemberRows, divide
from coterie.distributed.partitions import Binning, PartitionRows, PartitionSurvey
from coterie.distributed.session import KnownRounds, counts_of, packed_rounds
from coterie.errors import InvalidParameter
from coterie.fitting.checkpoint_writer import CheckpointWriter


class Gang(Protocol):
    """Members at work on one fit. A gang that loses a member begins anew by itself, from the rounds that are known."""

    known: KnownRounds

    def advance(self, n_rounds: int, stop_after: int | None) -> TrainedBoosting | None:
        """Grow until there are so many rounds; the model if the fit is at its end."""

    def close(self) -> None:
        """Let the members go."""


class Cluster(Protocol):
    """Where the partitions are."""

    def given(self) -> list[dict[str, AnyArray]]:
        """y, and sample_weight, groups and offset if they were given, of each partition."""

    def survey(
        self, rows: Sequence[PartitionRows], categorical: CategoricalFeatures
    ) -> list[PartitionSurvey | None]:
        """The first look at each partition."""

    def codes(
        self, rows: Sequence[PartitionRows], encoder: Encoder, wanted: list[int]
    ) -> list[list[CodeArray]]:
        """Places of the levels of some columns, partition by partition."""

    def make_blocks(
        self, rows: Sequence[PartitionRows], digests: Sequence[str | None], binning: Binning
    ) -> None:
        """Bin every partition; blocks stay where they are made."""

    def gang(
        self,
        divide_among: Callable[[int], list[MemberRows]],
        shard_of: Callable[[MemberRows], Shard],
        known: KnownRounds,
        shape: tuple[int, int],
        *,
        watched: bool,
    ) -> Gang:
        """Members for a fit, each with its rows; `shape`: how many features and outputs trees have."""


class ClusterTable:
    """A table on a cluster: what `BoostingData` has in place of features."""

    def __init__(self, estimator: Any, cluster: Cluster, seed: int, epoch_seconds: float) -> None:
        _check_parameters(estimator)
        self._estimator, self._cluster, self._seed = estimator, cluster, seed
        self._epoch_seconds = epoch_seconds
        self.given: GivenRows = given_rows(estimator, cluster.given())
        self._rows = self.given.partitions(seed)
        categorical = getattr(estimator, "categorical_features", "auto")
        self._knowledge = TableKnowledge(estimator, self.given, cluster.survey(self._rows, categorical))
        self.train_data = self._knowledge.training_data(
            lambda encoder, wanted: cluster.codes(self._rows, encoder, wanted)
        )
        self._levels: Encoded | None = None

    def with_levels(self) -> TrainingData:
        """The training data with the levels of nominal columns, which target statistics count: a pass for them."""
        train = self.train_data
        wanted = np.flatnonzero(train.encoder.n_levels).tolist()
        parts = self._cluster.codes(self._rows, train.encoder, wanted)
        codes = {
            index: np.concatenate(own) for index, own in zip(wanted, zip(*parts, strict=True), strict=True)
        }
        self._levels = replace(train.encoded, fine_codes=codes)
        return replace(train, encoded=self._levels)

    def fingerprint(self) -> str:
        """A digest of the features, for checkpoints."""
        return self._knowledge.fingerprint()

    def train(self, fit: BoostingFit, on_round: OnRound | None) -> TrainedBoosting:
        """Bins, then rounds, epoch by epoch."""
        divided = DividedFit(fit, self._levels)
        binning = self._knowledge.binning(
            fit.data.train, divided.n_bins, fit.seed, fit.n_threads, keep_values=_reads_values(fit)
        )
        self._cluster.make_blocks(self._rows, self._knowledge.digests, binning)
        n_eval = 0 if fit.data.eval_set is None else fit.data.eval_set.encoded.n_rows
        gang = self._cluster.gang(
            lambda n_members: divide(self.given.lengths, n_members, n_eval),
            lambda own: divided.shard(own.first_row, own.n_rows, own.eval_rows),
            divided.known_rounds(),
            (divided.n_features, divided.n_outputs),
            watched=on_round is not None,
        )
        try:
            if fit.checkpoint is None:
                return self._grow(gang, divided, on_round, lambda: None)
            kept = GangCheckpoint(gang, divided, fit.checkpoint)
            with fit.checkpoint.recording(kept.collect):
                return self._grow(gang, divided, on_round, kept.look)
        finally:
            gang.close()

    def _grow(
        self, gang: Gang, divided: DividedFit, on_round: OnRound | None, after_epoch: Callable[[], None]
    ) -> TrainedBoosting:
        n_rounds, before, seen = 1, 0, 0
        stop_after: int | None = None
        so_far = RoundsSoFar(gang, divided)
        while True:
            begin = time.monotonic()
            trained = gang.advance(n_rounds, stop_after)
            after_epoch()
            if trained is not None:
                return trained
            done = sum(max(counts) for counts in counts_of(gang.known))
            if on_round is not None and stop_after is None and len(gang.known) == 1:
                reached = max(map(len, gang.known[0]))
                for number in range(seen + 1, reached + 1):
                    if on_round(number, lambda number=number: so_far.attributes(number)):  # type: ignore[misc]
                        stop_after = number
                        break
                seen = reached
                n_rounds = done + 1
            else:
                each = (time.monotonic() - begin) / max(1, done - before)
                n_rounds, before = done + self._rounds_of_an_epoch(each), done

    def _rounds_of_an_epoch(self, seconds_each: float) -> int:
        return max(1, min(1000, math.floor(self._epoch_seconds / max(seconds_each, 1e-3))))


class GangCheckpoint:
    """Gathers the rounds that a gang has grown since the last part of the checkpoint."""

    def __init__(self, gang: Gang, divided: DividedFit, checkpoint: CheckpointWriter) -> None:
        self._gang, self._divided, self._checkpoint = gang, divided, checkpoint
        self._seen = counts_of(gang.known)

    def look(self) -> None:
        """After each epoch."""
        self._checkpoint.look(self._n_new(self._stage()))

    def collect(self) -> tuple[int, Any, Any]:
        """What a part shall hold: rounds of one stage, the first that has new ones."""
        stage = self._stage()
        n_new = self._n_new(stage)
        counts = self._seen[stage]
        rounds = (
            [held[count:] for held, count in zip(self._gang.known[stage], counts, strict=True)]
            if n_new
            else []
        )
        self._seen[stage] = (
            [count + len(own) for count, own in zip(counts, rounds, strict=True)] if n_new else counts
        )
        [forests] = packed_rounds([rounds], self._divided.n_features, self._divided.n_outputs)
        return n_new, {"stage": stage, "start": self._divided.start_digest(stage), "rounds": forests}, None

    def _stage(self) -> int:
        known = self._gang.known
        while len(self._seen) < max(1, len(known)):
            self._seen.append([0] * self._divided.n_boosters)
        new = [stage for stage in range(len(self._seen)) if self._n_new(stage)]
        return new[0] if new else len(self._seen) - 1

    def _n_new(self, stage: int) -> int:
        if stage >= len(self._gang.known):
            return 0
        return max(
            len(held) - count for held, count in zip(self._gang.known[stage], self._seen[stage], strict=True)
        )


class RoundsSoFar:
    """The mean of all boosters after some rounds, as fitted attributes of an estimator; made when needed."""

    def __init__(self, gang: Gang, divided: DividedFit) -> None:
        self._gang, self._divided = gang, divided

    def attributes(self, n_rounds: int) -> dict[str, Any]:
        boosters = self._gang.known[0]
        forest = _engine.Forest(self._divided.n_features, self._divided.n_outputs)
        for number in range(n_rounds):
            for rounds in boosters:
                for output, tree in enumerate(rounds[number] if number < len(rounds) else []):
                    forest.add(tree.scaled(1 / len(boosters)), output)
        return {"forest_": forest, "baseline_": self._divided.mean_baseline(), "init_": []}


def cluster_data(estimator: Any, run: Any, cluster: Cluster, epoch_seconds: float) -> BoostingData:
    """What a fit in memory prepares, for a table on a cluster."""
    table = ClusterTable(estimator, cluster, run.seed, epoch_seconds)
    estimator._set_target(table.train_data)
    offset = estimator._read_offset(table.given.offset, table.given.n_rows)
    return BoostingData(None, table.train_data, offset, table.given.groups, cluster=table)


def _reads_values(fit: BoostingFit) -> bool:
    """Whether the fit reads values beside bins."""
    chosen, plan = fit.plan.params["linear_leaves"], fit.plan
    lines = any(policy.linear_leaves for policy in plan.policies)
    if lines and is_auto(chosen):
        lines = bool(fit.loss.linear_leaves)
    return lines or plan.n_folds > 1


def _check_parameters(estimator: Any) -> None:
    if estimator.init is not None and not isinstance(estimator.init, str):
        raise _refused(
            "init",
            estimator.init,
            "None or 'zero'",
            f"init={in_short(estimator.init)} is fitted to the table as it is, and a cluster has it in parts",
            "Give its predictions as offset=.",
        )
    if estimator.warm_start:
        raise _refused("warm_start", True, "False", "A fit on a cluster begins anew", "Set warm_start=False.")
    if estimator.dropout_rate > 0:
        raise _refused(
            "dropout_rate",
            estimator.dropout_rate,
            "0",
            "Dropout evaluates dropped rounds on values, and a cluster keeps bins alone",
            "Set dropout_rate=0, or fit on one machine.",
        )


def _refused(parameter: str, received: Any, allowed: str, why: str, hint: str) -> InvalidParameter:
    return InvalidParameter(f"{why}.", parameter=parameter, received=received, allowed=allowed, hint=hint)
