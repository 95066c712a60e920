"""Models that others wrote, called so that their errors come back as ours."""

from collections.abc import Callable
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import FloatArray
from coterie.errors import CoterieError, InvalidInput


def call_user_model(parameter: str, model: Any, action: str, call: Callable[[], Any]) -> Any:
    """What the call returns; `parameter` is what the model was given as, `action` what it should do."""
    try:
        return call()
    except CoterieError:
        raise
    except Exception as error:
        raise InvalidInput(
            f"{parameter}={in_short(model)} cannot {action}: {type(error).__name__}: {error}",
            parameter=parameter,
            received=model,
            allowed=f"a model that can {action}",
            hint="It is given the table as it came; text, categories and missing values may need a pipeline that "
            "prepares them.",
        ) from error


def finite_floats(parameter: str, model: Any, method: str, given: Any) -> FloatArray:
    """The predictions as floats, none of them NaN or infinite."""
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
        raise InvalidInput.expecting(
            f"{method} of {parameter}={in_short(model)} is {array[tuple(wrong[0])]} in row {row}",
            f"a model whose {method} gives finite numbers",
            parameter,
            model,
            row=row,
        )
    return array
