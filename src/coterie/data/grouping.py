"""Columns with more levels than the engine has bins: similar levels share a group.

The engine keeps a category in one byte, so a column may have at most 254 of them. A column of 70,000
postal codes has to be grouped, and the groups should keep what the column says about the target.

Steps
  1. Levels of fewer than 20 rows are rare. If the others fit into the groups, the most frequent levels
     get a group each, the rest share one, and the target is not looked at.
  2. Otherwise all rare levels share one group. Nothing can be learned about each of them alone, and put
     together by their own labels they would repeat those labels.
  3. Every other level gets a score: its mean target, drawn towards the overall mean. With classes, the
     target is first laid out along the one direction in which the levels differ most.
  4. The levels are ordered by score and cut into groups of about equal weight; a heavy level has its own.

How strongly a mean is drawn to the overall mean follows from the data (empirical Bayes): if the means
of the levels differ no more than chance would make them, the scores are all equal and the groups have
nothing to do with the labels. So a column of random codes cannot leak its labels through its groups.

Integer-numbered weights count as repetitions of rows; others are first scaled to a mean of 1. The result
depends neither on the order of the rows nor on anything random.
"""

from dataclasses import dataclass

import numpy as np

from coterie._typing import AnyArray, CodeArray, FloatArray

MAX_GROUPS = 254
_RARE = 20.0
_MOST_CLASSES = 128
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class _Sums:
    """Sums over rows: weight and weighted scores of each level, and the squared scores of all."""

    mass: FloatArray
    score: FloatArray
    squares: float


def group_levels(
    codes: CodeArray,
    n_levels: int,
    target: AnyArray | None,
    weight: FloatArray | None,
    max_groups: int = MAX_GROUPS,
) -> CodeArray:
    """The group of each level, at most `max_groups` of them.

    Parameters
    ----------
    codes : array of shape (n_rows,)
        The level of each row, -1 where it is missing.
    target : array of shape (n_rows,) or (n_rows, n_outputs), or None
        Integer numbers are class codes, others a numeric target. Without a target the most frequent
        levels keep a group each and the rest share the last one.
    weight : array of shape (n_rows,), or None

    Examples
    --------
    Four levels of 100 rows in two groups: those with the high target, those with the low one.

    >>> codes = np.repeat(np.arange(4, dtype=np.int32), 100)
    >>> group_levels(codes, 4, np.array([0.0, 5.0, 0.0, 5.0])[codes], None, max_groups=2)
    array([0, 1, 0, 1], dtype=int32)
    """
    if n_levels <= max_groups:
        return np.arange(n_levels, dtype=np.int32)
    if (codes < 0).any():
        known = codes >= 0
        codes = codes[known]
        target = None if target is None else target[known]
        weight = None if weight is None else weight[known]
    weight = None if weight is None else _as_repetitions(weight)
    mass = _per_level(codes, n_levels, weight)
    rare = mass < _RARE
    if target is None or np.count_nonzero(~rare) < max_groups:
        return _most_frequent(mass, max_groups)
    return _by_score(mass, rare, _level_scores(_sums(codes, n_levels, target, weight)), max_groups)


def _by_score(mass: FloatArray, rare: AnyArray, score: FloatArray, max_groups: int) -> CodeArray:
    """Rare levels in one group, the others cut along the score."""
    common = np.flatnonzero(~rare)
    order = common[np.lexsort((common, score[common]))]
    groups = np.zeros(len(mass), dtype=np.int32)
    groups[order] = _cut_by_mass(mass[order], max_groups - 1 if rare.any() else max_groups)
    groups[rare] = groups[order].max(initial=-1) + 1
    return groups


def _as_repetitions(weight: FloatArray) -> FloatArray:
    total = float(weight.sum())
    if total == 0 or (weight == np.floor(weight)).all():
        return weight
    scale = np.count_nonzero(weight) / total
    return np.asarray(weight * scale)


def _per_level(codes: AnyArray, n_levels: int, weight: AnyArray | None) -> FloatArray:
    return np.bincount(codes, weights=weight, minlength=n_levels).astype(np.float64)


def _most_frequent(mass: FloatArray, max_groups: int) -> CodeArray:
    order = np.lexsort((np.arange(len(mass)), -mass))
    groups = np.full(len(mass), max_groups - 1, dtype=np.int32)
    groups[order[: max_groups - 1]] = np.arange(max_groups - 1, dtype=np.int32)
    return groups


def _sums(codes: CodeArray, n_levels: int, target: AnyArray, weight: FloatArray | None) -> _Sums:
    """One score per row, summed by level: the target, or its place where the levels differ most."""
    if target.ndim == 1 and target.dtype.kind != "f":
        counts = _class_counts(codes, n_levels, _merged_classes(target), weight)
        mass = counts.sum(axis=1)
        place = _leading_direction(counts, mass)
        place = place - float(counts.sum(axis=0) @ place) / max(float(mass.sum()), _TINY)
        return _Sums(mass, counts @ place, float(counts.sum(axis=0) @ (place * place)))
    mass = _per_level(codes, n_levels, weight)
    scores = target.astype(np.float64) if target.ndim == 1 else _joint_scores(codes, mass, target, weight)
    share = np.ones(len(codes)) if weight is None else weight
    scores = scores - float(share @ scores) / max(float(mass.sum()), _TINY)
    weighted = share * scores
    return _Sums(mass, _per_level(codes, n_levels, weighted), float(weighted @ scores))


