"""What every estimator of coterie is: parameters that are stored and checked, and one life of a fit."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from coterie import _engine
from coterie._params import Params, check_params, resolve_n_jobs
from coterie._reported import report_model
from coterie._storage import Fitted
from coterie.data.any_table import set_any_table
from coterie.fitting.checkpoint_writer import check_resume
from coterie.fitting.fit_run import FitRun
from coterie.fitting.fitted_state import forget
from coterie.fitting.sklearn_callbacks import CallbackSupport, managed_callbacks, watching_members

__all__ = ["Estimator"]


class Estimator(CallbackSupport, BaseEstimator):
    """The base of all estimators.

    A subclass lists what its parameters may be in `PARAMS` and what a fit leaves behind in `FITTED`, and trains inside
    `_fitting`:

        def fit(self, X, y):
            with self._fitting(X, y) as run:
                data = ...                  # prepare: read and check the table, the target and the weights
                plan = ...                  # plan: resolve what is left to us
                run.open_checkpoint(...)    # if the fit is to be resumable
                trained = train(data, plan) # train: plain functions that do not know the estimator
                ...                         # conclude: set the fitted attributes
            return self

    A fit forgets the one before it. If it fails, the estimator is unfitted, unless the fit continues the last one
    (`warm_start=True`) or is one of other models: then the estimator is as it was. Trees and forests are not kept
    for that while the next ones grow, because they may be large.
    """

    PARAMS: ClassVar[Params] = {}
    FITTED: ClassVar[Fitted] = {}
    _takes_any_table: ClassVar[bool] = False  # sparse matrices, missing values, categories and text
    _has_members: ClassVar[bool] = False  # that are fitted as models of their own

    report = report_model

    def _store(self, given: Mapping[str, Any]) -> None:
        """Keep the arguments of a constructor."""
        for name in self.PARAMS:
            setattr(self, name, given[name])

    @contextmanager
    def _fitting(self, X: Any, y: Any, *, resume: bool = False) -> Iterator[FitRun]:
        """What every fit does before, around and after its training."""
        check_params(self)
        self._check_parameters()
        if "checkpoint" in self.PARAMS:
            check_resume(self, resume)
        n_threads = self._n_threads()
        with ExitStack() as stack:
            previous = self._previous_fit() if getattr(self, "warm_start", False) else None
            keeps_last = previous is not None or self._has_members
            stack.enter_context(_rolled_back_on_error(self) if keeps_last else _forgotten_on_error(self))
            if previous is None:
                forget(self)
            stack.enter_context(managed_callbacks(self))
            if self._has_members:
                stack.enter_context(watching_members(self, X, y))
            run = FitRun(self, X, y, previous=previous, resume=bool(resume), n_threads=n_threads)
            yield run
            run.end()

    def _check_parameters(self) -> None:
        """Refuse parameters that contradict each other; nothing to refuse by default."""

    def _previous_fit(self) -> Any:
        """What the last fit left behind, for one that continues it; None if there was none."""
        return None

    def _n_threads(self) -> int:
        """The threads that this estimator may use."""
        return _engine.usable_threads(resolve_n_jobs(getattr(self, "n_jobs", None)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._takes_any_table:
            set_any_table(tags)
        return tags


@contextmanager
def _forgotten_on_error(estimator: Estimator) -> Iterator[None]:
    try:
        yield
    except BaseException:
        forget(estimator)
        raise


@contextmanager
def _rolled_back_on_error(estimator: Estimator) -> Iterator[None]:
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
