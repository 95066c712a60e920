"""Names in error messages: which was probably meant, and which there are."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant, if there is one.

    Examples
    --------
    >>> nearest("prise", ["price", "area"])
    'price'
    """
    by_small = {own.lower(): own for own in names}
    near = get_close_matches(name.lower(), by_small, n=1, cutoff=0.65)
    return by_small[near[0]] if near else None


def guessed(name: str, names: Iterable[str]) -> str | None:
    """A suggestion of the name that was probably meant, if there is one.

    Examples
    --------
    >>> guessed("prise", ["price", "area"])
    "Did you mean 'price'?"
    """
    near = nearest(name, names)
    return None if near is None else f"Did you mean {near!r}?"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in quotes, the first of them if they are many.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    all_names = [repr(name) for name in names]
    if len(all_names) <= most:
        return ", ".join(all_names)
    return f"{', '.join(all_names[:most])} and {len(all_names) - most} more"
