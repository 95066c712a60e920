"""An unchanged program of scikit-learn's ensembles, on the engine of coterie.

    import coterie
    coterie.patch_sklearn()                 # before the program imports its classes

    python -m coterie.patch script.py       # the same for a script, or for a module with -m

Names of `sklearn.ensemble` are exchanged for those of `coterie.ensemble`, and nothing else: what was imported before
stays what it was, scikit-learn's own code goes on with its own classes, and models are pickled as what they are, so
that they can be read without a patch.
"""

import runpy
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import TracebackType
from typing import Any, Self

from coterie.errors import InvalidParameter

_USAGE = (
    "usage: python -m coterie.patch script.py [arguments], or python -m coterie.patch -m module [arguments]"
)


class Patch:
    """What `patch_sklearn` did; a context manager that undoes it at the end of its block.

    Attributes
    ----------
    replaced : names of `sklearn.ensemble` that stand for classes of coterie
    kept : names of classes of `sklearn.ensemble` that are scikit-learn's own
    """

    def __init__(self, names: Iterable[str] | None) -> None:
        module, ours = _sklearn_ensemble(), replaceable()
        wanted = list(ours) if names is None else _checked(names, ours)
        self._originals: dict[str, Any] = {}
        for name in wanted:
            if getattr(module, name) is not ours[name]:
                self._originals[name] = getattr(module, name)
                setattr(module, name, ours[name])
        self.replaced = tuple(name for name in ours if getattr(module, name) is ours[name])
        self.kept = tuple(
            name
            for name in module.__all__
            if isinstance(getattr(module, name), type) and name not in (*self.replaced, "BaseEnsemble")
        )

    def undo(self) -> None:
        """Put back what this patch took away; a name that somebody else has changed since stays."""
        module, ours = _sklearn_ensemble(), replaceable()
        for name, original in self._originals.items():
            if getattr(module, name) is ours[name]:
                setattr(module, name, original)
        self._originals = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo()

    def __repr__(self) -> str:
        kept = f"; scikit-learn's own: {', '.join(self.kept)}" if self.kept else ""
        return f"sklearn.ensemble on coterie: {', '.join(self.replaced)}{kept}"


def patch_sklearn(names: Iterable[str] | None = None, *, verbose: bool = True) -> Patch:
    """Let `sklearn.ensemble` hand out the classes of `coterie.ensemble`, for good or for a `with` block.

    Parameters
    ----------
    names : names of classes, such as ["RandomForestClassifier"]; None for all that coterie has
        Default None: all classes that coterie has.
    verbose : whether to say on standard error what was replaced
        Default True: exchanging classes should not go unnoticed.

    Examples
    --------
    >>> import sklearn.ensemble
    >>> with patch_sklearn(["RandomForestClassifier"], verbose=False) as patch:
    ...     patch.replaced, sklearn.ensemble.RandomForestClassifier.__module__
    (('RandomForestClassifier',), 'coterie.ensemble.forests')
    >>> sklearn.ensemble.RandomForestClassifier.__module__
    'sklearn.ensemble._forest'
    """
    patch = Patch(names)
    if verbose:
        sys.stderr.write(f"{patch!r}\n")
    return patch


def replaceable() -> dict[str, type]:
    """The classes of coterie that stand for those of `sklearn.ensemble`, by name."""
    ensemble = import_module("coterie.ensemble")
    found = {name: getattr(ensemble, name) for name in ensemble.__all__}
    return {name: cls for name, cls in found.items() if cls.__module__.startswith("coterie.")}


def _sklearn_ensemble() -> Any:
    return import_module("sklearn.ensemble")


def _checked(names: Iterable[str], ours: dict[str, type]) -> list[str]:
    wanted = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in wanted if name not in ours]
    if unknown:
        raise InvalidParameter(
            f"patch_sklearn: coterie has nothing to put in place of {unknown[0]!r}.",
            parameter="names",
            received=unknown[0],
            allowed=f"names among {', '.join(ours)}",
        )
    return wanted


def main(arguments: Sequence[str]) -> int:
    """Run a script or a module with `sklearn.ensemble` patched."""
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] == "-m" and len(arguments) < 2):
        sys.stderr.write(f"{_USAGE}\n")
        return 0 if arguments and arguments[0] != "-m" else 2
    patch_sklearn()
    if arguments[0] == "-m":
        sys.argv = [arguments[1], *arguments[2:]]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
