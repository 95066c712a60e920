"""The one channel between a fit and those who watch it: what has been done, and whether to stop.

A fit *emits* events: a round of boosting, some trees of a forest, a member of a committee. *Monitors* receive them, and
any of them may request a stop of the fit, which then ends with what it has: progress on a terminal, a deadline, a
callback of scikit-learn. Monitors are set for a block of code, and see every fit inside it, those of members included:

    with monitored(deadline):
        model.fit(X, y)
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Step: TypeAlias = Literal["round", "tree", "member", "model", "row"]


@dataclass(frozen=True)
class FitEvent:
    """A step of a fit that is done.

    Attributes
    ----------
    owner : the name of the class that is fitted, or of the function that is at work
    step : what was done: a round of boosting, a tree of a forest, a member of an ensemble, a model of a comparison, or
        rows of a scan that were read
    done : how many steps are done, this one included
    total : how many there will be at most, or None if that is not known
    name : of the member or model, if it has one
    seconds : what the step took, if that was measured
    measures : what is known of the quality so far, by name, such as {"out-of-bag error": 0.12}
    note : more about the step, in words
    fitted : a function that returns the fitted attributes of a model of the steps so far, if there is one
    """

    owner: str
    step: Step
    done: int
    total: int | None = None
    name: str | None = None
    seconds: float | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    note: str | None = None
    fitted: Callable[[], dict[str, Any]] | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        """A line for people.

        Examples
        --------
        >>> str(FitEvent("RandomForestClassifier", "tree", 20, 100, measures={"out-of-bag error": 0.125}))
        '20 of 100 trees, out-of-bag error 0.125'
        >>> str(FitEvent("CommitteeClassifier", "member", 2, name="forest", seconds=1.23))
        'forest, 1.2 s'
        """
        parts = [self.name or _counted(self.done, self.total, self.step)]
        parts += [] if self.seconds is None else [f"{self.seconds:.1f} s"]
        parts += [f"{name} {value:.6g}" for name, value in self.measures.items()]
        parts += [] if self.note is None else [self.note]
        return ", ".join(parts)


def _counted(done: int, total: int | None, step: str) -> str:
    return f"{step} {done}" if total is None else f"{done} of {total} {step}s"


Monitor: TypeAlias = Callable[[FitEvent], bool | None]

_MONITORS: ContextVar[tuple[Monitor, ...]] = ContextVar("monitors", default=())
active_monitors = _MONITORS.get  # if there are none, a fit may save itself the trouble of making events


@contextmanager
def monitored(*monitors: Monitor) -> Iterator[None]:
    """Let monitors receive the events of every fit inside the block, beside those that do already.

    Examples
    --------
    >>> seen = []
    >>> with monitored(lambda event: seen.append(event.done)):
    ...     emit(FitEvent("Model", "round", 1))
    False
    >>> seen
    [1]
    """
    token = _MONITORS.set((*_MONITORS.get(), *monitors))
    try:
        yield
    finally:
        _MONITORS.reset(token)


def emit(event: FitEvent) -> bool:
    """Send a step to all monitors; True if one of them requests a stop."""
    wishes = [monitor(event) for monitor in _MONITORS.get()]
    return True in wishes


@dataclass(frozen=True)
class EventPrinter:
    """A monitor that prints a line for every so many steps of one kind, and for the last of them.

    Attributes
    ----------
    owner : whose events are printed; those of models that are fitted inside are not
    step : what is counted
    every : how many steps there are for one line

    Examples
    --------
    >>> show = EventPrinter("VotingRegressor", "member")
    >>> show(FitEvent("VotingRegressor", "member", 1, 2, name="linear", seconds=0.1, note="all rows"))
    VotingRegressor: (1 of 2) linear, 0.1 s, all rows
    """

    owner: str
    step: Step
    every: int = 1

    def __call__(self, event: FitEvent) -> None:
        if (event.owner, event.step) != (self.owner, self.step):
            return
        if event.done % self.every == 0 or event.done == event.total:
            sys.stdout.write(f"{_line(event)}\n")


def print_kept_rounds(event: FitEvent, seconds: float) -> None:
    """The last line of a fit by rounds: how many are kept, and what is known of them.

    Examples
    --------
    >>> print_kept_rounds(FitEvent("GradientBoostingRegressor", "round", 45, measures={"eval_0 loss": 0.25}), 1.24)
    GradientBoostingRegressor: 45 rounds kept, eval_0 loss 0.25, 1.2 s
    """
    parts = [f"{event.owner}: {event.done} rounds kept"]
    parts += [f"{name} {value:.6g}" for name, value in event.measures.items()]
    sys.stdout.write(f"{', '.join(parts)}, {seconds:.1f} s\n")


def _line(event: FitEvent) -> str:
    if event.name is None:
        return str(event)
    count = "" if event.total is None else f"({event.done} of {event.total}) "
    return f"{event.owner}: {count}{event}"


@contextmanager
def printed_progress(verbose: object, owner: str, step: Step, every: int = 1) -> Iterator[None]:
    """Print the events of a fit inside the block, if `verbose` is set."""
    with monitored(*([EventPrinter(owner, step, every)] if verbose else [])):
        yield
