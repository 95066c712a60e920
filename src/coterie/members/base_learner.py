"""The learner that an ensemble is made of: copied, seeded, and fitted to rows that count more or less.

A learner that takes weights is given them. One that takes none is given a *bag* instead: as many rows as there are,
drawn with replacement, each as likely as its weight says.

Models that others wrote are called so that their errors come back as ours.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils import Tags, get_tags

from coterie._params import EstimatorLike, in_short
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.parts import check_columns, flat_rows, rows_of
from coterie.data.prepare import read_table
from coterie.errors import CoterieError, InvalidInput
from coterie.members.weight_parameter import weight_parameter
from coterie.trees import DecisionTreeRegressor


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


@dataclass(frozen=True)
class NewTable:
    """A table to predict, as the user gave it; `names_differ` if one of it and fit's has column names, not both."""

    X: Any
    n_rows: int
    names_differ: bool


def new_table(estimator: Any, X: Any) -> NewTable:
    """Compare a table with the one that the estimator was fitted to; members see it as it is."""
    if sparse.issparse(X):
        n_rows = check_columns(estimator.schema_, X, type(estimator).__name__)
        return NewTable(X, n_rows, estimator.schema_.names is not None)
    table = estimator.schema_.check(read_table(flat_rows(X)), type(estimator).__name__)
    return NewTable(X, table.n_rows, (table.names is None) != (estimator.schema_.names is None))


@dataclass(frozen=True)
class BaseLearner:
    """A model before it has seen data.

    Attributes
    ----------
    model : any model with `fit` and `predict`
    n_jobs : threads for copies that have such a parameter and leave it at None
    always_draw : give bags also to a learner that takes weights
    """

    model: Any
    n_jobs: int | None = None
    always_draw: bool = False

    @property
    def is_classifier(self) -> bool:
        return bool(is_classifier(self.model))

    def fitted(self, X: Any, y: AnyArray, weight: FloatArray | None, seed: int) -> Any:
        """A copy fitted to the rows, each as often as its weight says."""
        of_copy, of_bag = np.random.SeedSequence(seed).spawn(2)
        given: dict[str, Any] = {}
        if weight is not None:
            name = None if self.always_draw else weight_parameter(self.model)
            if name is None:
                rows = drawn_rows(weight, of_bag)
                X, y = rows_of(X, rows), y[rows]
            else:
                given = {name: weight}
        if self.is_classifier and (y == y[0]).all():  # not every classifier can learn a single class
            return DummyClassifier().fit(X, y)
        copy = self._copy(of_copy)
        call_user_model("estimator", self.model, "be fitted to the rows", lambda: copy.fit(X, y, **given))
        return copy

    @cached_property
    def _params(self) -> dict[str, Any]:
        return dict(self.model.get_params())

    def _copy(self, seed: np.random.SeedSequence) -> Any:
        names = sorted(name for name in self._params if name.split("__")[-1] == "random_state")
        seeds = seed.generate_state(len(names))
        chosen = {name: int(own) for name, own in zip(names, seeds, strict=True)}
        if self.n_jobs is not None and self._params.get("n_jobs", 1) is None:
            chosen["n_jobs"] = self.n_jobs
        copy = clone(self.model)
        return copy.set_params(**chosen) if chosen else copy

    def predict_new(self, table: NewTable, member: Any) -> FloatArray:
        """The predictions of a member for the rows of a new table."""
        if not table.names_differ:
            return self.predict(member, table.X, table.n_rows)
        with warnings.catch_warnings():  # the ensemble has warned already, in its own name
            warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
            return self.predict(member, table.X, table.n_rows)

    def predict(self, member: Any, X: Any, n_rows: int) -> FloatArray:
        """The predictions of a member, as numbers."""
        given = call_user_model("estimator", self.model, "predict", lambda: member.predict(X))
        numbers = finite_floats("estimator", self.model, "predict", given)
        if numbers.shape not in ((n_rows,), (n_rows, 1)):
            allowed = f"({n_rows},), one number for each row"
            raise InvalidInput.expecting(
                f"predict of estimator={in_short(self.model)} has the shape {numbers.shape}",
                allowed,
                "estimator",
                numbers.shape,
            )
        return numbers.reshape(n_rows)


def default_learner() -> DecisionTreeRegressor:
    """A shallow tree, which takes any table.

    A leaf keeps a millionth of the weight: where weights differ by many powers of ten, rows that hardly count would
    get leaves of their own, and a step that only they ask for would be long.
    """
    return DecisionTreeRegressor(max_depth=3, min_weight_fraction_leaf=1e-6)


def drawn_rows(weight: FloatArray, seed: np.random.SeedSequence) -> RowArray:
    """A bag: as many row numbers as there are rows, in order, drawn with replacement by weight.

    Examples
    --------
    >>> drawn_rows(np.array([0.0, 1.0, 0.0]), np.random.SeedSequence(0))
    array([1, 1, 1])
    """
    ends = np.cumsum(weight / weight.max())
    draws = np.sort(np.random.Generator(np.random.PCG64(seed)).random(len(weight))) * ends[-1]
    # A draw can round up to the very end, which belongs to the last row that has weight.
    return np.asarray(np.minimum(np.searchsorted(ends, draws, side="right"), np.flatnonzero(weight)[-1]))


def mean_importances(members: list[Any], weights: FloatArray, n_features: int) -> FloatArray:
    """The weighted mean of the importances of members; sums to 1, or to 0 if nothing is.

    Members that are constant have none: the model that stands in where a bag holds a single class.
    """
    known = [getattr(member, "feature_importances_", np.zeros(n_features)) for member in members]
    if not len(members) or not weights.any():
        return np.zeros(n_features)
    total = (weights / weights.max()) @ np.asarray(known)
    return np.asarray(total / total.sum() if total.sum() > 0 else total)


def tags_of_learner(tags: Tags, learner: Any) -> Tags:
    """Tags of an ensemble that takes the tables that its learner takes."""
    if EstimatorLike().accepts(learner):
        inner = get_tags(learner).input_tags
        for name in ("sparse", "allow_nan", "categorical", "string", "positive_only"):
            setattr(tags.input_tags, name, getattr(inner, name))
    return tags
