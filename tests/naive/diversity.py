"""Measures of diversity by their definitions: counts of rows, one pair of members after the other."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import sqrt


def naive_pair(right: Sequence[bool], other: Sequence[bool]) -> dict[str, float]:
    counts = Counter(zip(right, other, strict=True))
    a, b, c, d = (counts[pair] for pair in ((True, True), (True, False), (False, True), (False, False)))
    n = len(right)
    spread = sqrt((a + b) * (c + d) * (a + c) * (b + d))
    return {
        "disagreement": (b + c) / n,
        "double_fault": d / n,
        "q_statistic": (a * d - b * c) / (a * d + b * c) if a * d + b * c else float("nan"),
        "correlation": (a * d - b * c) / spread if spread else float("nan"),
    }


def naive_kappa(said: Sequence[int], other: Sequence[int]) -> float:
    n = len(said)
    agree = sum(x == y for x, y in zip(said, other, strict=True)) / n
    chance = sum(Counter(said)[label] / n * Counter(other)[label] / n for label in set(said) | set(other))
    return (agree - chance) / (1 - chance) if chance < 1 else float("nan")


def naive_whole(right: Sequence[Sequence[bool]]) -> dict[str, float]:
    """`right[t][i]`: whether member t is right about row i."""
    n_members, n_rows = len(right), len(right[0])
    n_right = [sum(own[row] for own in right) for row in range(n_rows)]
    half = n_members - -(-n_members // 2)
    disagreements = [naive_pair(one, other)["disagreement"] for one, other in combinations(right, 2)]
    accuracy = sum(n_right) / (n_members * n_rows)
    wrong = [n_members - number for number in n_right]
    by_count = {number: wrong.count(number) / n_rows for number in range(n_members + 1)}
    p1 = sum(number / n_members * share for number, share in by_count.items())
    p2 = sum(
        number / n_members * (number - 1) / (n_members - 1) * share for number, share in by_count.items()
    )
    variance = (n_members - 1) / (2 * n_members) * sum(disagreements) / len(disagreements)
    spread = accuracy * (1 - accuracy)
    return {
        "entropy": sum(min(number, n_members - number) for number in n_right) / (half * n_rows),
        "kohavi_wolpert_variance": variance,
        "interrater_agreement": 1 - n_members / (n_members - 1) * variance / spread
        if spread
        else float("nan"),
        "generalized_diversity": 1 - p2 / p1 if p1 else float("nan"),
    }