def _merged_classes(target: AnyArray) -> AnyArray:
    """Class codes as they are; of very many classes, the less frequent ones together."""
    frequency = np.bincount(target)
    if len(frequency) <= _MOST_CLASSES:
        return target
    rank = np.empty(len(frequency), dtype=np.int64)
    rank[np.lexsort((np.arange(len(frequency)), -frequency))] = np.arange(len(frequency))
    return np.asarray(np.minimum(rank, _MOST_CLASSES - 1)[target])


def _class_counts(codes: CodeArray, n_levels: int, target: AnyArray, weight: FloatArray | None) -> FloatArray:
    """Weight of each class in each level."""
    n_classes = max(2, int(target.max(initial=0)) + 1)
    cells = codes.astype(np.int64) * n_classes + target
    return _per_level(cells, n_levels * n_classes, weight).reshape(n_levels, n_classes)


def _leading_direction(sums: FloatArray, mass: FloatArray) -> FloatArray:
    """The direction along which the mean of the levels varies most; its largest part is positive."""
    centred = sums / np.maximum(mass, _TINY)[:, None] - sums.sum(axis=0) / max(float(mass.sum()), _TINY)
    direction = np.linalg.eigh((centred * mass[:, None]).T @ centred)[1][:, -1]
    # On a tie the last part counts: with two classes, the score grows with the second one.
    largest = len(direction) - 1 - int(np.argmax(np.round(np.abs(direction[::-1]), 9)))
    return np.asarray(direction if direction[largest] >= 0 else -direction)


def _joint_scores(
    codes: CodeArray, mass: FloatArray, target: AnyArray, weight: FloatArray | None
) -> FloatArray:
    """Several outputs, each scaled to spread 1 (classes by their code's own score), laid on one line."""
    columns = [_output_scores(codes, mass, output, weight) for output in target.T]
    share = np.ones(len(codes)) if weight is None else weight
    sums = np.stack([_per_level(codes, len(mass), share * column) for column in columns], axis=1)
    return np.asarray(np.stack(columns, axis=1) @ _leading_direction(sums, mass))


def _output_scores(
    codes: CodeArray, mass: FloatArray, output: AnyArray, weight: FloatArray | None
) -> FloatArray:
    if output.dtype.kind == "f":
        scores = output - output.mean()
    else:
        classes = _merged_classes(output)
        scores = _leading_direction(_class_counts(codes, len(mass), classes, weight), mass)[classes]
    spread = float(scores.std())
    return np.asarray(scores / spread if spread > 0 else scores, dtype=np.float64)


def _level_scores(sums: _Sums) -> FloatArray:
    """Mean score of each level, drawn towards the overall mean of 0 by empirical Bayes."""
    mass, total = sums.mass, float(sums.mass.sum())
    between = float((sums.score**2 / np.maximum(mass, _TINY)).sum())
    n_used = int(np.count_nonzero(mass))
    within = max(sums.squares - between, 0.0) / max(total - n_used, 1.0)
    # Method of moments: what the level means vary beyond what `within` alone would make them vary.
    room = total - float(mass @ mass) / max(total, _TINY)
    signal = (between - (n_used - 1) * within) / room if room > 0 else 0.0
    if signal <= 1e-12 * max(sums.squares / max(total, _TINY), _TINY):
        return np.zeros(len(mass))
    score = sums.score / np.maximum(mass + within / signal, _TINY)
    scale = float(np.abs(score).max())
    # Rounded, so that the order in which rows were summed cannot swap two equal levels.
    return np.asarray(np.round(score / scale, 9)) if scale > 0 else score


def _cut_by_mass(mass: FloatArray, n_groups: int) -> CodeArray:
    """Consecutive groups of about equal mass, as many as allowed; a level heavier than that is alone."""
    if len(mass) <= n_groups:
        return np.arange(len(mass), dtype=np.int32)
    listed = mass.tolist()
    low, high = 0.0, float(mass.sum())
    groups = _cut_at(listed, high)
    for _ in range(12):
        quota = (low + high) / 2
        finer = _cut_at(listed, quota)
        if finer[-1] < n_groups:
            groups, high = finer, quota
        else:
            low = quota
    return np.array(groups, dtype=np.int32)


def _cut_at(mass: list[float], quota: float) -> list[int]:
    groups = []
    group, filled = 0, 0.0
    for own in mass:
        if filled > 0 and (own >= quota or filled + own / 2 > quota):
            group += 1
            filled = 0.0
        groups.append(group)
        filled = quota if own >= quota else filled + own
    return groups
