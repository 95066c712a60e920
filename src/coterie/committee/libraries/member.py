"""A model of another library as a member: any table in, and the library's own bytes as all that is kept."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from coterie._params import resolve_n_jobs, root_seed
from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import AnyArray, FloatArray, RowArray, SeedLike, Task
from coterie._value_types import LABELS, RECOMPUTED, array, instance
from coterie.committee.libraries.adapters import ADAPTERS, LibraryTask, WeightedRows, library_module
from coterie.committee.numeric_pipeline import DesignMatrix
from coterie.data.prepare import read_table
from coterie.fitting.estimator import forget, set_any_table

LIBRARIES = tuple(ADAPTERS)
_HELD_OUT = 0.1  # of the rows, to find out when to stop


def _verify(model: Any) -> None:
    expect(getattr(model, "library", None) in ADAPTERS, "is of a library that is not known")


class _LibraryMember(BaseEstimator):
    """Boosting of another library on the design matrix of a table."""

    FITTED: ClassVar[Fitted] = {
        "content_": array("u", 1),
        "matrix_": instance(DesignMatrix),
        "_model": RECOMPUTED,
    }

    def __init__(self, library: str, n_jobs: int | None = None, random_state: SeedLike = None) -> None:
        self.library = library
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        forget(self)
        table = read_table(X)
        target = self._target(np.asarray(y))
        weight = np.ones(table.n_rows) if sample_weight is None else np.asarray(sample_weight, np.float64)
        seed = root_seed(self.random_state)
        n_classes = 0 if not hasattr(self, "classes_") else len(self.classes_)
        n_threads = 0 if self.n_jobs is None else resolve_n_jobs(self.n_jobs)
        self.matrix_ = DesignMatrix().fit(table, weight)
        matrix = self.matrix_.transform(table)
        learn, stop = (
            WeightedRows(matrix[rows], target[rows], weight[rows])
            for rows in _two_parts(weight, target, groups, n_classes, seed)
        )
        task = LibraryTask(n_classes, seed % 2**31, n_threads)
        content = ADAPTERS[self.library].fit(learn, stop, task)
        self.content_ = np.frombuffer(content, dtype=np.uint8)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_model"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_any_table(tags)
        return tags

    def _target(self, y: AnyArray) -> FloatArray:
        return np.asarray(y, dtype=np.float64)

    def _predicted(self, X: Any) -> FloatArray:
        """Numbers, or probabilities, as the library returns them."""
        check_is_fitted(self, "content_")
        adapter = ADAPTERS[self.library]
        if "_model" not in vars(self):  # a copy, or a model from a file, has the bytes alone
            self._model = adapter.load(self.content_.tobytes())
        matrix = self.matrix_.transform(read_table(X), type(self).__name__)
        return adapter.predict(self._model, matrix, hasattr(self, "classes_"))


@storable_estimator("committee.LibraryClassifier", verify=_verify)
class LibraryClassifier(ClassifierMixin, _LibraryMember):
    """A classifier of another library."""

    FITTED: ClassVar[Fitted] = {**_LibraryMember.FITTED, "classes_": LABELS}

    def predict_proba(self, X: Any) -> FloatArray:
        found = np.asarray(self._predicted(X), dtype=np.float64)
        return np.column_stack([1.0 - found, found]) if found.ndim == 1 else found

    def predict(self, X: Any) -> AnyArray:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def _target(self, y: AnyArray) -> FloatArray:
        self.classes_, codes = np.unique(y, return_inverse=True)
        return np.asarray(codes, dtype=np.float64)


@storable_estimator("committee.LibraryRegressor", verify=_verify)
class LibraryRegressor(RegressorMixin, _LibraryMember):
    """A regressor of another library."""

    def predict(self, X: Any) -> FloatArray:
        return np.asarray(self._predicted(X), dtype=np.float64)


def library_member(library: str, task: Task) -> Any:
    """The learner that a name in a portfolio stands for; an error at once if the library is not installed."""
    library_module(library)
    return LibraryClassifier(library) if task == "classification" else LibraryRegressor(library)


def _two_parts(
    weight: FloatArray, target: FloatArray, groups: Any, n_classes: int, seed: int
) -> tuple[RowArray, RowArray]:
    """WeightedRows to learn from and a tenth to stop by, drawn by groups; a row of every class is learned from."""
    codes = np.arange(len(weight)) if groups is None else np.unique(groups, return_inverse=True)[1]
    place = np.random.default_rng(seed).permutation(int(codes.max()) + 1)[codes]
    held_out = (place < max(1, round(_HELD_OUT * (place.max() + 1)))) & (weight > 0)
    if n_classes:
        missing = np.setdiff1d(np.arange(n_classes), target[~held_out & (weight > 0)])
        held_out &= ~np.isin(target, missing)
    learn = ~held_out & (weight > 0)
    if not held_out.any() or not learn.any():
        every = np.flatnonzero(weight > 0)
        return every, every
    return np.flatnonzero(learn), np.flatnonzero(held_out)
