"""Who reads a table: errors and warnings name arguments of `coterie.read_table`, or options of the command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shlex import quote

from coterie.errors import CoterieError

_OPTIONS = {
    "source": "DATA",
    "kinds": "--kind",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in ("encoding", "decimal", "thousands", "na", "date_format")
    },
}


@dataclass(frozen=True)
class Caller:
    """Whose words are used.

    Attributes
    ----------
    is_command : whether a person reads messages who gave options of the command line
    """

    is_command: bool = False

    def name(self, argument: str) -> str:
        """What an argument of `read_table` is called.

        Examples
        --------
        >>> Caller().name("kinds"), Caller(is_command=True).name("kinds")
        ('kinds', '--kind')
        """
        return _OPTIONS.get(argument, argument) if self.is_command else argument

    def setting(self, argument: str, value: str) -> str:
        """An argument and its value, as one writes them.

        Examples
        --------
        >>> Caller().setting("encoding", "latin-1"), Caller(is_command=True).setting("encoding", "latin-1")
        ("encoding='latin-1'", '--encoding latin-1')
        """
        return f"{self.name(argument)} {quote(value)}" if self.is_command else f"{argument}={value!r}"

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Errors inside have a `parameter` of the caller's."""
        try:
            yield
        except CoterieError as error:
            name = None if error.parameter is None else self.name(error.parameter)
            if name == error.parameter:
                raise
            raise error.naming(name) from error


PYTHON = Caller()
COMMAND_LINE = Caller(is_command=True)
