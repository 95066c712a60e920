"""Jackknives by their formulas: one new row and one training row at a time."""

from math import ceil, floor, inf

from numpy.typing import NDArray


def naive_jackknife_plus(
    answers: NDArray, out: NDArray, residuals: NDArray, per_cent: int
) -> list[tuple[float, float]]:
    """Lower and upper end for each new row; alpha in per cent, so that the places of ends are those of integers."""
    intervals = []
    for said in answers:
        low, high = [], []
        for without, residual in zip(out, residuals, strict=True):
            if without.any():
                low.append(said[without].mean() - residual)
                high.append(said[without].mean() + residual)
        n = len(low)
        first, last = per_cent * (n + 1) // 100, -((per_cent - 100) * (n + 1) // 100)
        assert (first, last) == (floor(per_cent * (n + 1) / 100), ceil((100 - per_cent) * (n + 1) / 100))
        intervals.append(
            (sorted(low)[first - 1] if first >= 1 else -inf, sorted(high)[last - 1] if last <= n else inf)
        )
    return intervals


def naive_infinitesimal_jackknife(counts: NDArray, said: NDArray, *, replace: bool) -> float:
    """The variance of one answer: eq. 5 and 7 of Wager, Hastie and Efron; eq. 8 of Wager and Athey."""
    n_trees, n_rows = counts.shape
    drawn = counts.sum() / n_trees
    mean = said.mean()
    total = 0.0
    for row in range(n_rows):
        covariance = (
            sum((counts[t, row] - drawn / n_rows) * (said[t] - mean) for t in range(n_trees)) / n_trees
        )
        total += covariance**2
    spread = sum((each - mean) ** 2 for each in said) / n_trees
    if replace:
        return max(0.0, total - drawn / n_trees * spread)
    variance_of_a_count = drawn / n_rows * (1 - drawn / n_rows)
    corrected = total - n_rows * variance_of_a_count / n_trees * spread
    return max(0.0, (n_rows - 1) / n_rows * (n_rows / (n_rows - drawn)) ** 2 * corrected)
