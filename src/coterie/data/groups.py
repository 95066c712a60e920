"""Groups: which rows belong together and must not be parted."""

from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray, CodeArray
from coterie.data.frames import is_series, series_values
from coterie.data.levels import label_levels
from coterie.errors import InvalidInput, InvalidType

__all__ = ["read_groups"]


def read_groups(groups: Any, n_rows: int) -> CodeArray:
    """The number of each row's group, counted from 0; groups may be named by anything that can be compared.

    Examples
    --------
    >>> read_groups(["Ann", "Bo", "Ann"], 3)
    array([0, 1, 0], dtype=int32)
    """
    array = _as_array(groups)
    if array.shape != (n_rows,):
        raise InvalidInput(
            f"groups has the shape {array.shape}; expected ({n_rows},): the group of each row of X."
        )
    codes, _ = label_levels(array.tolist(), where="groups")
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise InvalidInput(
            f"Input groups contains NaN: the group of row {missing[0]} is missing. Give such rows a group of their own."
        )
    return codes


def _as_array(groups: Any) -> AnyArray:
    if isinstance(groups, str | bytes | dict | set):
        raise InvalidType(
            f"groups={in_short(groups)}: expected the group of each row, in a list or an array."
        )
    if is_series(groups):
        return series_values(groups)
    try:
        return np.asarray(groups)
    except (TypeError, ValueError) as error:
        raise InvalidType(
            f"groups={in_short(groups)} cannot be read ({error}); expected the group of each row."
        ) from error
