"""Columns of classes in one order, whatever order, and however many of them, a model knows."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray


def columns_by_class(values: FloatArray, known: Any, classes: AnyArray, fill: Any = 0.0) -> FloatArray:
    """Columns in the order of `classes`, from columns in the order of `known`, which are some of them.

    A class that the model does not know is filled with a number, or with one for each row.

    Examples
    --------
    >>> columns_by_class(np.array([[0.75, 0.25]]), ["b", "a"], np.array(["a", "b", "c"]))
    array([[0.25, 0.75, 0.  ]])
    """
    ordered = np.empty((len(values), len(classes)))
    ordered[:] = fill
    ordered[:, np.searchsorted(classes, np.asarray(known))] = values
    return ordered
