"""Groups: which rows belong together and must not be parted."""

from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray, CodeArray
from coterie.data.frames import is_series, series_values
from coterie.data.levels import label_levels
from coterie.data.place import Place
from coterie.errors import InvalidInput, InvalidType


def read_groups(groups: Any, n_rows: int) -> CodeArray:
    """The number of each row's group, counted from 0; groups may be named by anything that can be compared.

    Examples
    --------
    >>> read_groups(["Ann", "Bo", "Ann"], 3)
    array([0, 1, 0], dtype=int32)
    """
    array = _as_array(groups)
    if array.shape != (n_rows,):
        allowed = f"({n_rows},): the group of each row of X"
        raise InvalidInput.expecting(f"groups has the shape {array.shape}", allowed, "groups", array.shape)
    codes, _ = label_levels(array.tolist(), where=Place("groups"))
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        row = int(missing[0])
        raise InvalidInput(
            f"Input groups contains NaN: the group of row {row} is missing.",
            parameter="groups",
            received=array[row],
            allowed="a group for each row",
            hint="Give such rows a group of their own.",
            row=row,
        )
    return codes


def _as_array(groups: Any) -> AnyArray:
    if isinstance(groups, str | bytes | dict | set):
        allowed = "the group of each row, in a list or an array"
        raise InvalidType.expecting(f"groups={in_short(groups)}", allowed, "groups", groups)
    if is_series(groups):
        return series_values(groups)
    try:
        return np.asarray(groups)
    except (TypeError, ValueError) as error:
        raise InvalidType.expecting(
            f"groups={in_short(groups)} cannot be read ({error})", "the group of each row", "groups", groups
        ) from error
