"""Every stump of a small table, written down answer by answer."""

from collections.abc import Sequence
from itertools import product
from typing import Any


def naive_stump_count(columns: Sequence[tuple[Sequence[Any], bool]]) -> int:
    """Columns are values, None where missing, and whether they are nominal."""
    n_rows = len(columns[0][0])
    answers = {(1,) * n_rows, (-1,) * n_rows}
    for values, nominal in columns:
        levels = sorted({value for value in values if value is not None})
        groups = [*levels, None]
        sides = (
            product((-1, 1), repeat=len(groups))
            if nominal
            else [
                (*[-1] * cut, *[1] * (len(levels) - cut), missing)
                for cut in range(len(levels) + 1)
                for missing in (-1, 1)
            ]
        )
        for side in sides:
            says = dict(zip(groups, side, strict=True))
            answer = tuple(says[value] for value in values)
            answers |= {answer, tuple(-each for each in answer)}
    return len(answers)
