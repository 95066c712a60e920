"""How fast a network learns, and how much it forgets, as functions of the share of the training that is over."""

import math

N_CYCLES = 4


def learning_rate(share: float) -> float:
    """A factor from 0 to 1: four cosines, each twice as long as the one before it.

    Examples
    --------
    >>> [round(learning_rate(share), 3) for share in (0.0, 1 / 15, 3 / 15, 7 / 15, 1.0)]
    [0.0, 0.0, 0.0, 0.0, 0.0]
    >>> round(learning_rate((2**3.5 - 1) / 15), 3)
    1.0
    """
    return 0.5 * (1.0 - math.cos(2.0 * math.pi * math.log2(1.0 + (2**N_CYCLES - 1) * share)))


def regularization(share: float) -> float:
    """A factor that is 1 for the first half and falls to 0 along a cosine in the second.

    Examples
    --------
    >>> [round(regularization(share), 3) for share in (0.0, 0.5, 0.75, 1.0)]
    [1.0, 1.0, 0.5, 0.0]
    """
    return 1.0 if share < 0.5 else 0.5 * (1.0 + math.cos(math.pi * (2.0 * share - 1.0)))


def cycle_ends(n_epochs: int) -> set[int]:
    """The epochs after which the learning rate is at its least.

    Examples
    --------
    >>> sorted(cycle_ends(150))
    [10, 30, 70, 150]
    """
    return {max(1, round(n_epochs * (2**cycle - 1) / (2**N_CYCLES - 1))) for cycle in range(1, N_CYCLES + 1)}
