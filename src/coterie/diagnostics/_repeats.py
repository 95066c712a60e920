"""Fitting one estimator again and again, each time to other rows and with a seed of its own."""

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from coterie._params import unexpected
from coterie._typing import AnyArray, RowArray, Task
from coterie.data.parts import table_shape
from coterie.data.target import read_target
from coterie.members.fit_members import set_seeds


def fitted_copy(estimator: Any, X: Any, y: AnyArray, seed: int) -> Any:
    """A copy that is fitted; every random_state that is None is given a seed."""
    model = clone(estimator)
    set_seeds(model, seed)
    return model.fit(X, y)


def bootstrap_rows(n_rows: int, seed: int) -> RowArray:
    """As many rows as there are, drawn with replacement."""
    return np.random.default_rng(seed).integers(n_rows, size=n_rows)


def task_of(estimator: Any) -> Task:
    """Whether it predicts classes or numbers."""
    if isinstance(estimator, type) or not (is_classifier(estimator) or is_regressor(estimator)):
        raise unexpected("estimator", estimator, "a classifier or a regressor")
    return "classification" if is_classifier(estimator) else "regression"


def labels_of(X: Any, y: Any, task: Task, name: str) -> AnyArray:
    """The target as one array: labels as they are, or numbers; as long as the table."""
    target = read_target(y, task=task, estimator_name=name, n_rows=table_shape(X).n_rows)
    if task == "regression":
        return np.asarray(target.values, dtype=np.float64)
    return np.asarray(np.asarray(target.classes)[target.values])
