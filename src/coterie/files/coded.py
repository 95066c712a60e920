"""Arrays in fewer bytes, and how many bytes a file may become when it is read.

A node `{"coded": tensor, "dtype": ..., "shape": ...}` is an array whose items the engine has coded
(`engine/coterie/storage/coded_numbers.hpp`). A short file can be a long array, so there is a limit for all arrays of a
file together; a model that is above it is stored without codes.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from coterie._engine import code_numbers, decode_numbers
from coterie._typing import AnyArray
from coterie.errors import InvalidInput, ModelFileError
from coterie.files.container import DTYPES

_WORTH_IT = 512
_ALWAYS = 64 << 20
_TIMES = 16
_NAMES = {np.dtype(text): name for name, text in DTYPES.items()}


def most_decoded(n_bytes: int) -> int:
    """How many bytes the coded arrays of a file of `n_bytes` may have in all."""
    return _ALWAYS + _TIMES * n_bytes


def coded_array(array: AnyArray) -> tuple[AnyArray, str] | None:
    """The code of an array and the name of its type, or None if it does not become clearly shorter."""
    if array.nbytes < _WORTH_IT or array.dtype not in _NAMES:
        return None
    flat = np.asarray(array, order="C").reshape(-1)
    coded = code_numbers(flat.view(np.uint8), array.dtype.itemsize)
    return None if coded is None else (coded, _NAMES[array.dtype])


def decoded_array(node: dict[str, Any], tensor: AnyArray, take: Callable[[int], None]) -> AnyArray:
    """The array of a node; `take` is given the number of its bytes before there is room made for them."""
    dtype, shape = node.get("dtype"), node.get("shape")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"holds an array of an unknown type, {dtype!r:.40}.")
    if not isinstance(shape, list) or len(shape) > 8 or not all(type(n) is int and n > 0 for n in shape):
        raise ModelFileError(f"holds an array of the shape {shape!r:.40}.")
    if tensor.dtype != np.uint8 or tensor.ndim != 1:
        raise ModelFileError("holds a coded array that is no list of bytes.")
    take(math.prod(shape) * np.dtype(DTYPES[dtype]).itemsize)
    array = np.empty(shape, dtype=DTYPES[dtype])
    try:
        decode_numbers(tensor, array.dtype.itemsize, array.reshape(-1).view(np.uint8))
    except InvalidInput as error:
        raise ModelFileError(f"holds an array that cannot be decoded: {error}") from None
    if dtype == "BOOL" and (array.view(np.uint8) > 1).any():
        raise ModelFileError("holds an array in which a byte is neither true nor false.")
    return array
