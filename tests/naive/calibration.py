"""Reliability by its definition: rows of one bin after the other."""

from collections.abc import Sequence
from math import sqrt


def naive_reliability(
    values: Sequence[float], happened: Sequence[bool], n_bins: int
) -> dict[str, list[float] | float]:
    """Bins of equal width; the last one holds its upper end."""
    n = len(values)
    places = [min(int(value * n_bins), n_bins - 1) for value in values]
    base = sum(happened) / n
    predicted, observed, low, high, count = [], [], [], [], []
    reliability = resolution = within = expected = 0.0
    for place in sorted(set(places)):
        rows = [row for row in range(n) if places[row] == place]
        mean = sum(values[row] for row in rows) / len(rows)
        share = sum(happened[row] for row in rows) / len(rows)
        predicted.append(mean)
        observed.append(share)
        count.append(float(len(rows)))
        z, m = 1.959963984540054, len(rows)
        middle = (share + z * z / (2 * m)) / (1 + z * z / m)
        reach = z / (1 + z * z / m) * sqrt(share * (1 - share) / m + z * z / (4 * m * m))
        low.append(max(0.0, middle - reach))
        high.append(min(1.0, middle + reach))
        expected += m / n * abs(mean - share)
        reliability += m / n * (mean - share) ** 2
        resolution += m / n * (share - base) ** 2
        variance = sum((values[row] - mean) ** 2 for row in rows) / m
        covariance = sum((values[row] - mean) * (happened[row] - share) for row in rows) / m
        within += m / n * (variance - 2 * covariance)
    return {
        "predicted": predicted,
        "observed": observed,
        "low": low,
        "high": high,
        "count": count,
        "expected_error": expected,
        "maximum_error": max(abs(p - o) for p, o in zip(predicted, observed, strict=True)),
        "brier": sum((v - h) ** 2 for v, h in zip(values, happened, strict=True)) / n,
        "reliability": reliability,
        "resolution": resolution,
        "uncertainty": base * (1 - base),
        "within": within,
    }
