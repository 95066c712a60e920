"""What all commands share: `--quiet`, `--debug`, errors as sentences, and exit codes."""

import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any

import typer

from coterie.cli.console import Messages
from coterie.cli.errors import BROKEN_PIPE, INTERRUPTED, CommandError, exit_code_of
from coterie.errors import CoterieError

_OPTIONS = {
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")],
    "debug": Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")],
}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command that may take `messages` first; its other arguments are those of the command line."""
    signature = inspect.signature(function)
    own = list(signature.parameters.values())
    takes_messages = own[0].name == "messages"
    own = own[1:] if takes_messages else own
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
        for name, annotation in _OPTIONS.items()
    ]

    @wraps(function)
    def run(*, quiet: bool, debug: bool, **given: Any) -> None:
        messages = Messages(quiet)
        with _errors_explained(messages, debug), _warnings_shown(messages):
            function(*[messages] * takes_messages, **given)

    run.__signature__ = signature.replace(parameters=own + added)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in own + added}
    return run


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
        warnings.filterwarnings("ignore", message=".*fit was interrupted")  # the command prints that itself
        warnings.showwarning = lambda message, *_, **__: messages.warn(str(message))
        yield
