"""Errors by the bootstrap as Efron and Tibshirani write them: sums over rows, fits and pairs."""

from collections.abc import Callable, Sequence
from math import isnan, sqrt
from typing import Any


def naive_bootstrap(
    y: Sequence[Any],
    said: Sequence[Any],
    draws: Sequence[Sequence[int]],
    answers: Sequence[Sequence[Any]],
    loss: Callable[[Any, Any], float],
) -> dict[str, float]:
    """`said`: answers of the fit to all rows; `draws[b]`: its rows; `answers[b][i]`: what fit b says of row i."""
    n, n_fits = len(y), len(draws)
    apparent = sum(loss(y[i], said[i]) for i in range(n)) / n
    row_errors = []
    for i in range(n):
        own = [loss(y[i], answers[b][i]) for b in range(n_fits) if i not in draws[b]]
        row_errors.append(sum(own) / len(own) if own else float("nan"))
    known = [error for error in row_errors if not isnan(error)]
    left_out = sum(known) / len(known)
    nothing = sum(loss(y[i], said[j]) for i in range(n) for j in range(n)) / n**2
    capped = min(left_out, nothing)
    rate = (capped - apparent) / (nothing - apparent) if min(capped, nothing) > apparent else 0.0
    plain = 0.368 * apparent + 0.632 * left_out
    plus = plain + (capped - apparent) * (0.368 * 0.632 * rate) / (1 - 0.368 * rate)
    by_fit = [
        sum(loss(y[k], answers[b][k]) for k in range(n) if k not in draws[b]) / n for b in range(n_fits)
    ]
    changes, noise = [], 0.0
    for i in range(n):
        mean_count = sum(list(own).count(i) for own in draws) / n_fits
        moved = [
            (list(draws[b]).count(i) - mean_count) * (by_fit[b] - sum(by_fit) / n_fits) for b in range(n_fits)
        ]
        mean = sum(moved) / n_fits
        noise += (1 - 1 / n) ** (-2 * n) * sum((one - mean) ** 2 for one in moved) / (n_fits - 1) / n_fits
        own_change = 0.0 if isnan(row_errors[i]) else (2 + 1 / (n - 1)) * (row_errors[i] - left_out) / n
        changes.append(own_change + (1 - 1 / n) ** -n * mean)
    least = sum((error - left_out) ** 2 for error in known) / n**2
    return {
        "apparent": apparent,
        "leave_one_out": left_out,
        "error_632": plain,
        "error_632_plus": plus,
        "no_information": nothing,
        "overfitting_rate": rate,
        "standard_error": sqrt(max(sum(change**2 for change in changes) - noise, least)),
    }
