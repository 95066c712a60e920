"""What can go wrong, by name: every error that coterie raises on purpose is one of these.

Each of them is also the built-in exception that Python users expect (`ValueError`, `TypeError`,
`ImportError`), so code that catches those keeps working. A model that was not fitted raises
`sklearn.exceptions.NotFittedError`, as in scikit-learn.
"""

__all__ = [
    "CoterieError",
    "InvalidInput",
    "InvalidParameter",
    "InvalidType",
    "MissingPackage",
    "ModelFileError",
    "SchemaMismatch",
]


class CoterieError(Exception):
    """The common ancestor: catching it catches everything that coterie raises on purpose."""


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
