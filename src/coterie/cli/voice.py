"""What is said to people while a verb is at work, on the standard error: results are alone on the standard output."""

import io
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

__all__ = ["Voice"]


class Voice:
    """Notes, warnings, errors and progress; if it is `quiet`, warnings and errors alone."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self._warned: set[str] = set()

    def note(self, text: str) -> None:
        if not self.quiet:
            _write(text)

    def warn(self, text: str) -> None:
        """Say it once."""
        if text not in self._warned:
            self._warned.add(text)
            _write(f"warning: {text}")

    def error(self, text: str) -> None:
        _write(f"coterie: {text}")

    @contextmanager
    def progress(
        self, what: str, *, seconds: float | None = None, steps: int | None = None
    ) -> Iterator[None]:
        """Show what the library prints inside, line by line, and how much is left: of seconds, or of lines."""
        if self.quiet:
            with redirect_stdout(_as_file(_Lines(lambda _: None))):
                yield
        elif sys.stderr.isatty():
            with _bar(what, seconds, steps) as tell, redirect_stdout(_as_file(_Lines(tell))):
                yield
        else:
            with redirect_stdout(_as_file(_Lines(_plain(seconds, steps)))):
                yield


def _write(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


class _Lines(io.TextIOBase):
    """A file that tells each line; of `CommitteeRegressor: forest, ...` only what comes after the name."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._rest = tell, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._tell(line.split(": ", 1)[-1])
        return len(text)


def _as_file(lines: _Lines) -> Any:
    return lines


def _left(begun: float, seconds: float | None, steps: int | None, done: int) -> str:
    """How long it will take, as far as that is known.

    Examples
    --------
    >>> _left(time.monotonic() - 10, None, 4, 2)
    'about 10 s left'
    """
    elapsed = time.monotonic() - begun
    if seconds is not None:
        return f"at most {max(0.0, seconds - elapsed):.0f} s left"
    if steps is not None and done:
        return f"about {max(0, steps - done) * elapsed / done:.0f} s left"
    return f"{elapsed:.0f} s so far"


def _plain(seconds: float | None, steps: int | None) -> Callable[[str], None]:
    begun, done = time.monotonic(), 0

    def tell(line: str) -> None:
        nonlocal done
        done += 1
        _write(f"  {line}; {_left(begun, seconds, steps, done)}")

    return tell


@contextmanager
def _bar(what: str, seconds: float | None, steps: int | None) -> Iterator[Callable[[str], None]]:
    """A bar that goes on by itself if time is limited, and with each line otherwise."""
    begun = time.monotonic()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), _Bar(begun, seconds, steps))
    console = Console(stderr=True, highlight=False)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)

        def tell(line: str) -> None:
            progress.console.print(Text(f"  {line}"))
            progress.update(task, advance=1)

        yield tell


class _Bar(ProgressColumn):
    """The bar, and the time that is left beside it."""

    def __init__(self, begun: float, seconds: float | None, steps: int | None) -> None:
        super().__init__()
        self._begun, self._seconds, self._steps = begun, seconds, steps

    def render(self, task: Task) -> Table:
        total = self._seconds if self._seconds is not None else self._steps
        done = time.monotonic() - self._begun if self._seconds is not None else task.completed
        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=total, completed=min(done, total or 0), width=40, pulse=total is None)
        row.add_row(bar, Text(_left(self._begun, self._seconds, self._steps, int(task.completed))))
        return row
