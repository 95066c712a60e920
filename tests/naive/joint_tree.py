"""What a tree of several outputs means: the naive boosted tree, with gains summed over the outputs.

There is a naive grower for each output, all with gradients in the same unit. A split gains what it gains for all of
them; levels are sorted by the output whose levels differ most.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.naive.boosted_tree import (
    COUNTED_BELOW,
    FLOAT_ERRORS,
    SPLIT_NOISE,
    Ints,
    Leaf,
    Pairs,
    SlowGrower,
    SlowTree,
    Split,
    mass_of,
    random_normal,
    round_pairs,
)


def round_joint_pairs(
    gradients: NDArray[np.float32], hessian: NDArray[np.float32], seed: int, rows: Ints
) -> list[Pairs]:
    """As round_pairs, with the finest gradient unit that does for all outputs."""
    n_rows = gradients.shape[1]
    counted = n_rows < COUNTED_BELOW
    size = np.abs(gradients.astype(np.float64))
    scale = np.float32(1)
    if size.any():
        most_sum = (2**25 if counted else 2**31) - 1 - n_rows
        scale = np.float32(
            min(32766 / size.max(), most_sum / max(mass_of(each, size.max()) for each in size)) * (1 - 1e-6)
        )
    return [round_pairs(gradient, hessian, seed, scale, rows) for gradient in gradients]


class SlowJointGrower(SlowGrower):
    """Grows one tree for several outputs; the answers of each are in `answers`."""

    def grow_joint(
        self, gradients: NDArray[np.float32], hessian: NDArray[np.float32], rows: Ints, seed: int
    ) -> list[SlowTree]:
        n_rows = gradients.shape[1]
        taking_part = rows if len(rows) else np.arange(n_rows)
        own_hessian = hessian[taking_part] if len(hessian) else hessian
        self.seed, self.has_hessian = seed, len(hessian) > 0
        rounded = round_joint_pairs(gradients[:, taking_part], own_hessian, seed, taking_part)
        self._measure_chance(rounded)
        self.outputs = []
        for pairs in rounded:
            output = SlowGrower(self.bins, self.n_bins, self.nominal, self.options)
            output.has_hessian = self.has_hessian
            output.pairs = pairs._replace(gradient=np.zeros(n_rows, int), hessian=np.zeros(n_rows, int))
            output.pairs.gradient[taking_part] = pairs.gradient
            output.pairs.hessian[taking_part] = pairs.hessian
            self.outputs.append(output)
        self.pairs = self.outputs[0].pairs
        step = self.options.max_step or np.inf
        root = Leaf(
            0, taking_part, 0, -step, step, sets=[set(group) for group in self.options.interaction_sets]
        )
        tree = SlowTree([-1], [0], [0.0], [0.0], np.full(n_rows, -1))
        tree.leaf[taking_part] = 0
        self.nodes = [root]
        self._grow_leaf_by_leaf(root, tree)
        if self.options.leaf_penalty > 0:
            tree = self._undo(tree)
        return [self._with_answers(tree, gradient, hessian) for gradient in gradients]

    def _with_answers(
        self, tree: SlowTree, gradient: NDArray[np.float32], hessian: NDArray[np.float32]
    ) -> SlowTree:
        value = [0.0] * len(tree.feature)
        for node in self.nodes if len(self.nodes) > 1 else []:
            value[node.number] = self._exact_answer(node, gradient, hessian) * self.options.learning_rate
        return SlowTree(tree.feature, tree.left, tree.gain, value, tree.leaf)

    def _measure_chance(self, rounded: list[Pairs]) -> None:
        """What sorted levels gain by chance: in the output that sorts them, and in those that go with it."""
        weights = float(rounded[0].hessian.sum())
        self.level_costs = [np.float32(0)] * len(rounded)
        self.split_noise = np.float32(0)
        if not weights > 0:
            return
        squares = [float((pairs.gradient**2).sum()) for pairs in rounded]
        for k, pairs in enumerate(rounded):
            products = [float((pairs.gradient * other.gradient).sum()) for other in rounded]
            if squares[k] > 0:
                shared = sum(product / squares[k] * product for product in products)
                self.level_costs[k] = np.float32(shared / weights)
        noise = sum(squares) / weights / len(rounded)
        self.split_noise = np.float32(self.options.split_noise * noise) * np.float32(len(rounded))

    def _find_split(self, leaf: Leaf) -> None:
        if not self._may_split(leaf):
            return
        unit = self.pairs.gradient_unit**2 / self.pairs.hessian_unit
        ranked: list[Any] = []
        if self.split_noise > 0:
            parents = sum(float(np.float32(output._own_gain(leaf))) for output in self.outputs)
            seeming = self._joint_limit(leaf, 1) + FLOAT_ERRORS * parents
        for feature in self._allowed(leaf):
            sorter = self._sorter(leaf, feature) if self.nominal[feature] else 0
            ways = self.outputs[sorter]._ways_to_split(leaf, feature)
            if len(ways) == 0:
                continue
            total = np.zeros(len(ways), np.float32)
            for output in self.outputs:
                total += output._gains_above(leaf, ways, feature)
            gain = total.max()
            if self.nominal[feature]:
                present = len(np.unique(self.bins[leaf.rows, feature]))
                gain = np.maximum(gain, np.float32(0)) - self.level_costs[sorter] * np.float32(present - 1)
            if self.split_noise > 0 and float(gain) <= seeming:
                continue
            if gain > 0 and float(gain) * unit > self.options.min_gain:
                draw = random_normal(self.seed, SPLIT_NOISE, leaf.place * len(self.n_bins) + feature)
                split = Split(float(gain), feature, ways[total.argmax()])
                ranked.append((gain + self.split_noise * draw, -feature, split))
        if not ranked:
            return
        best = max(ranked, key=lambda each: each[:2])[2]
        freedom = max(2, int(self.n_bins[best.feature])) - 1 if self.nominal[best.feature] else 1
        gain = sum(output._plain_gain(leaf, best) for output in self.outputs)
        if gain > self._joint_limit(leaf, freedom):
            leaf.split = best
            leaf.gain = best.gain * unit

    def _joint_limit(self, leaf: Leaf, freedom: int) -> float:
        """What the outputs gain together if only the rounding differs."""
        t = 0.6931471805599453 * int(self.n_bins.sum()).bit_length() + 7
        scales = []
        for output in self.outputs:
            g, h = output._sums(leaf)
            scales.append(len(leaf.rows) * (1 + ((g / h) ** 2 if self.has_hessian else 0.0)) / 4 / h)
        squares = sum(scale**2 for scale in scales)
        return freedom * sum(scales) + 2 * float(np.sqrt(freedom * squares * t)) + 2 * max(scales) * t

    def _sorter(self, leaf: Leaf, feature: int) -> int:
        """The output that would gain most by parting all levels from one another."""
        smoothing = float(np.float32(self.options.level_smoothing / self.pairs.hessian_unit))
        contrasts = []
        for output in self.outputs:
            g, h, _ = output._histogram(leaf, feature)
            contrast = -float(g.sum()) * float(g.sum()) / max(1.0, float(h.sum()))
            for level_g, level_h in zip(g.tolist(), h.tolist(), strict=True):
                contrast += float(level_g) * float(level_g) / max(1.0, level_h + smoothing)
            contrasts.append(contrast)
        return contrasts.index(max(contrasts))
