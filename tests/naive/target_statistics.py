"""Ordered target statistics row by row: the slow twin of data/target_statistics."""

from collections.abc import Sequence


def naive_ordered_means(
    levels: Sequence[object], target: Sequence[float], weight: Sequence[float], order: Sequence[int]
) -> list[float]:
    """What each row is told: the mean of its level over the rows before it, or over all if it has no weight."""
    overall = sum(w * t for w, t in zip(weight, target, strict=True)) / sum(weight)
    told = [0.0] * len(levels)
    for place, row in enumerate(order):
        others = order[:place] if weight[row] > 0 else order
        alike = [other for other in others if levels[other] == levels[row]]
        total = sum(weight[other] * target[other] for other in alike)
        mass = sum(weight[other] for other in alike)
        told[row] = (total + overall) / (mass + 1)
    return told
