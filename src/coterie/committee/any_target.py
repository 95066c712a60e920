"""A target whose task nobody named: labels, or numbers."""

from typing import Any

import numpy as np

from coterie._typing import Task
from coterie.data.target import Target, read_target
from coterie.errors import InvalidInput

MOST_CLASSES = 20  # distinct whole numbers; more of them are numbers, and no classes


def read_any_target(y: Any, task: str, n_rows: int, owner: str) -> tuple[Task, Target]:
    """What kind of target it is, if `task` is "auto", and the target."""
    if task != "regression":
        try:
            target = read_target(y, task="classification", estimator_name=owner, n_rows=n_rows)
        except InvalidInput as error:
            if task == "classification" or "continuous" not in str(error):
                raise
        else:
            assert isinstance(target.classes, np.ndarray)
            numbers = target.classes.dtype.kind in "iuf"
            if task == "classification" or not numbers or len(target.classes) <= MOST_CLASSES:
                return "classification", target
    return "regression", read_target(y, task="regression", estimator_name=owner, n_rows=n_rows)
