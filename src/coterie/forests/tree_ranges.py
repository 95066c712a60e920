"""Growing the trees of a forest range by range, perhaps elsewhere: a tree follows from the rows and from its number.

`ForestTask` is what trees follow from. Whoever has it can grow any range of them; `CollectedTrees` asks a source for
ranges, in the order of the trees, and is to a fit what the engine's `ForestTraining` is for trees that grow here.
"""

import threading
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import coterie._engine as _engine
from coterie._typing import AnyArray, FloatArray
from coterie.data.encoding import Encoded
from coterie.forests.out_of_bag_sums import OutOfBagSums


class OptionsOf(Protocol):
    """The engine's options, but for the number of the first tree and of the threads."""

    def __call__(self, *, first_tree: int, n_threads: int) -> _engine.ForestOptions: ...


@dataclass(frozen=True)
class ForestTask:
    """Rows, and how trees grow on them.

    Attributes
    ----------
    target : flat, n_outputs for each row, as the engine takes it
    n_classes : of each output; empty for numbers
    weight : what each row counts; empty if all count alike
    factor : what rows count in trees beside that, or None
    first_tree : the number of the first tree; those before it were grown by an earlier fit
    lists_left_out : whether ranges say which rows are left to measure each tree on, which pruning has changed
    """

    encoded: Encoded
    target: FloatArray
    n_outputs: int
    n_classes: NDArray[np.int32]
    weight: FloatArray
    factor: FloatArray | None
    options: OptionsOf
    first_tree: int = 0
    lists_left_out: bool = False

    def start(self, n_threads: int, n_before: int = 0) -> _engine.ForestTraining:
        """The rows, ranked, and ready to grow trees from one on."""
        training = _engine.start_forest(
            self.encoded.values,
            self.encoded.n_levels,
            self.target,
            self.n_outputs,
            self.n_classes,
            self.weight,
            self.options(first_tree=self.first_tree + n_before, n_threads=n_threads),
        )
        if self.factor is not None:
            training.set_factor(self.factor)
        return training


@dataclass(frozen=True)
class GrownRange:
    """Some trees, one after the other.

    Attributes
    ----------
    importances, oob_importances : shape (n_trees, n_features)
    left_out : for each tree the rows to measure it on, eight in a byte; None if they are those that it did not draw
    """

    forest: _engine.PackedForest
    importances: FloatArray
    oob_importances: FloatArray
    left_out: NDArray[np.uint8] | None = None


class RangeGrower:
    """Grows ranges of one task, and keeps its rows ranked for the range that follows.

    Several threads may ask; they take turns. When it is pickled, the rank of the rows stays behind.
    """

    def __init__(self, task: ForestTask) -> None:
        self.task = task
        self._lock = threading.Lock()
        self._training: _engine.ForestTraining | None = None
        self._next = 0

    def __getstate__(self) -> ForestTask:
        return self.task

    def __setstate__(self, task: ForestTask) -> None:
        self.__init__(task)  # type: ignore[misc]

    def __sizeof__(self) -> int:
        task = self.task
        arrays = [*_columns(task.encoded), task.target, task.weight]
        return object.__sizeof__(self) + sum(int(each.nbytes) for each in arrays)

    def grow(self, first: int, n_trees: int, n_threads: int) -> GrownRange:
        """The trees from one on, which are counted from 0."""
        with self._lock:
            training = self._training
            if training is None or self._next != first:
                self._training = None  # before the next takes its memory
                training = self.task.start(n_threads, first)
            begin = len(training)
            self._training, self._next = None, 0  # in case that growing fails
            left_out = self._left_out(training, n_trees) if self.task.lists_left_out else None
            if left_out is None:
                training.grow(n_trees)
            self._training, self._next = training, first + n_trees
            return GrownRange(
                training.grown_since(begin),
                training.importances[begin:],
                training.oob_importances[begin:],
                left_out,
            )

    def _left_out(self, training: _engine.ForestTraining, n_trees: int) -> NDArray[np.uint8]:
        """Grow trees one by one, and see which rows each was measured on."""
        found = []
        before = training.oob_counts
        for _ in range(n_trees):
            training.grow(1)
            after = training.oob_counts
            found.append(np.packbits(after != before))
            before = after
        return np.stack(found)


class GrowingForest(Protocol):
    """What a fit asks of a forest that grows, here or elsewhere: see `ForestTraining` of the engine."""

    def __len__(self) -> int: ...

    def grow(self, n_trees: int) -> None: ...

    def resume_out_of_bag(
        self,
        sums: FloatArray,
        counts: NDArray[np.uint32],
        errors: FloatArray,
        totals: FloatArray | None = None,
    ) -> None: ...

    def take(
        self, known: _engine.PackedForest, importances: FloatArray, oob_importances: FloatArray
    ) -> None: ...

    def grown_since(self, first: int) -> _engine.PackedForest: ...

    def finish(self) -> _engine.PackedForest: ...

    @property
    def memory(self) -> _engine.ForestMemory: ...

    @property
    def importances(self) -> FloatArray: ...

    @property
    def oob_importances(self) -> FloatArray: ...

    @property
    def oob_sums(self) -> FloatArray: ...

    @property
    def oob_counts(self) -> NDArray[np.uint32]: ...

    @property
    def oob_errors(self) -> FloatArray: ...

    @property
    def oob_totals(self) -> FloatArray: ...


class RangeSource(Protocol):
    """Whoever grows ranges."""

    def range_from(self, first: int) -> GrownRange:
        """Trees from one on, as many as come together; asked for in the order of the trees."""

    def close(self) -> None:
        """No range is wanted any more."""


