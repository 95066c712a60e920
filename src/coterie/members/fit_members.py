"""Fitting many learners to many parts of a table: one queue, one budget of threads.

Words
  task     one learner, the rows it is fitted to, and those that it predicts afterwards
  budget   the threads that all tasks together may use: `n_jobs` of the ensemble
  outcome  the fitted learner and its predictions, or the error that it ended with

With a budget the tasks run side by side, and the threads of each member are limited to its share: its own `n_jobs` is
lowered for the time of its fit, and so are BLAS and OpenMP. Learners of ours that have threads of their own take turns
and use all of it. Without one (`n_jobs=None`) members are fitted one after the other, each with the threads it likes.
joblib's back-ends are the user's choice by `joblib.parallel_config`. Seeds belong to tasks, so neither the order in
which they run nor their number changes a prediction.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from joblib import effective_n_jobs
from joblib.externals.loky.process_executor import BrokenProcessPool
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from coterie._params import spawn_seeds
from coterie._storage import storable
from coterie._typing import AnyArray, RowArray
from coterie._value_types import MODEL, NONE, TEXT, instance
from coterie.data.parts import Columns, rows_of
from coterie.errors import InvalidInput
from coterie.fitting.monitor import FitEvent, active_monitors, emit, printed_progress
from coterie.fitting.sklearn_callbacks import MemberCallbacks, callbacks_of_members

_Result = TypeVar("_Result")
_MOST_THREADS = 4096


@storable("Member", {"name": TEXT, "estimator": MODEL | NONE, "columns": instance(Columns) | NONE})
@dataclass(frozen=True)
class Member:
    """A learner by name, and the columns it sees; None: all of them."""

    name: str
    estimator: Any
    columns: Columns | None = None

    def part_of(self, X: Any) -> Any:
        return X if self.columns is None else self.columns.of(X)


@dataclass(frozen=True)
class FitTask:
    """Fit a member to some rows; then, perhaps, predict it about others.

    Attributes
    ----------
    rows : row numbers, or None for all
    predict_rows : row numbers that `predict` is called with, or None
    params : what `fit` is given by name; values with an entry for each row are cut to the rows
    keeps_model : whether the outcome holds the fitted learner
    seed : given to the learner where its own random_state is None; None leaves it so
    note : what belongs to the event when it is done, such as which fold it was
    """

    member: Member
    y: AnyArray
    rows: RowArray | None = None
    predict_rows: RowArray | None = None
    params: dict[str, Any] = field(default_factory=dict)
    keeps_model: bool = True
    seed: int | None = None
    note: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a task, and how long it took."""

    model: Any = None
    predictions: Any = None
    error: Exception | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class MemberProgress:
    """Whose members are fitted, and how many in all, if that is known; `verbose` prints a line for each."""

    owner: str
    total: int | None
    verbose: object = False
    n_before: int = 0

    def printed(self) -> AbstractContextManager[None]:
        """Print the events inside the block, if `verbose` says so."""
        return printed_progress(self.verbose, self.owner, "member")

    def events_of(self, tasks: Sequence[FitTask]) -> Callable[[Outcome], None]:
        """A function that is called with the outcome of one task after the other and emits an event for each."""
        left = enumerate(tasks, start=self.n_before + 1)

        def emit_next(outcome: Outcome) -> None:
            done, task = next(left)
            note = task.note if outcome.error is None else "failed"
            emit(
                FitEvent(self.owner, "member", done, self.total, task.member.name, outcome.seconds, note=note)
            )

        return emit_next


