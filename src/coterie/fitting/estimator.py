"""What every estimator of coterie is: parameters that are stored and checked, and one life of a fit.

The life of a fit is `Estimator._fitting`; a `FitRun` is one fit on its way, and a `FitSignature` what it was about.
"""

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from coterie import _engine
from coterie._params import Params, check_params, resolve_n_jobs, root_seed
from coterie._reported import report_model
from coterie._storage import SET_BY_SKLEARN, Fitted, storable
from coterie._typing import AnyArray
from coterie._value_types import ANY, COUNT, TEXT, dict_of
from coterie.data.prepare import TrainingData
from coterie.fitting.checkpoint_writer import CheckpointWriter, check_resume, open_checkpoint
from coterie.fitting.fingerprint import fit_fingerprint
from coterie.fitting.fitted_facts import facts_html
from coterie.fitting.monitor import FitEvent, Step, active_monitors, emit
from coterie.fitting.sklearn_callbacks import (
    CallbackSupport,
    StepCallbacks,
    callbacks_of_members,
    managed_callbacks,
    watching_members,
)

# With another value the known trees would not be the first trees of the longer fit, or would predict something else.
_SETTLED = (
    "loss",
    "quantile",
    "n_folds",
    "growth",
    "init",
    "target_statistics",
    "early_stopping",
    "validation_fraction",
    "holdout",
)
_ROWS_COMPARED = 250


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
    def _fitting(self, X: Any, y: Any, *, resume: bool = False) -> Iterator["FitRun"]:
        """What every fit does before, around and after its training."""
        check_params(self)
        self._check_parameters()
        if resume is not False or getattr(self, "checkpoint", None) is not None:
            check_resume(self, resume)
        n_threads = self._n_threads()
        with ExitStack() as stack:
            previous = self._previous_fit() if getattr(self, "warm_start", False) else None
            keeps_last = previous is not None or self._has_members
            stack.enter_context(_rolled_back_on_error(self) if keeps_last else _forgotten_on_error(self))
            if previous is None:
                forget(self)
            stack.enter_context(managed_callbacks(self))
            if self._has_members and (getattr(self, "_skl_callbacks", None) or callbacks_of_members()):
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

    def _repr_html_inner(self) -> str:
        """What was learned, above scikit-learn's diagram."""
        return facts_html(self) + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._takes_any_table:
            set_any_table(tags)
        return tags


def set_any_table(tags: Any) -> None:
    """Sparse matrices, missing values, categories and text are welcome."""
    for name in ("sparse", "allow_nan", "categorical", "string"):
        setattr(tags.input_tags, name, True)


def forget(estimator: Any, names: Iterable[str] | None = None) -> None:
    """Remove what the last fit left behind, or some of it: attributes of `FITTED`, and those scikit-learn sets."""
    held = vars(estimator)
    for name in (*type(estimator).FITTED, *SET_BY_SKLEARN) if names is None else names:
        held.pop(name, None)


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