class CollectedTrees:
    """The trees of a forest that grow elsewhere; to a fit it is what `ForestTraining` is.

    Parameters
    ----------
    task : what the trees follow from; of the rows, which are also here, the order and the bags are made here
    source : who grows them
    """

    def __init__(self, task: ForestTask, source: RangeSource, n_threads: int, *, track_oob: bool) -> None:
        self._encoded, self._source, self._n_threads = task.encoded, source, n_threads
        self._training = task.start(n_threads)
        self._sums = OutOfBagSums(self._training.memory) if track_oob else None
        self._parts: list[_engine.PackedForest] = []
        self._importances: list[FloatArray] = []
        self._oob_importances: list[FloatArray] = []
        self._n_received = self._n_taken = 0
        self._range: GrownRange | None = None
        self._leaves = np.empty((0, 0), np.uint32)

    def __len__(self) -> int:
        return self._n_taken

    def grow(self, n_trees: int) -> None:
        """Take so many more trees."""
        try:
            for _ in range(n_trees):
                self._take_one()
        except BaseException:
            self._source.close()
            raise

    def _take_one(self) -> None:
        if self._n_taken == self._n_received:
            self._receive(self._source.range_from(self._n_taken))
        if self._sums is not None:
            assert self._range is not None
            place = self._n_taken - (self._n_received - len(self._range.forest))
            left_out = self._left_out(self._range, place)
            values = np.asarray(self._range.forest.tree(place).value)
            self._sums.add(left_out, values[self._leaves[self._sums.rows[left_out], place]])
        self._n_taken += 1

    def _receive(self, grown: GrownRange) -> None:
        self._range = grown
        self._add(grown.forest, grown.importances, grown.oob_importances)
        if self._sums is not None:
            own, encoded = grown.forest, self._encoded
            leaves = np.empty(encoded.n_rows * len(own), np.uint32)
            own.find_leaves(encoded.values, encoded.n_levels, leaves, self._n_threads)
            self._leaves = leaves.reshape(encoded.n_rows, -1)

    def _add(
        self, forest: _engine.PackedForest, importances: FloatArray, oob_importances: FloatArray
    ) -> None:
        self._parts.append(forest)
        self._importances.append(importances)
        self._oob_importances.append(oob_importances)
        self._n_received += len(forest)

    def _left_out(self, grown: GrownRange, place: int) -> AnyArray:
        """The places of the rows that the tree is measured on."""
        assert self._sums is not None
        if grown.left_out is None:
            return np.flatnonzero(self._training.memory.counts(self._n_taken) == 0)
        by_row = np.unpackbits(grown.left_out[place], count=self._encoded.n_rows)
        return np.flatnonzero(by_row[self._sums.rows])

    # What a fit reads, as of `ForestTraining`

    @property
    def memory(self) -> _engine.ForestMemory:
        return self._training.memory

    @property
    def importances(self) -> FloatArray:
        return np.concatenate(self._importances)[: self._n_taken]

    @property
    def oob_importances(self) -> FloatArray:
        return np.concatenate(self._oob_importances)[: self._n_taken]

    @property
    def oob_sums(self) -> FloatArray:
        return self._known_sums.sums

    @property
    def oob_counts(self) -> NDArray[np.uint32]:
        return self._known_sums.counts

    @property
    def oob_errors(self) -> FloatArray:
        return np.empty(0) if self._sums is None else np.array(self._sums.errors)

    @property
    def oob_totals(self) -> FloatArray:
        return self._known_sums.totals

    @property
    def _known_sums(self) -> OutOfBagSums:
        assert self._sums is not None, "rows out of bag are not followed"
        return self._sums

    def resume_out_of_bag(
        self,
        sums: FloatArray,
        counts: NDArray[np.uint32],
        errors: FloatArray,
        totals: FloatArray | None = None,
    ) -> None:
        """Go on from what an earlier fit to these rows knows out of bag."""
        self._known_sums.resume(sums, counts, errors, totals)

    def take(self, known: _engine.PackedForest, importances: FloatArray, oob_importances: FloatArray) -> None:
        """Take trees that an interrupted fit had grown."""
        shape = (len(known), self._encoded.n_features)
        self._add(known, importances.reshape(shape), oob_importances.reshape(shape))
        self._n_taken = self._n_received

    def grown_since(self, first: int) -> _engine.PackedForest:
        """The trees from one on."""
        found, begin = [], 0
        for part in self._parts:
            end = min(begin + len(part), self._n_taken)
            if end > max(first, begin):
                found.append(_some_trees(part, max(0, first - begin), end - begin))
            begin += len(part)
        return reduce(_engine.PackedForest.joined, found)

    def finish(self) -> _engine.PackedForest:
        """The forest, with thresholds that all its trees share."""
        self._source.close()
        if self._n_taken:
            known = reduce(_engine.PackedForest.joined, self._parts).first(self._n_taken)
            self._training.take(known, self.importances.ravel(), self.oob_importances.ravel())
        return self._training.finish()


def _some_trees(forest: _engine.PackedForest, begin: int, end: int) -> _engine.PackedForest:
    """Trees [begin, end) of a forest that was grown in one go."""
    if begin == 0:
        return forest.first(end)
    state = forest.__getstate__()
    [(thresholds, trees)] = state["groves"]
    found = _engine.PackedForest.__new__(_engine.PackedForest)
    found.__setstate__(state | {"groves": [(thresholds, trees[begin:end])]})
    return found


def _columns(encoded: Encoded) -> list[AnyArray]:
    return encoded.values if isinstance(encoded.values, list) else [encoded.values]
