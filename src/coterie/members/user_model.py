"""Models that others wrote, asked in a way that their errors come back in our words."""

from collections.abc import Callable
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import FloatArray
from coterie.errors import CoterieError, InvalidInput

__all__ = ["asked", "finite_floats"]


def asked(parameter: str, model: Any, deed: str, ask: Callable[[], Any]) -> Any:
    """What the model answers; `parameter` is what it was given as."""
    try:
        return ask()
    except CoterieError:
        raise
    except Exception as error:
        raise InvalidInput(
            f"{parameter}={in_short(model)} cannot {deed}: {type(error).__name__}: {error}",
            parameter=parameter,
            received=model,
            allowed=f"a model that can {deed}",
            hint="It is given the table as it came; text, categories and missing values may need a pipeline that "
            "prepares them.",
        ) from error


def finite_floats(parameter: str, model: Any, method: str, given: Any) -> FloatArray:
    """The answer as floats, none of them NaN or infinite."""
    try:
        array = np.asarray(given).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{method} of {parameter}={in_short(model)} gives no numbers: {error}.",
            parameter=parameter,
            received=model,
            allowed=f"a model whose {method} gives numbers",
        ) from error
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        row = int(wrong[0][0])
        raise InvalidInput(
            f"{method} of {parameter}={in_short(model)} is {array[tuple(wrong[0])]} in row {row}; expected "
            "finite numbers.",
            parameter=parameter,
            received=model,
            allowed=f"a model whose {method} gives finite numbers",
            row=row,
        )
    return array
