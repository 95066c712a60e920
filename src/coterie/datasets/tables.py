"""The small real tables that come with scikit-learn, by name."""

from collections.abc import Callable
from typing import Any

import sklearn.datasets

from coterie._params import unexpected
from coterie._typing import AnyArray

_LOADERS: dict[str, Callable[..., Any]] = {
    "breast_cancer": sklearn.datasets.load_breast_cancer,
    "diabetes": sklearn.datasets.load_diabetes,
    "digits": sklearn.datasets.load_digits,
    "iris": sklearn.datasets.load_iris,
    "wine": sklearn.datasets.load_wine,
}


def load_table(name: str) -> tuple[dict[str, AnyArray], AnyArray]:
    """One of scikit-learn's tables as a dict of columns, and its target.

    Parameters
    ----------
    name : {"breast_cancer", "diabetes", "digits", "iris", "wine"}
        Diabetes has a numeric target; the targets of the others are class names.

    Examples
    --------
    >>> columns, y = load_table("iris")
    >>> list(columns)[0], str(y[0])
    ('sepal length (cm)', 'setosa')
    """
    if name not in _LOADERS:
        raise unexpected("name", name, f"one of {', '.join(map(repr, _LOADERS))}", owner="load_table")
    bunch = _LOADERS[name]()
    columns = {str(column): bunch.data[:, index].copy() for index, column in enumerate(bunch.feature_names)}
    if "target_names" not in bunch:
        return columns, bunch.target
    return columns, bunch.target_names[bunch.target]
