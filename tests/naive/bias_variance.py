"""Bias, variance and noise by their definitions: one row, one possible target and one fit after the other."""

from collections import Counter
from collections.abc import Sequence


def naive_squared(answers: Sequence[float], right: float, spread: float) -> tuple[float, float, float, float]:
    """Targets are right - spread and right + spread, half of the time each."""
    targets = [right - spread, right + spread]
    error = sum((t - a) ** 2 for t in targets for a in answers) / (2 * len(answers))
    mean = sum(answers) / len(answers)
    return (
        error,
        (mean - right) ** 2,
        sum((a - mean) ** 2 for a in answers) / len(answers),
        sum((t - right) ** 2 for t in targets) / 2,
    )


def naive_kohavi_wolpert(answers: Sequence[int], truth: Sequence[float]) -> tuple[float, float, float, float]:
    shares = [answers.count(code) / len(answers) for code in range(len(truth))]
    error = sum(p for code, p in enumerate(truth) for answer in answers if answer != code) / len(answers)
    return (
        error,
        sum((p - q) ** 2 for p, q in zip(truth, shares, strict=True)) / 2,
        (1 - sum(q * q for q in shares)) / 2,
        (1 - sum(p * p for p in truth)) / 2,
    )


def naive_domingos(answers: Sequence[int], truth: Sequence[float]) -> tuple[float, float, float, float]:
    """The theorem of Domingos with its factors c1 and c2; first come on a tie."""
    n = len(answers)
    best = max(range(len(truth)), key=lambda code: truth[code])
    counts = Counter(answers)
    main = max(range(len(truth)), key=lambda code: counts[code])
    error = sum(p for code, p in enumerate(truth) for answer in answers if answer != code) / n
    variance = sum(answer != main for answer in answers) / n
    if main == best:
        c2 = 1.0
    else:
        others = [answer for answer in answers if answer != main]
        c2 = -sum(answer == best for answer in others) / len(others) if others else 0.0
    noise = 1 - truth[best]
    right = sum(answer == best for answer in answers) / n
    c1 = 0.0
    if noise > 0:
        wrong = [answer for answer in answers if answer != best]
        hit = sum(truth[answer] / noise for answer in wrong) / len(wrong) if wrong else 0.0
        c1 = right - (1 - right) * hit
    return error, float(main != best), c2 * variance, c1 * noise
