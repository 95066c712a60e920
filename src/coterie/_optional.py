"""Optional packages: imported when they are used, and explained when they are absent."""

from importlib import import_module
from types import ModuleType

from coterie.errors import MissingPackage


def need(package: str, *, purpose: str, extra: str | None = None) -> ModuleType:
    """Import an optional package, or say how to get it.

    `extra` is the name of coterie's own extra that brings the package; without one, the message names
    the package itself.

    Examples
    --------
    >>> need("math", purpose="Drawing a circle").floor(3.9)
    3
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name != package and not package.startswith(f"{error.name}."):
            raise
        wanted = package.split(".")[0] if extra is None else f"coterie[{extra}]"
        raise MissingPackage(
            f"{purpose} uses {package!r}, which is not installed.",
            parameter=package,
            hint=f"Install it with: pip install '{wanted}'",
        ) from error