class FitRun:
    """What a family's training has from the common life of a fit (`Estimator._fitting`).

    Attributes
    ----------
    owner : the name of the estimator's class
    previous : what the last fit left behind, if this one continues it
    n_threads : how many threads the fit may use
    seed : of everything that is drawn; that of the fit that is continued or resumed
    checkpoint : where steps are written while the fit goes on, or None
    """

    def __init__(
        self, estimator: Any, X: Any, y: Any, *, previous: Any, resume: bool, n_threads: int
    ) -> None:
        self.owner = type(estimator).__name__
        self.previous = previous
        self.n_threads = n_threads
        self.checkpoint: CheckpointWriter | None = None
        self._estimator, self._X, self._y = estimator, X, y
        self._resume = resume
        self._callbacks: StepCallbacks | None = None
        self._total: int | None = None
        self._begun = time.monotonic()
        self.measures: Callable[[], Mapping[str, float]] = dict  # what is known of the quality after a step

    @cached_property
    def seed(self) -> int:
        if self.previous is not None:
            return int(self.previous.signature.seed)
        return root_seed(getattr(self._estimator, "random_state", None))

    def open_checkpoint(
        self,
        data_fingerprint: Callable[[], Mapping[str, str]],
        *,
        learner: Any = None,
        every: int | None = None,
    ) -> CheckpointWriter | None:
        """Open the folder of `checkpoint=`, if there is one, and learn what an interrupted fit has written.

        Parameters
        ----------
        data_fingerprint : digests of all that the fit learns from, by name; called only if there is a checkpoint
        learner : what members are copies of, to find out now whether they can be stored
        every : how often to write if the user gave a path only
        """
        if self._estimator.checkpoint is None:
            return None
        about = fit_fingerprint(self._estimator) | dict(data_fingerprint())
        self.checkpoint = open_checkpoint(
            self._estimator, about, self.seed, resume=self._resume, learner=learner, every=every
        )
        self.seed = self.checkpoint.seed
        return self.checkpoint

    def begin_steps(self, max_steps: int | None) -> None:
        """Tell callbacks that rounds or trees begin, so many at most."""
        self._total = max_steps
        if getattr(self._estimator, "_skl_callbacks", None):
            self._callbacks = StepCallbacks(self._estimator, self._X, self._y, max_steps)

    @property
    def is_watched(self) -> bool:
        """Whether anybody receives the steps of this fit."""
        return self._callbacks is not None or bool(active_monitors())

    def publish_measures(self, measures: Callable[[], Mapping[str, float]]) -> None:
        """Let every step that is sent from now on carry what is known of the quality after it."""
        self.measures = measures

    def emit(
        self,
        step: Step,
        done: int,
        *,
        measures: Mapping[str, float] | None = None,
        fitted: Callable[[], dict[str, Any]] | None = None,
    ) -> bool:
        """Send a step to callbacks and monitors; True if one of them requests a stop.

        `fitted` makes the fitted attributes of a model of the steps so far.
        """
        known = self.measures() if measures is None else measures
        note = self._time_left(done) if step == "round" and active_monitors() else None
        event = FitEvent(self.owner, step, done, self._total, measures=known, note=note, fitted=fitted)
        wishes = [self._callbacks is not None and self._callbacks(event), emit(event)]
        return True in wishes

    def _time_left(self, done: int) -> str | None:
        if self._total is None or done >= self._total:
            return None
        return f"at most {math.ceil(self.elapsed * (self._total - done) / done)} s left"

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return time.monotonic() - self._begun

    def end(self) -> None:
        """Tell callbacks that the fit is done."""
        if self._callbacks is not None:
            self._callbacks.end()


@storable("Trace", {"seed": COUNT, "settled": dict_of(TEXT, ANY), "digests": dict_of(TEXT, TEXT)})
@dataclass(frozen=True)
class FitSignature:
    """What a fit was about: its seed, the parameters that its continuation must share, and digests of its data."""

    seed: int
    settled: dict[str, Any]
    digests: dict[str, str]


def signature_of(
    estimator: Any,
    train: TrainingData,
    seed: int,
    *,
    offset: AnyArray | None = None,
    groups: AnyArray | None = None,
    has_eval_set: bool = False,
) -> FitSignature:
    """The trace of a fit; of X only some rows are looked at."""
    encoded = train.encoded
    step = max(1, encoded.n_rows // _ROWS_COMPARED)
    columns = encoded.values if isinstance(encoded.values, list) else [encoded.values]
    digests = {
        "X": _digest(*(column[::step] for column in columns)) + f" {encoded.n_rows}",
        "y": _digest(train.target.values),
        "sample_weight or class_weight": _digest(train.weight),
        "offset": _digest(offset),
        "groups": _digest(groups),
        "eval_set, which was given once only": str(has_eval_set),
    }
    settled = {name: getattr(estimator, name) for name in _SETTLED if hasattr(estimator, name)}
    return FitSignature(seed, settled, digests)


def _digest(*arrays: AnyArray | None) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        if array is not None:
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
