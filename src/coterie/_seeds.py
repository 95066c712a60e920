"""Randomness has one door: a seed goes in at the top and is split here.

Numpy's `SeedSequence` does the mixing. Its words are made one after the other, so the first seeds
of a long list are those of a short one: a warm start of 100 trees continues as 200 trees would have.
"""

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from coterie._params import unexpected
from coterie._typing import SeedArray, SeedLike

__all__ = ["root_seed", "spawn_seeds"]


def root_seed(random_state: SeedLike) -> int:
    """The one whole number below 2**64 that stands for `random_state`.

    A whole number always gives the same seed. A `RandomState` or a `Generator` gives the next number
    of its own stream, and so moves on. None takes the next number of numpy's global stream: random,
    unless the program called `np.random.seed`, as in scikit-learn.

    Examples
    --------
    >>> root_seed(7) == root_seed(7), root_seed(7) == root_seed(8)
    (True, False)
    """
    if isinstance(random_state, int | Integral) and not isinstance(random_state, bool) and random_state >= 0:
        return int(np.random.SeedSequence(int(random_state)).generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**64, dtype=np.uint64))
    if random_state is None:
        return root_seed(check_random_state(None))
    allowed = "None, a whole number >= 0, a numpy RandomState or a numpy Generator"
    raise unexpected("random_state", random_state, allowed)


def spawn_seeds(random_state: SeedLike, n: int) -> SeedArray:
    """Split one seed into `n`, one for each tree, round or member.

    The first k seeds do not depend on `n`.

    Examples
    --------
    >>> bool((spawn_seeds(0, 5)[:3] == spawn_seeds(0, 3)).all())
    True
    """
    sequence = np.random.SeedSequence(root_seed(random_state))
    return np.asarray(sequence.generate_state(n, np.uint64), dtype=np.uint64)
