"""Learners that watch: which rows they are given, how many threads, and when they fail."""

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class RowSpy(RegressorMixin, BaseEstimator):
    """Its table holds row numbers. It says of a row 1 if it was fitted to it, else 0; so its honest score is 0."""

    def __init__(self, seen: Any = None) -> None:
        self.seen = seen

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "RowSpy":
        self.rows_ = set(np.asarray(X)[:, 0].astype(int).tolist())
        self.weight_ = sample_weight
        self.n_features_in_ = np.asarray(X).shape[1]
        return self

    def predict(self, X: Any) -> Any:
        return np.array([float(row in self.rows_) for row in np.asarray(X)[:, 0].astype(int).tolist()])


class Memoriser(ClassifierMixin, BaseEstimator):
    """Knows its rows by heart and guesses the first class for all others."""

    def fit(self, X: Any, y: Any) -> "Memoriser":
        self.classes_ = np.unique(y)
        self.known_ = {row.tobytes(): label for row, label in zip(np.ascontiguousarray(X), y, strict=True)}
        return self

    def predict(self, X: Any) -> Any:
        return np.array([self.known_.get(row.tobytes(), self.classes_[0]) for row in np.ascontiguousarray(X)])

    def predict_proba(self, X: Any) -> Any:
        return (self.predict(X)[:, None] == self.classes_).astype(float)


class Failing(ClassifierMixin, BaseEstimator):
    """Fails if it is given few rows, or always."""

    def __init__(self, below: float = np.inf) -> None:
        self.below = below

    def fit(self, X: Any, y: Any) -> "Failing":
        if len(y) < self.below:
            raise RuntimeError(f"{len(y)} rows are not enough")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X: Any) -> Any:
        return np.tile(np.eye(len(self.classes_))[0], (len(X), 1))


class ThreadCounter(RegressorMixin, BaseEstimator):
    """Remembers the `n_jobs` that it was fitted with, and the threads that BLAS had."""

    def __init__(self, n_jobs: int | None = None, random_state: Any = None) -> None:
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "ThreadCounter":
        from threadpoolctl import threadpool_info

        self.n_jobs_ = self.n_jobs
        self.seed_ = self.random_state
        self.blas_ = max(
            (pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1
        )
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), float(self.seed_ or 0))


class Killed(RegressorMixin, BaseEstimator):
    """Ends the process that it is fitted in, as a system without memory would, but not the process of the test."""

    def __init__(self, pid: int = 0) -> None:
        self.pid = pid

    def fit(self, X: Any, y: Any) -> "Killed":
        if os.getpid() != self.pid:
            os._exit(9)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


class Interrupted(RegressorMixin, BaseEstimator):
    """As if the user had pressed Ctrl-C during its fit."""

    def fit(self, X: Any, y: Any) -> "Interrupted":
        raise KeyboardInterrupt

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))