@dataclass(frozen=True)
class Budget:
    """How many tasks run at once, and the threads of each; None: as many as the member likes."""

    workers: int
    threads_each: int | None

    @classmethod
    def of(cls, n_jobs: int | None, n_tasks: int) -> "Budget":
        """Share out `n_jobs` threads among the tasks.

        Examples
        --------
        >>> Budget.of(8, 3), Budget.of(None, 3)
        (Budget(workers=3, threads_each=2), Budget(workers=1, threads_each=None))
        """
        wanted = None if n_jobs is None else max(-_MOST_THREADS, min(int(n_jobs), _MOST_THREADS))
        total = int(effective_n_jobs(wanted))
        if n_jobs is None and total == 1:
            return cls(1, None)
        workers = max(1, min(total, n_tasks))
        return cls(workers, max(1, total // workers))


def fit_all(
    tasks: Sequence[FitTask],
    X: Any,
    *,
    n_jobs: int | None,
    on_error: str,
    predict: Callable[[Member, Any, Any], Any] | None = None,
    progress: MemberProgress | None = None,
) -> list[Outcome]:
    """Run all tasks; outcomes are in the order of the tasks. `progress` says whose members they are, for events.

    `predict(member, model, X)` is called with the rows that a task predicts. With on_error="raise" the first error
    that a task ends with is raised, with a note that says which member it was. If a process dies, that is an error of
    the member that it was fitting; to find out which, all are fitted again, one by one.
    """
    budget = Budget.of(n_jobs, len(tasks))
    if (
        budget.workers > 1
        and all(_shares_work(task.member.estimator) for task in tasks)
        and not _has_backend()
    ):
        budget = Budget.of(n_jobs, 1)
    callbacks = callbacks_of_members()
    calls = [
        (
            _outcome,
            (
                task,
                X,
                predict,
                budget.threads_each,
                on_error,
                None if callbacks is None else callbacks.of_member(task.member.name),
            ),
        )
        for task in tasks
    ]
    try:
        with nullcontext() if progress is None else progress.printed():
            # Monitors do not reach into other threads and processes: events are emitted here, as outcomes come back.
            emits = progress is not None and active_monitors()
            return _run(calls, budget, progress.events_of(tasks) if progress and emits else None)
    except BrokenProcessPool:
        if on_error == "raise":
            raise
    return [_alone(call, budget) for call in calls]


def _alone(call: tuple[Callable[..., Outcome], tuple[Any, ...]], budget: Budget) -> Outcome:
    """A task in a process with no other, so that only its own member is lost with it."""
    try:
        return _run([call], budget)[0]
    except BrokenProcessPool as error:
        return Outcome(error=error)


def in_parallel(
    function: Callable[..., _Result], arguments: Sequence[tuple[Any, ...]], *, n_jobs: int | None
) -> list[_Result]:
    """Call a function several times, side by side in threads: for members that are here already, as in `predict`."""
    budget = Budget.of(n_jobs, len(arguments))
    if budget.workers == 1:
        return [function(*each) for each in arguments]
    return _run([(function, each) for each in arguments], budget, require="sharedmem")


def _run(
    calls: list[tuple[Callable[..., _Result], tuple[Any, ...]]],
    budget: Budget,
    after_each: Callable[[_Result], None] | None = None,
    **hints: Any,
) -> list[_Result]:
    with ExitStack() as stack:
        if budget.threads_each is not None:
            # BLAS has one limit for the whole process: it is set here, once, and not by workers that would undo each
            # other's limits.
            stack.enter_context(_limit(budget.threads_each))
        if budget.workers == 1:
            return _collected((function(*arguments) for function, arguments in calls), after_each)
        if after_each is not None and get_active_backend()[0].supports_return_generator:
            hints["return_as"] = "generator"  # results one by one, as they come back
        try:
            results = Parallel(n_jobs=budget.workers, **hints)(
                delayed(function)(*arguments) for function, arguments in calls
            )
            return _collected(results, after_each)
        except BrokenProcessPool as error:
            error.add_note(
                "A worker process that fitted members was terminated; the system may have run out of memory. Nothing "
                "was learned. Fewer n_jobs need less memory; joblib.parallel_config('threading') needs no processes."
            )
            raise


def _collected(results: Iterable[_Result], after_each: Callable[[_Result], None] | None) -> list[_Result]:
    collected = []
    for result in results:
        collected.append(result)
        if after_each is not None:
            after_each(result)
    return collected


def _limit(threads: int, *kinds: str) -> Any:
    """Lower the threads of BLAS and OpenMP, or of one of them; never raise them."""
    limits: dict[str, int] = {}
    for pool in _controller().info():
        kind = pool["user_api"]
        if not kinds or kind in kinds:
            limits[kind] = min(threads, limits.get(kind, threads), pool["num_threads"])
    return _controller().limit(limits=limits)


@cache
def _controller() -> Any:
    return ThreadpoolController()


def _shares_work(estimator: Any) -> bool:
    """Whether it is one of our learners that share their work among threads.

    These are fitted one after the other, each with the whole budget: nothing is copied to other processes, and a fit
    can be interrupted at any time.
    """
    return type(estimator).__module__.startswith("coterie.") and "n_jobs" in estimator.get_params(deep=False)


def _has_backend() -> bool:
    """Whether the user has chosen a back-end of joblib: then a wish for threads or processes changes nothing.

    Inside a worker joblib has chosen, and not the user.
    """
    threads, processes = (get_active_backend(prefer=wish)[0] for wish in ("threads", "processes"))
    return type(threads) is type(processes) and not threads.nesting_level


def _outcome(
    task: FitTask, X: Any, predict: Any, threads: int | None, on_error: str, callbacks: MemberCallbacks | None
) -> Outcome:
    try:
        return _done(task, X, predict, threads, callbacks)
    except Exception as error:
        error.add_note(f"This happened while the member {task.member.name!r} was fitted or predicted.")
        if on_error == "raise":
            raise
        return Outcome(error=error)


def _done(
    task: FitTask, X: Any, predict: Any, threads: int | None, callbacks: MemberCallbacks | None
) -> Outcome:
    begun = time.perf_counter()
    member, rows = task.member, task.rows
    table = X if rows is None else rows_of(X, rows)
    y = task.y if rows is None else task.y[rows]
    params = task.params if rows is None else _cut(task.params, rows, len(task.y))
    model = clone(member.estimator)
    if not isinstance(model, FrozenEstimator):
        if task.seed is not None:
            set_seeds(model, task.seed)
        part = member.part_of(table)
        with (
            _limit_threads(model, threads),
            nullcontext() if callbacks is None else callbacks.over(model, part, y),
        ):
            model.fit(part, y, **params)
    predictions = None
    if task.predict_rows is not None and predict is not None:
        predictions = predict(member, model, rows_of(X, task.predict_rows))
    return Outcome(model if task.keeps_model else None, predictions, seconds=time.perf_counter() - begun)


def _cut(params: dict[str, Any], rows: RowArray, n_rows: int) -> dict[str, Any]:
    def has_rows(value: Any) -> bool:
        return (
            hasattr(value, "__len__") and not isinstance(value, str | bytes | dict) and len(value) == n_rows
        )

    return {name: rows_of(value, rows) if has_rows(value) else value for name, value in params.items()}


def set_seeds(model: Any, seed: int) -> None:
    """Fill in every random_state that is None, in the order of their names."""
    empty = sorted(
        name
        for name, value in model.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    )
    seeds = spawn_seeds(seed, len(empty)) >> 32
    if empty:
        model.set_params(**{name: int(own) for name, own in zip(empty, seeds, strict=True)})


@contextmanager
def _limit_threads(model: Any, threads: int | None) -> Iterator[None]:
    """Lower the model's own `n_jobs`, wherever it has one, to its share; afterwards it has what the user gave."""
    if threads is None:
        yield
        return
    params = {**model.get_params(deep=True), "": model}
    before = {
        name: value
        for name, value in params.items()
        if (name == "n_jobs" or name.endswith("__n_jobs"))
        and _may_exceed(threads, value, params.get(name.removesuffix("n_jobs").removesuffix("__")))
    }
    if before:
        model.set_params(**dict.fromkeys(before, threads))
    try:
        with _limit(threads, "openmp"):  # a limit of this thread alone
            yield
    finally:
        if before:
            model.set_params(**before)


def _may_exceed(threads: int, n_jobs: Any, owner: Any) -> bool:
    """Whether `n_jobs` of an estimator allows more than its share; None of scikit-learn's own is one thread."""
    if n_jobs is None:
        return not type(owner).__module__.startswith("sklearn.")
    return isinstance(n_jobs, int) and (n_jobs < 0 or n_jobs > threads)


def dropped_members(names: Sequence[str], errors: dict[str, Exception], owner: str) -> dict[str, str]:
    """Say which members were dropped and why; an error if none is left."""
    dropped = {name: f"{type(error).__name__}: {error}" for name, error in errors.items()}
    if dropped and len(dropped) == len(names):
        listed = "; ".join(f"{name!r}: {why}" for name, why in dropped.items())
        raise InvalidInput(
            f"{owner}: every member failed, so nothing was learned. {listed}",
            received=dropped,
            allowed="at least one member that can be fitted",
        )
    if dropped:
        listed = "; ".join(f"{name!r} ({why})" for name, why in dropped.items())
        warnings.warn(f"{owner} goes on without the members that failed: {listed}", UserWarning, stacklevel=4)
    return dropped
