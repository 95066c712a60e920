"""`verbose`: the events of a fit as lines on the standard output."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from coterie.fitting.monitor import FitEvent, Step, monitored

__all__ = ["EventPrinter", "printed_progress"]


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
