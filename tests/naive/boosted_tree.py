"""What a tree of gradient boosting means: a page of numpy that looks at every split of every leaf, every time.

It takes the bins as the engine made them, rounds derivatives to whole numbers as the engine promises to, and
grows best first, level by level, or all leaves of a level by one split. No histogram is kept or subtracted, no row
is moved: a leaf is a list of row numbers.
"""

from dataclasses import dataclass, field
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._engine import Growth

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
COUNTED_BELOW = 65_536
FLOAT_ERRORS = 2.0**-21  # of a gain in float32, relative
# Purposes of random numbers.
ROUNDING, FEATURE_DRAW, SPLIT_NOISE, TREE_FEATURES, LEVEL_FEATURES = 2, 3, 6, 8, 9


class Pairs(NamedTuple):
    """Rounded derivatives, and what one unit of each is worth."""

    gradient: Ints
    hessian: Ints
    gradient_unit: float
    hessian_unit: float


class Split(NamedTuple):
    gain: float  # of both children, in rounded units
    feature: int
    goes_left: NDArray[np.bool_]  # by bin


@dataclass
class Leaf:
    number: int
    rows: Ints
    depth: int
    low: float = -np.inf
    high: float = np.inf
    sets: list[set[int]] = field(default_factory=list)
    place: int = 1  # children of place p are 2p and 2p + 1
    parent: "Leaf | None" = None
    gain: float = 0.0
    split: Split | None = None


@dataclass
class SlowTree:
    """Parallel lists, one entry per node; `leaf` is where each row ended, -1 if it took no part."""

    feature: list[int]
    left: list[int]
    gain: list[float]
    value: list[float]
    leaf: Ints


def random_bits(seed: int, purpose: int, position: int) -> int:
    """The engine's numbers without state: a hash of where they are used."""
    stream = _mix((seed + 0x9E3779B97F4A7C15 * purpose) % 2**64)
    return _mix(stream ^ ((position * 0xD1342543DE82EF95 + 0x2545F4914F6CDD1D) % 2**64))


def _mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def random_normal(seed: int, purpose: int, position: int) -> np.float32:
    """The sum of the eight bytes of a hash, with mean 0 and variance 1."""
    total = sum(random_bits(seed, purpose, position).to_bytes(8, "little"))
    return np.float32(total - 1020) * (np.float32(1) / np.float32(209.02153))


