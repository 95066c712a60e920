"""What all verbs share: `--quiet`, `--debug`, errors as sentences, and exit codes."""

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

from coterie.cli.problems import INTERRUPTED, READER_LEFT, Problem, code_of, is_explained
from coterie.cli.voice import Voice

__all__ = ["verb"]

_OPTIONS = {
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but warnings and errors.")],
    "debug": Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")],
}


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """A command that may take a `voice` first; its other arguments are those of the command line."""
    signature = inspect.signature(function)
    own = list(signature.parameters.values())
    speaks = own[0].name == "voice"
    own = own[1:] if speaks else own
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
        for name, annotation in _OPTIONS.items()
    ]

    @wraps(function)
    def command(*, quiet: bool, debug: bool, **given: Any) -> None:
        voice = Voice(quiet)
        with _explained(voice, debug), _warnings_by(voice):
            function(*[voice] * speaks, **given)

    command.__signature__ = signature.replace(parameters=own + added)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in own + added}
    return command


@contextmanager
def _explained(voice: Voice, debug: bool) -> Iterator[None]:
    """Turn an error into a sentence and an exit code."""
    try:
        yield
    except typer.Exit:
        raise
    except KeyboardInterrupt:
        voice.error("interrupted; nothing was written.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _forget_output()
        raise typer.Exit(READER_LEFT) from None
    except Exception as error:
        if debug:
            traceback.print_exc()
        voice.error(_sentence(error, debug))
        if isinstance(error, Problem) and error.lost_output:
            _forget_output()
        raise typer.Exit(code_of(error)) from None


def _sentence(error: Exception, debug: bool) -> str:
    if is_explained(error):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this. Try fewer rows or columns, or a lower --memory-limit."
    advice = "" if debug else " Run it again with --debug to see where."
    return f"something unexpected happened: {type(error).__name__}: {error}.{advice}"


def _forget_output() -> None:
    """What Python would still write at its end can reach nobody."""
    if sys.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


@contextmanager
def _warnings_by(voice: Voice) -> Iterator[None]:
    """Warnings of the library as lines, without the place in the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings("ignore", message=".*fit was interrupted")  # said by the verb
        warnings.showwarning = lambda message, *_, **__: voice.warn(str(message))
        yield
