"""Rounds of boosters as the parts of a checkpoint hold them, and as boosters take them up again."""

from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie.boosting._trainer import Trainer
from coterie.boosting.forest_rounds import covers_all_outputs, rounds_in
from coterie.errors import InvalidInput, ModelFileError
from coterie.fitting.checkpoint_writer import CheckpointWriter, reading_checkpoint
from coterie.fitting.fingerprint import digest_of


class CheckpointedRounds:
    """Gathers the rounds that a trainer has grown since the last part.

    Parameters
    ----------
    stage : 0 for the trainer that leaves rows out, 1 for the one that is grown on all rows after it
    known : rounds of each booster that the checkpoint has already
    """

    def __init__(
        self, trainer: Trainer, stage: int, checkpoint: CheckpointWriter, known: list[list[list[Any]]]
    ) -> None:
        self._boosters = trainer.boosters
        self._stage = stage
        self._checkpoint = checkpoint
        self._seen = [len(rounds) for rounds in known] or [0] * len(trainer.boosters)
        self._new: list[list[list[Any]]] = [[] for _ in trainer.boosters]
        self._start = digest_of(
            [booster.loss.init_scores(np.arange(booster.encoded.n_rows)) for booster in trainer.boosters]
        )
        for content in checkpoint.known:
            with reading_checkpoint():
                begins_here = bool(content["stage"] != stage or content["start"] == self._start)
            if not begins_here:
                raise InvalidInput(
                    "The fit cannot go on from its checkpoint: the scores before the first round are others. What init "
                    "learns has to be the same each time; give it a random_state."
                )

    def look(self) -> None:
        """After each pause of the boosters, before rounds that were one too many are dropped."""
        self._gather()
        self._checkpoint.look(self._n_new)

    def collect(self) -> tuple[int, Any, Any]:
        """What a part shall hold; it is not new after that."""
        self._gather()
        n_new, forests = self._n_new, []
        for place, booster in enumerate(self._boosters):
            forest = _engine.Forest(booster.encoded.n_features, max(1, booster.loss.n_outputs))
            for trees in self._new[place]:
                for output, tree in enumerate(trees):
                    forest.add(tree, output)
            forests.append(forest)
            self._new[place] = []
        return n_new, {"stage": self._stage, "start": self._start, "rounds": forests}, None

    @property
    def _n_new(self) -> int:
        return max(map(len, self._new))

    def _gather(self) -> None:
        for place, booster in enumerate(self._boosters):
            self._new[place] += booster.rounds[self._seen[place] :]
            self._seen[place] = max(self._seen[place], len(booster.rounds))


def rounds_in_checkpoint(
    checkpoint: CheckpointWriter | None, stage: int, n_boosters: int, n_outputs: int
) -> list[list[list[Any]]]:
    """The rounds of each booster, in the order of the trainer, that a checkpoint holds; empty if there are none."""
    if checkpoint is None:
        return []
    with reading_checkpoint():
        if not all(
            type(content["stage"]) is int and 0 <= content["stage"] <= 1 for content in checkpoint.known
        ):
            raise ModelFileError("The checkpoint holds rounds of a stage that there is not.")
        held = [content for content in checkpoint.known if content["stage"] == stage]
        return _rounds_in(held, n_boosters, n_outputs) if held else []


def _rounds_in(held: list[Any], n_boosters: int, n_outputs: int) -> list[list[list[Any]]]:
    boosters: list[list[list[Any]]] = [[] for _ in range(n_boosters)]
    for content in held:
        if len(content["rounds"]) != n_boosters:
            raise ModelFileError("The checkpoint holds the rounds of another number of boosters.")
        for booster, forest in zip(boosters, content["rounds"], strict=True):
            rounds = rounds_in(forest)
            whole = all(covers_all_outputs(trees, n_outputs) for trees in rounds)
            if forest.n_outputs != n_outputs or not whole or sum(map(len, rounds)) != len(forest):
                raise ModelFileError("The checkpoint holds rounds with another number of trees.")
            booster += rounds
    return boosters
