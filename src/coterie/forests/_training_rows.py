"""The training rows that a fitted forest keeps: in which leaf each of them is, and how often each tree drew it.

Rows without weight take no part, and are not kept. All arrays here have the kept rows in the order of the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import coterie._engine as _engine
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.forests.out_of_bag import OutOfBag
from coterie.forests.plan import copies_of


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a forest.

    Parameters
    ----------
    forest : the trees
    memories : what the engine kept of each fit; there are several after a warm start
    unit : float, by which targets were divided
    n_threads : int
    """

    forest: _engine.PackedForest
    memories: list[_engine.ForestMemory]
    unit: float
    n_threads: int

    @property
    def n_table_rows(self) -> int:
        return self.memories[0].n_table_rows

    @cached_property
    def rows(self) -> RowArray:
        """The numbers of the kept rows in the table, ascending."""
        return np.sort(self.memories[0].rows).astype(np.int64)

    @cached_property
    def targets(self) -> FloatArray:
        """Shape (n_rows, n_outputs): numbers, or codes of classes."""
        memory = self.memories[0]
        return memory.targets[np.argsort(memory.rows)] * self.unit

    @cached_property
    def weight(self) -> FloatArray:
        memory = self.memories[0]
        return memory.weight[np.argsort(memory.rows)]

    @cached_property
    def by_target(self) -> RowArray:
        """The kept rows, counted from 0, in the forest's own order: by target, then by what they hold."""
        return np.searchsorted(self.rows, self.memories[0].rows)

    @property
    def weight_of_a_draw(self) -> FloatArray | None:
        """A row of weight 2.4 has three copies of weight 0.8; None if all draws weigh 1."""
        each = self.weight / copies_of(self.weight)
        return None if (each == 1.0).all() else each

    def leaves(self) -> NDArray[np.uint32]:
        """Shape (n_trees, n_rows)."""
        out = np.empty((len(self.forest), len(self.rows)), np.uint32)
        for tree, _, memory, order in self._trees():
            out[tree] = memory.leaves(self.forest, tree, self.n_threads)[order]
        return out

    def counts(self, some: AnyArray | slice = slice(None)) -> NDArray[np.uint16]:
        """How often each tree drew each row, or each of some; shape (n_trees, n_rows)."""
        out = np.empty((len(self.forest), len(self.rows[some])), np.uint16)
        for tree, number, memory, order in self._trees():
            out[tree] = memory.counts(number)[order[some]]
        return out

    def out_of_bag(self, n_classes: AnyArray | None) -> OutOfBag:
        """What each tree predicts for the rows that it did not draw; `n_classes` of each output, None for numbers."""
        n_columns = self.targets.shape[1] if n_classes is None else int(n_classes.sum())
        sums, counts = np.zeros((len(self.rows), n_columns)), np.zeros(len(self.rows), dtype=np.int64)
        errors = []
        for tree, (leaves, drawn) in enumerate(zip(self.leaves(), self.counts(), strict=True)):
            values = np.asarray(self.forest.tree(tree).value) * self.unit
            left_out = drawn == 0
            sums[left_out] += values[leaves[left_out]]
            counts += left_out
            errors.append(self._error(sums, counts, n_classes))
        with np.errstate(invalid="ignore"):
            means = sums / counts[:, None]
        coverage = np.zeros(self.n_table_rows, dtype=np.int64)
        coverage[self.rows] = counts
        return OutOfBag(self.in_table(means), coverage, np.array(errors))

    def _error(self, sums: FloatArray, counts: RowArray, n_classes: AnyArray | None) -> float:
        """The share of wrong classes, or the mean squared error, of the rows that some tree left out."""
        known = counts > 0
        if not known.any():
            return np.nan
        means, targets = sums[known] / counts[known, None], self.targets[known]
        if n_classes is None:
            each = ((means - targets) ** 2).mean(axis=1)
        else:
            parts = np.split(means, np.cumsum(n_classes)[:-1], axis=1)
            wrong = [own.argmax(axis=1) != targets[:, place] for place, own in enumerate(parts)]
            each = np.mean(wrong, axis=0)
        return float(np.average(each, weights=self.weight[known]))

    def member_errors(self, n_classes: AnyArray | None) -> FloatArray:
        """The error of each tree alone, on the rows that it did not draw; NaN for a tree that drew all."""
        errors = np.full(len(self.forest), np.nan)
        for tree, (leaves, drawn) in enumerate(zip(self.leaves(), self.counts(), strict=True)):
            values = np.asarray(self.forest.tree(tree).value) * self.unit
            left_out = (drawn == 0).astype(np.int64)
            if left_out.any():
                errors[tree] = self._error(values[leaves], left_out, n_classes)
        return errors

    def increases(self, n_repeats: int, seed: int) -> FloatArray:
        """What permuting each feature adds to the error of each tree out of its bag; shape (n_trees, n_features)."""
        parts = [
            memory.permutation_increases(
                self.forest, first, end - first, n_repeats, (seed + first) % 2**64, self.n_threads
            )
            for memory, first, end in self._parts()
        ]
        return np.concatenate(parts)

    def in_table(self, values: AnyArray) -> AnyArray:
        """Values of the kept rows as a column or table of all rows; NaN for rows that were not kept."""
        if len(self.rows) == self.n_table_rows:
            return values
        out = np.full((self.n_table_rows, *values.shape[1:]), np.nan)
        out[self.rows] = values
        return out

    def _parts(self) -> Iterator[tuple[_engine.ForestMemory, int, int]]:
        firsts = [memory.first_tree for memory in self.memories]
        return zip(self.memories, firsts, [*firsts[1:], len(self.forest)], strict=True)

    def _trees(self) -> Iterator[tuple[int, int, _engine.ForestMemory, AnyArray]]:
        """Each tree, its number in its fit, the memory of that fit, and the places of the rows in it."""
        for memory, first, end in self._parts():
            order = np.argsort(memory.rows)
            for tree in range(first, end):
                yield tree, tree - first, memory, order
