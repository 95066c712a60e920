"""What can go wrong, by name: every error that coterie raises on purpose is one of these.

Each of them is also the built-in exception that Python users expect (`ValueError`, `TypeError`,
`ImportError`), so code that catches those keeps working. A model that was not fitted raises
`sklearn.exceptions.NotFittedError`, as in scikit-learn.

The text of an error is for people. Programs, and tests, ask for its fields.
"""

import pickle
from collections.abc import Callable
from typing import Any, Self

__all__ = [
    "CoterieError",
    "InvalidInput",
    "InvalidParameter",
    "InvalidType",
    "MissingPackage",
    "ModelFileError",
    "SchemaMismatch",
    "WorkerLostError",
]


class CoterieError(Exception):
    """The common ancestor: catching it catches everything that coterie raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, in full sentences. Default '': the hint may say it all.
    parameter : str or None
        The name of the parameter or the argument that is wrong. Default None: not every error is about a parameter.
    received : object
        What was given for it. Of a table or an array, what is wrong about it: its shape, its type, the value in `row`.
        Default None: there may be no value to show.
    allowed : str or None
        What would be right, in words. Default None: there may be no rule to state.
    hint : str or None
        What to do about it, in full sentences; the text of the error ends with it. Default None: the message may say
        it all.
    column : str or None
        The name of the column of X that is wrong, or of the first such column. Default None: the error is not about
        one column.
    row : int or None
        The first row that is wrong, counted from 0. Default None: the error is not about one row.

    Examples
    --------
    >>> error = InvalidParameter("max_depth=0 makes no tree.", parameter="max_depth", received=0, hint="Try 6.")
    >>> str(error), error.parameter, error.received
    ('max_depth=0 makes no tree. Try 6.', 'max_depth', 0)
    """

    def __init__(
        self,
        message: str = "",
        *,
        parameter: str | None = None,
        received: object = None,
        allowed: str | None = None,
        hint: str | None = None,
        column: str | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(message if hint is None else f"{message} {hint}")
        self.message = message
        self.parameter = parameter
        self.received = received
        self.allowed = allowed
        self.hint = hint
        self.column = column
        self.row = row

    @classmethod
    def expecting(cls, what: str, allowed: str, parameter: str, received: object, **others: Any) -> Self:
        """The error of what is not as it should be: a message of what it is, and of what was expected.

        Examples
        --------
        >>> str(InvalidInput.expecting("The model has 3 targets", "one target", "model", 3, hint="Fit one for each."))
        'The model has 3 targets; expected one target. Fit one for each.'
        """
        message = f"{what}; expected {allowed}."
        return cls(message, parameter=parameter, received=received, allowed=allowed, **others)

    def within(self, place: str) -> Self:
        """The same error, whose text begins with the part of the input that it is about, such as `eval_set`."""
        return type(self)(f"{place}: {self.message}", **self._fields())

    def naming(self, parameter: str | None) -> Self:
        """The same error about a parameter that has another name where it was given."""
        return type(self)(self.message, **{**self._fields(), "parameter": parameter})

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def __reduce__(self) -> tuple[Callable[..., "CoterieError"], tuple[Any, ...], dict[str, Any]]:
        fields = {**self._fields(), "received": _picklable(self.received)}
        others = {name: value for name, value in vars(self).items() if name not in ("message", *_FIELDS)}
        return _rebuild, (type(self), self.message, fields), others  # such as the notes of `add_note`


_FIELDS = ("parameter", "received", "allowed", "hint", "column", "row")


def _picklable(received: object) -> object:
    """The value, or its `repr`: what cannot be pickled must not hide the error of another process."""
    try:
        pickle.dumps(received)
    except Exception:
        return repr(received)
    return received


def _rebuild(kind: type[CoterieError], message: str, fields: dict[str, Any]) -> CoterieError:
    """An error that was pickled, as those of other processes are."""
    return kind(message, **fields)


class InvalidParameter(CoterieError, ValueError):
    """A constructor parameter has a value that the estimator does not allow."""


class InvalidInput(CoterieError, ValueError):
    """A table, a target or a weight cannot be used as it is."""


class InvalidType(InvalidInput, TypeError):
    """The input is of a type that cannot be read at all."""


class SchemaMismatch(InvalidInput):
    """The table given to `predict` does not look like the one that `fit` saw."""


class ModelFileError(CoterieError, ValueError):
    """A model cannot be read from a file, or written to one: it is damaged, or holds what is not supported."""


class MissingPackage(CoterieError, ImportError):
    """An optional package is needed and not installed."""


class WorkerLostError(CoterieError, RuntimeError):
    """Workers of a cluster were lost more often than a fit may begin anew.

    Attributes
    ----------
    worker : str or None
        The address of the worker that was lost last.
    rows : tuple of int, or None
        The rows that it had: the first one, and the one after the last.
    """

    worker: str | None = None
    rows: tuple[int, int] | None = None
