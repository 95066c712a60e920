"""What all commands share: `--quiet`, `--debug`, errors as sentences, exit codes, messages on the standard error."""

import inspect
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from coterie.cli.errors import BROKEN_PIPE, INTERRUPTED, CommandError, exit_code_of
from coterie.cli.writing import print_out
from coterie.errors import CoterieError
from coterie.fitting.monitor import FitEvent, Step, monitored


class Messages:
    """Notes, warnings, errors and progress; if they are `quiet`, warnings and errors alone."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self._warned: set[str] = set()

    def result(self, text: str) -> None:
        """What a command found out, for people, on the standard output."""
        if not self.quiet:
            print_out(text)

    def note(self, text: str) -> None:
        if not self.quiet:
            _write(text)

    def warn(self, text: str) -> None:
        """Each warning once."""
        if text not in self._warned:
            self._warned.add(text)
            _write(f"warning: {text}")

    def error(self, text: str) -> None:
        _write(f"coterie: {text}")

    @contextmanager
    def progress(
        self, what: str, step: Step = "member", *, seconds: float | None = None, total: int | None = None
    ) -> Iterator[None]:
        """Show each step of the fit inside, and how much is left: of seconds, or of steps."""
        if self.quiet:
            yield
            return
        left = _TimeLeft(seconds, total)
        shown = _bar(what, left) if sys.stderr.isatty() else nullcontext(_plain_lines(left))
        with shown as show, monitored(_of_step(step, show)):
            yield


def _write(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _of_step(step: Step, show: Callable[[FitEvent], None]) -> Callable[[FitEvent], None]:
    """A monitor that shows events of one kind: a member of a committee has rounds and trees of its own."""
    return lambda event: show(event) if event.step == step else None


class _TimeLeft:
    """How long it will take, as far as that is known.

    Examples
    --------
    >>> left = _TimeLeft(None, 4)
    >>> left.begun -= 10
    >>> left.in_words(2)
    'about 10 s left'
    """

    def __init__(self, seconds: float | None, total: int | None) -> None:
        self.begun, self.seconds, self.total = time.monotonic(), seconds, total

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.begun

    def in_words(self, n_done: int) -> str:
        if self.seconds is not None:
            return f"at most {max(0.0, self.seconds - self.elapsed):.0f} s left"
        if self.total is not None and n_done:
            return f"about {max(0, self.total - n_done) * self.elapsed / n_done:.0f} s left"
        return f"{self.elapsed:.0f} s so far"


def _plain_lines(left: _TimeLeft) -> Callable[[FitEvent], None]:
    def write(event: FitEvent) -> None:
        known = left.seconds is not None or left.total is not None
        _write(f"  {event}; {left.in_words(event.done)}" if known else f"  {event}")

    return write


@contextmanager
def _bar(what: str, left: _TimeLeft) -> Iterator[Callable[[FitEvent], None]]:
    """A bar that goes on by itself if time is limited, and with each step otherwise."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), _Bar(left))
    console = Console(stderr=True, highlight=False)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)

        def show(event: FitEvent) -> None:
            progress.console.print(Text(f"  {event}"))
            progress.update(task, completed=event.done)

        yield show


class _Bar(ProgressColumn):
    """The bar, and the time that is left beside it."""

    def __init__(self, left: _TimeLeft) -> None:
        super().__init__()
        self._left = left

    def render(self, task: Task) -> Table:
        left = self._left
        total = left.seconds if left.seconds is not None else left.total
        done = left.elapsed if left.seconds is not None else task.completed
        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=total, completed=min(done, total or 0), width=40, pulse=total is None)
        row.add_row(bar, Text(left.in_words(int(task.completed))))
        return row


_OPTIONS = {
    "quiet": Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing for people but warnings and errors.")
    ],
    "debug": Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")],
}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command that may take `messages` first; its other arguments are those of the command line.

    A parameter whose type is a dataclass is a group: its fields are options, and the command is given them together.
    """
    signature = inspect.signature(function)
    own = list(signature.parameters.values())
    takes_messages = own[0].name == "messages"
    own = own[1:] if takes_messages else own
    groups: dict[str, Any] = {each.name: each.annotation for each in own if is_dataclass(each.annotation)}
    own = [
        option for each in own for option in (_options_of(each.annotation) if each.name in groups else [each])
    ]
    own = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
        for name, annotation in _OPTIONS.items()
    ]

    @wraps(function)
    def run(*, quiet: bool, debug: bool, **given: Any) -> None:
        messages = Messages(quiet)
        with _errors_explained(messages, debug), _warnings_shown(messages):
            together = {
                name: group(**{own.name: given.pop(own.name) for own in fields(group)})
                for name, group in groups.items()
            }
            function(*[messages] * takes_messages, **together, **given)

    run.__signature__ = signature.replace(parameters=own + added)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in own + added}
    return run


def _options_of(group: Any) -> list[inspect.Parameter]:
    """The fields of a group as parameters, under its heading in `--help`."""
    found = []
    for own in fields(group):
        for option in getattr(own.type, "__metadata__", ()):
            option.rich_help_panel = group.HEADING
        default = inspect.Parameter.empty if own.default is MISSING else own.default
        kind = inspect.Parameter.KEYWORD_ONLY
        found.append(inspect.Parameter(own.name, kind, default=default, annotation=own.type))
    return found


@contextmanager
def _errors_explained(messages: Messages, debug: bool) -> Iterator[None]:
    """Turn an error into a sentence and an exit code."""
    try:
        yield
    except typer.Exit:
        raise
    except KeyboardInterrupt:
        messages.error("interrupted; nothing was written.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _discard_output()
        raise typer.Exit(BROKEN_PIPE) from None
    except Exception as error:
        if debug:
            traceback.print_exc()
        messages.error(_sentence(error, debug))
        if isinstance(error, CommandError) and error.lost_output:
            _discard_output()
        raise typer.Exit(exit_code_of(error)) from error


def _sentence(error: Exception, debug: bool) -> str:
    if isinstance(error, CoterieError):  # written for people
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this. Try fewer rows or columns, or a lower --memory-limit."
    advice = "" if debug else " Run it again with --debug to see where."
    return f"something unexpected happened: {type(error).__name__}: {error}.{advice}"


def _discard_output() -> None:
    """What Python would still write at its end can reach nobody."""
    if sys.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


@contextmanager
def _warnings_shown(messages: Messages) -> Iterator[None]:
    """Warnings of the library as lines, without the place in the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings(
            "ignore", message="Column .* of X holds text"
        )  # the table of columns says that
        warnings.filterwarnings("ignore", message=".*fit was interrupted")  # the command prints that itself
        warnings.showwarning = lambda message, *_, **__: messages.warn(str(message))
        yield