def round_pairs(
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    seed: int,
    gradient_scale: np.float32 | None = None,
    rows: Ints | None = None,
) -> Pairs:
    """Integer numbers as fine as the fields of a cell allow, rounded up with the probability of the fraction."""
    n_rows = len(gradient)
    counted = n_rows < COUNTED_BELOW
    row = (np.arange(n_rows) if rows is None else rows).astype(np.uint32)
    x = row * np.uint32(0x9E3779B1) + np.uint32(random_bits(seed, ROUNDING, 0) % 2**32)
    x = (x ^ x >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    x = (x ^ x >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    x = x ^ x >> np.uint32(16)
    up, up_too = ((x >> np.uint32(16)).astype(np.float32), (x & np.uint32(0xFFFF)).astype(np.float32))
    scale = gradient_scale or _scale(gradient, 32767, (2**25 if counted else 2**31) - 1 - n_rows)
    g = np.floor(gradient * scale + up * np.float32(2**-16)).astype(np.int64)
    if len(hessian) == 0:
        return Pairs(g, np.ones_like(g), 1 / float(scale), 1.0)
    other = _scale(hessian, 65535, (2**22 if counted else 2**31) - 1 - n_rows)
    h = np.floor(hessian * other + up_too * np.float32(2**-16)).astype(np.int64)
    return Pairs(g, h, 1 / float(scale), 1 / float(other))


def _scale(values: NDArray[np.float32], most_row: int, most_sum: int) -> np.float32:
    size = np.abs(values.astype(np.float64))
    if not size.any():
        return np.float32(1)
    scale = min((most_row - 1) / size.max(), most_sum / mass_of(size))
    return np.float32(scale * (1 - 1e-6))


def mass_of(size: Floats, largest: float = 0.0) -> float:
    """The sum of sizes as the engine adds them: whole numbers up to 2^20, each rounded up at most."""
    unit = 2.0 ** min(20 - int(np.frexp(max(largest, size.max()))[1]), 127)
    return (float(np.floor(size * unit).sum()) + len(size)) / unit


class SlowGrower:
    """Grows one tree; `bins` has one column per feature, and `options` is the engine's GrowOptions."""

    def __init__(self, bins: Ints, n_bins: Ints, nominal: NDArray[np.bool_], options: Any) -> None:
        self.bins, self.n_bins, self.nominal, self.options = bins, n_bins, nominal, options

    def grow(
        self, gradient: NDArray[np.float32], hessian: NDArray[np.float32], rows: Ints, seed: int
    ) -> SlowTree:
        taking_part = rows if len(rows) else np.arange(len(gradient))
        self.seed = seed
        self.has_hessian = len(hessian) > 0
        pairs = round_pairs(
            gradient[taking_part],
            hessian[taking_part] if self.has_hessian else hessian,
            seed,
            rows=taking_part,
        )
        squares, weights = (pairs.gradient**2).sum(), pairs.hessian.sum()
        self.pairs = pairs._replace(
            gradient=np.zeros(len(gradient), int), hessian=np.zeros(len(gradient), int)
        )
        self.pairs.gradient[taking_part], self.pairs.hessian[taking_part] = pairs.gradient, pairs.hessian
        noise = squares / weights if weights > 0 else 0
        self.level_cost = np.float32(noise)
        self.split_noise = np.float32(self.options.split_noise * noise)
        step = self.options.max_step or np.inf
        root = Leaf(
            0, taking_part, 0, -step, step, sets=[set(group) for group in self.options.interaction_sets]
        )
        tree = SlowTree([-1], [0], [0.0], [0.0], np.full(len(gradient), -1))
        tree.leaf[taking_part] = 0
        self.nodes = [root]
        if self.options.growth == Growth.oblivious:
            self._grow_oblivious(root, tree)
        else:
            self._grow_leaf_by_leaf(root, tree)
        if self.options.leaf_penalty > 0:
            tree = self._undo(tree)
        leaves = [leaf for leaf, feature in zip(self.nodes, tree.feature, strict=True) if feature < 0]
        for leaf in leaves if len(leaves) > 1 else []:
            step = self._exact_answer(leaf, gradient, hessian)
            tree.value[leaf.number] = step * self.options.learning_rate
        return tree

    def _rounding_limit(self, leaves: list[Leaf], freedom: int = 1) -> float:
        """The most that splits of the leaves gain if only the rounding differs, rounded units; rarely more."""
        scales = []
        for leaf in leaves:
            g, h = self._sums(leaf)
            value = g / h if self.has_hessian else 0.0
            scales.append(len(leaf.rows) * (1 + value**2) / 4 / h)
        t = 0.6931471805599453 * int(self.n_bins.sum()).bit_length() + 7
        squares = sum(scale**2 for scale in scales)
        return freedom * sum(scales) + 2 * np.sqrt(freedom * squares * t) + 2 * max(scales) * t

    def _plain_gain(self, leaf: Leaf, split: Split) -> float:
        """What the leaf gains by the split without any regularisation, rounded units."""
        left = split.goes_left[self.bins[leaf.rows, split.feature]]
        sides = [leaf.rows[left], leaf.rows[~left]]
        (lg, lh), (rg, rh) = (
            (int(self.pairs.gradient[r].sum()), int(self.pairs.hessian[r].sum())) for r in sides
        )
        return (lg / lh - rg / rh) ** 2 * (lh * rh / (lh + rh)) if min(lh, rh) > 0 else 0.0

    def _exceeds_rounding(self, leaves: list[Leaf], split: Split) -> bool:
        """The split gains more than rounding can explain; categories are sorted by it."""
        nominal = bool(self.nominal[split.feature])
        freedom = max(2, int(self.n_bins[split.feature])) - 1 if nominal else 1
        gain = sum(self._plain_gain(leaf, split) for leaf in leaves)
        return gain > self._rounding_limit(leaves, freedom)

    def _grow_leaf_by_leaf(self, root: Leaf, tree: SlowTree) -> None:
        self._find_split(root)
        leaves = [root]
        while self.options.max_leaf_nodes == 0 or len(leaves) < self.options.max_leaf_nodes:
            splitting = [leaf for leaf in leaves if leaf.split is not None]
            if self.options.growth == Growth.level:
                splitting = [
                    leaf for leaf in splitting if leaf.depth == min(each.depth for each in splitting)
                ]
            if not splitting:
                break
            best = max(splitting, key=lambda leaf: (leaf.gain, -leaf.number))
            leaves.remove(best)
            children = self._children(best, tree)
            for child in children:
                self._find_split(child)
            leaves += children

    def _grow_oblivious(self, root: Leaf, tree: SlowTree) -> None:
        level, options = [root], self.options
        max_depth = options.max_depth or int(np.log2(options.max_leaf_nodes))
        for _ in range(max_depth):
            shared = self._shared_split(level, root)
            if shared is None:
                return
            for leaf in level:
                left = shared.goes_left[self.bins[leaf.rows, shared.feature]]
                leaf.split = shared
                if self._may_split(leaf) and min(left.sum(), (~left).sum()) >= options.min_samples_leaf:
                    gain = self._gains_above(leaf, shared.goes_left[None, :], shared.feature, double=True)[0]
                    leaf.gain = float(gain) * self.pairs.gradient_unit**2 / self.pairs.hessian_unit
            level = [child for leaf in level for child in self._children(leaf, tree)]

    def _shared_split(self, level: list[Leaf], root: Leaf) -> Split | None:
        """The split whose gains, summed over the leaves of the level, are the most; None if they are too few."""
        gaining = [leaf for leaf in level if self._may_split(leaf)]
        unit = self.pairs.gradient_unit**2 / self.pairs.hessian_unit
        ranked = []
        if gaining and self.split_noise > 0:
            parents = sum(float(np.float32(self._own_gain(leaf))) for leaf in gaining)
            seeming = self._rounding_limit(gaining) + FLOAT_ERRORS * parents
        for feature in self._allowed(level[0]) if gaining else []:
            ways = self._ways_to_split(root, feature)
            if len(ways) == 0:
                continue
            total = np.zeros(len(ways), np.float32)
            for leaf in gaining:
                total += self._gains_above(leaf, ways, feature)
            gain = total.max()
            if self.nominal[feature]:
                present = len(np.unique(self.bins[root.rows, feature]))
                gain = np.maximum(gain, np.float32(0)) - self.level_cost * np.float32(present - 1)
            noise = self.split_noise * np.float32(len(gaining))
            if noise > 0 and float(gain) <= seeming:
                continue
            if gain > 0 and float(gain) * unit > self.options.min_gain:
                draw = random_normal(self.seed, SPLIT_NOISE, level[0].place * len(self.n_bins) + feature)
                ranked.append(
                    (gain + noise * draw, -feature, Split(float(gain), feature, ways[total.argmax()]))
                )
        best = max(ranked, key=lambda each: each[:2])[2] if ranked else None
        return best if best is not None and self._exceeds_rounding(gaining, best) else None

    def _ways_to_split(self, root: Leaf, feature: int) -> NDArray[np.bool_]:
        """Which bins go left, one row for each way to split; levels in the order of the whole tree."""
        g, h, n = self._histogram(root, feature)
        n_bins = len(n)
        if self.nominal[feature]:
            order = self._level_order(g, h, n)
            return np.array([np.isin(np.arange(n_bins), order[:k]) for k in range(1, len(order))])
        values = np.arange(n_bins)
        ways = [(values >= 1) & (values <= last) for last in range(1, n_bins)]
        if n[0]:
            ways += [values <= last for last in range(1, n_bins)]
        return np.array(ways)

    def _gains_above(
        self, leaf: Leaf, ways: NDArray[np.bool_], feature: int, *, double: bool = False
    ) -> NDArray[np.float32]:
        """What each way gains above the leaf; nothing where a child is too light. Answers out of order meet."""
        g, h, n = (each @ ways.T for each in self._histogram(leaf, feature))
        all_g, all_h = self._sums(leaf)
        l2 = np.float32(self.options.l2 / self.pairs.hessian_unit)
        more = np.float32(self.options.level_l2 / self.pairs.hessian_unit if self.nominal[feature] else 0)
        direction = self.options.monotone[feature] if self.options.monotone else 0
        if double or direction or self.options.l1 > 0 or np.isfinite([leaf.low, leaf.high]).any():
            sides = ((g, h), (all_g - g, all_h - h))
            gain = self._limited_gain(leaf, *sides, float(l2) + float(more), direction, meet=True)
        else:
            lg, lh, rg, rh = (each.astype(np.float32) for each in (g, h, all_g - g, all_h - h))
            ld, rd = lh + (l2 + more), rh + (l2 + more)
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = (lg * lg * rd + rg * rg * ld) / (ld * rd)
        least = max(1, ceil(self.options.min_child_weight / self.pairs.hessian_unit))
        enough = np.minimum(n, len(leaf.rows) - n) >= self.options.min_samples_leaf
        enough &= np.minimum(h, all_h - h) >= least
        return np.where(enough, gain.astype(np.float32) - np.float32(self._own_gain(leaf)), np.float32(0))

    def _undo(self, tree: SlowTree) -> SlowTree:
        """The tree without splits whose branch gains less than its leaves cost, numbered as the engine does."""
        by_level = self.options.growth == Growth.oblivious
        levels = [0.0] * (max(node.depth for node in self.nodes) + 2)
        for depth in reversed(range(len(levels) - 1)):
            here = [
                node.number for node in self.nodes if node.depth == depth and tree.feature[node.number] >= 0
            ]
            levels[depth] = max(
                0.0, sum(tree.gain[i] - self.options.leaf_penalty for i in here) + levels[depth + 1]
            )

        def worth(i: int) -> float:
            if tree.feature[i] < 0:
                return 0.0
            below = worth(tree.left[i]) + worth(tree.left[i] + 1)
            return max(0.0, tree.gain[i] - self.options.leaf_penalty + below)

        kept = SlowTree([-1], [0], [0.0], [0.0], tree.leaf)
        nodes, stack = [self.nodes[0]], [(0, 0)]
        while stack:
            old, new = stack.pop()
            if not (levels[self.nodes[old].depth] if by_level else worth(old)) > 0 or tree.feature[old] < 0:
                continue
            kept.feature[new], kept.gain[new], kept.left[new] = tree.feature[old], tree.gain[old], len(nodes)
            for child in (tree.left[old], tree.left[old] + 1):
                kept.feature.append(-1)
                kept.left.append(0)
                kept.gain.append(0.0)
                kept.value.append(0.0)
                nodes.append(self.nodes[child])
            stack += [(tree.left[old] + 1, len(nodes) - 1), (tree.left[old], len(nodes) - 2)]
        if len(nodes) == len(self.nodes):
            return tree
        self.nodes = nodes
        for number, node in enumerate(nodes):
            node.number = number
            if kept.feature[number] < 0:
                kept.leaf[node.rows] = number
        return kept

    def _exact_answer(self, leaf: Leaf, gradient: NDArray[np.float32], hessian: NDArray[np.float32]) -> float:
        """From unrounded derivatives, smoothed with the parent's answer, which is smoothed with its parent's."""
        exact_h = hessian[leaf.rows].sum(dtype=float) if self.has_hessian else len(leaf.rows)
        step = _newton(
            _shrunk(gradient[leaf.rows].sum(dtype=float), self.options.l1), exact_h + self.options.l2
        )
        step = float(np.clip(step, leaf.low, leaf.high))
        s = self.options.path_smoothing
        if leaf.parent is not None and len(leaf.rows) == 0:
            parent = self._exact_answer(leaf.parent, gradient, hessian)
            return float(np.clip(parent, leaf.low, leaf.high))
        if leaf.parent is None or s == 0:
            return step
        r = len(leaf.rows) / s
        parent = self._exact_answer(leaf.parent, gradient, hessian)
        return float(np.clip(step * r / (r + 1) + parent / (r + 1), leaf.low, leaf.high))

    def _children(self, leaf: Leaf, tree: SlowTree) -> list[Leaf]:
        assert leaf.split is not None
        feature, first = leaf.split.feature, len(tree.feature)
        tree.feature[leaf.number], tree.left[leaf.number], tree.gain[leaf.number] = feature, first, leaf.gain
        left = leaf.split.goes_left[self.bins[leaf.rows, feature]]
        sets = [group for group in leaf.sets if feature in group]
        children = []
        for side, rows in enumerate((leaf.rows[left], leaf.rows[~left])):
            tree.feature.append(-1)
            tree.left.append(0)
            tree.gain.append(0.0)
            tree.value.append(0.0)
            tree.leaf[rows] = first + side
            place = 2 * leaf.place + side
            children.append(Leaf(first + side, rows, leaf.depth + 1, leaf.low, leaf.high, sets, place, leaf))
        self._keep_order(children, self.options.monotone[feature] if self.options.monotone else 0)
        self.nodes += children
        return children

    def _keep_order(self, children: list[Leaf], direction: int) -> None:
        """Each side of a monotone split stays on its side of the middle."""
        if direction == 0:
            return
        middle = (
            sum(self._answer(child if len(child.rows) else child.parent or child) for child in children) / 2
        )
        lower, higher = children if direction > 0 else children[::-1]
        lower.high = middle
        higher.low = middle

    def _answer(self, leaf: Leaf) -> float:
        g, h = self._sums(leaf)
        step = _newton(
            _shrunk(g * self.pairs.gradient_unit, self.options.l1),
            h * self.pairs.hessian_unit + self.options.l2,
        )
        return float(np.clip(step, leaf.low, leaf.high))

    def _sums(self, leaf: Leaf) -> tuple[int, int]:
        return int(self.pairs.gradient[leaf.rows].sum()), int(self.pairs.hessian[leaf.rows].sum())

    def _find_split(self, leaf: Leaf) -> None:
        options = self.options
        if not self._may_split(leaf):
            return
        splits = [self._best_split(leaf, feature) for feature in self._allowed(leaf)]
        own = self._own_gain(leaf)
        seeming = self._rounding_limit([leaf]) + FLOAT_ERRORS * own if self.split_noise > 0 else -np.inf
        splits = [
            split
            for split in splits
            if split.gain >= 0
            and split.gain - own > seeming
            and self._real_gain(leaf, split) > options.min_gain
        ]
        if splits:
            best = max(splits, key=lambda split: (self._rank(leaf, split), -split.feature))
            if self._exceeds_rounding([leaf], best):
                leaf.gain, leaf.split = self._real_gain(leaf, best), best

    def _may_split(self, leaf: Leaf) -> bool:
        options = self.options
        deep_enough = options.max_depth and leaf.depth >= options.max_depth
        fewest = max(2 * options.min_samples_leaf, options.min_samples_split)
        enough = len(leaf.rows) >= fewest and self._sums(leaf)[1] > 0
        return enough and not deep_enough

    def _real_gain(self, leaf: Leaf, split: Split) -> float:
        """What the split gains above the leaf, in the units of the derivatives."""
        return (split.gain - self._own_gain(leaf)) * self.pairs.gradient_unit**2 / self.pairs.hessian_unit

    def _own_gain(self, leaf: Leaf) -> float:
        """What the leaf gains over answering zero, in rounded units."""
        g, h = self._sums(leaf)
        weight = h + float(np.float32(self.options.l2 / self.pairs.hessian_unit))
        low, high = self._rounded_bounds(leaf)
        l1 = self._rounded_l1()
        value = float(np.clip(_newton(_shrunk(g, l1), weight), low, high))
        return -(2 * g * value + weight * value * value + 2 * l1 * abs(value))

    def _rank(self, leaf: Leaf, split: Split) -> np.float32:
        """The gain with the noise of its feature."""
        draw = random_normal(self.seed, SPLIT_NOISE, leaf.place * len(self.n_bins) + split.feature)
        return np.float32(split.gain) + self.split_noise * draw

    def _rounded_l1(self) -> float:
        return float(np.float32(self.options.l1 / self.pairs.gradient_unit))

    def _rounded_bounds(self, leaf: Leaf) -> tuple[float, float]:
        factor = self.pairs.hessian_unit / self.pairs.gradient_unit
        return leaf.low * factor, leaf.high * factor

    def _allowed(self, leaf: Leaf) -> list[int]:
        n_features = len(self.n_bins)
        allowed = (
            sorted(set().union(*leaf.sets)) if self.options.interaction_sets else list(range(n_features))
        )
        options = self.options
        shares = [
            (options.max_features_per_tree, TREE_FEATURES, 0),
            (options.max_features_per_level, LEVEL_FEATURES, leaf.depth),
            (options.max_features, FEATURE_DRAW, leaf.place),
        ]
        for share, purpose, place in shares:
            if share < 1:
                bits = {f: random_bits(self.seed, purpose, place * n_features + f) for f in allowed}
                keep = max(1, ceil(share * len(allowed) - 1e-9))
                allowed = sorted(sorted(allowed, key=bits.__getitem__)[:keep])
        return allowed

    def _best_split(self, leaf: Leaf, feature: int) -> Split:
        """The first of the best splits of one feature; a gain of -1 if there is none."""
        g, h, n = self._histogram(leaf, feature)
        n_bins = len(n)
        if self.nominal[feature]:
            orders = [self._level_order(g, h, n)]
            ends = [np.arange(1, len(orders[0]))]
        else:
            values = np.arange(1, n_bins)
            orders = [values, np.arange(n_bins)] if n[0] else [values]
            ends = [np.arange(len(order) - len(values) + 1, len(order) + 1) for order in orders]
        best = Split(-1.0, feature, np.zeros(n_bins, dtype=bool))
        for order, end in zip(orders, ends, strict=True):
            if len(end) == 0:
                continue
            sums = [np.cumsum(each[order])[end - 1] for each in (g, h, n)]
            gains = self._gains(leaf, sums, (g.sum(), h.sum(), n.sum()), feature)
            if gains.max() > best.gain:
                goes_left = np.isin(np.arange(n_bins), order[: end[gains.argmax()]])
                best = Split(float(gains.max()), feature, goes_left)
        return self._judge_levels(leaf, best, g, h, n) if self.nominal[feature] else best

    def _histogram(self, leaf: Leaf, feature: int) -> tuple[Ints, Ints, Ints]:
        bin_of, n_bins = self.bins[leaf.rows, feature], int(self.n_bins[feature])
        g = np.bincount(bin_of, self.pairs.gradient[leaf.rows], n_bins).astype(np.int64)
        h = np.bincount(bin_of, self.pairs.hessian[leaf.rows], n_bins).astype(np.int64)
        return g, h, np.bincount(bin_of, minlength=n_bins)

    def _level_order(self, g: Ints, h: Ints, n: Ints) -> Ints:
        smoothing = float(np.float32(self.options.level_smoothing / self.pairs.hessian_unit))
        centre = g.sum() / max(1.0, float(h.sum()))
        key = (g + centre * smoothing) / np.maximum(h + smoothing, 1e-9)
        present = np.flatnonzero(n)
        return present[np.argsort(key[present], kind="stable")]

    def _gains(self, leaf: Leaf, left: list[Ints], total: tuple[int, int, int], feature: int) -> Floats:
        """Gain of each way to send the sums `left` to one side; -1 where it is not allowed."""
        (lg, lh, ln), (rg, rh, rn) = left, [total[k] - left[k] for k in range(3)]
        l2 = np.float32(self.options.l2 / self.pairs.hessian_unit)
        if self.nominal[feature]:
            l2 = l2 + np.float32(self.options.level_l2 / self.pairs.hessian_unit)
        direction = self.options.monotone[feature] if self.options.monotone else 0
        limited = direction != 0 or np.isfinite([leaf.low, leaf.high]).any()
        if self.options.l1 > 0 or (limited and not self.nominal[feature]):
            l2 = float(np.float32(self.options.l2 / self.pairs.hessian_unit))
            if self.nominal[feature]:
                l2 += float(np.float32(self.options.level_l2 / self.pairs.hessian_unit))
            free = bool(self.nominal[feature])
            gain = self._limited_gain(leaf, (lg, lh), (rg, rh), l2, direction, free=free)
        else:
            lg32, lh32, rg32, rh32 = (each.astype(np.float32) for each in (lg, lh, rg, rh))
            ld, rd = lh32 + l2, rh32 + l2
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = ((lg32 * lg32 * rd + rg32 * rg32 * ld) / (ld * rd)).astype(np.float64)
        least = max(1, ceil(self.options.min_child_weight / self.pairs.hessian_unit))
        enough = (np.minimum(lh, rh) >= least) & (np.minimum(ln, rn) >= self.options.min_samples_leaf)
        return np.where(enough, gain, -1.0)

    def _limited_gain(
        self,
        leaf: Leaf,
        left: tuple[Ints, Ints],
        right: tuple[Ints, Ints],
        l2: float,
        direction: int,
        *,
        free: bool = False,
        meet: bool = False,
    ) -> Floats:
        """What both sides gain by their clipped answers; -1 if these are out of order, unless they meet."""
        low, high = (-np.inf, np.inf) if free else self._rounded_bounds(leaf)
        l1 = self._rounded_l1()
        weights = [np.where(h + l2 > 0, h + l2, np.nan) for _, h in (left, right)]
        sides = list(zip((left[0], right[0]), weights, strict=True))
        answers = [np.clip(-_shrunk(g, l1) / weight, low, high) for g, weight in sides]
        in_order = direction * (answers[1] - answers[0]) >= 0
        if meet:
            middle = (answers[0] + answers[1]) / 2
            answers = [np.where(in_order, answer, middle) for answer in answers]
        total = sum(
            -(2 * g * answer + weight * answer**2 + 2 * l1 * np.abs(answer))
            for (g, weight), answer in zip(sides, answers, strict=True)
        )
        if meet:
            return np.asarray(total)
        return np.where(in_order, np.maximum(total, 0).astype(np.float32).astype(np.float64), -1.0)

    def _judge_levels(self, leaf: Leaf, best: Split, g: Ints, h: Ints, n: Ints) -> Split:
        """What remains of the gain of a set of levels.

        Bounds leave the order of the levels alone: the chosen set is judged by its clipped answers. Then each level
        beyond the first costs what sorting it by noise would gain.
        """
        gain = best.gain
        if gain >= 0 and np.isfinite([leaf.low, leaf.high]).any():
            l2 = np.float32(self.options.l2 / self.pairs.hessian_unit)
            all_l2 = float(l2) + float(np.float32(self.options.level_l2 / self.pairs.hessian_unit))
            left = (g[best.goes_left].sum(keepdims=True), h[best.goes_left].sum(keepdims=True))
            right = (g.sum() - left[0], h.sum() - left[1])
            gain = float(self._limited_gain(leaf, left, right, all_l2, 0)[0])
        if gain >= 0:
            gain = float(np.float32(gain) - self.level_cost * np.float32(np.count_nonzero(n) - 1))
        return best._replace(gain=gain if gain >= 0 else -1.0)


def _shrunk(gradient: Any, l1: float) -> Any:
    """Gradient sums, nearer to zero by l1."""
    return np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)


def _newton(gradient: float, weight: float) -> float:
    return -gradient / weight if weight > 0 else 0.0
