"""Docstrings of estimators: what parameters and attributes mean is written once for a family and put into each class.

A family keeps its texts as numpydoc writes them. `documented` puts them between the opening of a class and its
examples, parameters in the order of the constructor; `tests/contract/test_documentation.py` compares names.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

_Class = TypeVar("_Class", bound=type)
Texts: TypeAlias = str | Callable[[type], str]
_HEAD = re.compile(r"^    (?=\w[\w, ]* : )", re.MULTILINE)
_EXAMPLES = "\n    Examples\n"
_ATTRIBUTES = "\n    Attributes\n    ----------\n"


def documented(texts: Texts) -> Callable[[_Class], _Class]:
    """A decorator that puts the texts of parameters, and of attributes if there are any, into a docstring.

    `texts` are the entries of the parameters, then the section of attributes; or a function of the class that
    returns them, for families in which classes differ.
    """

    def document(estimator: _Class) -> _Class:
        if estimator.__doc__ is None:  # `python -OO`
            return estimator
        parameters, heading, attributes = (texts if isinstance(texts, str) else texts(estimator)).partition(
            _ATTRIBUTES
        )
        entries = _in_order(parameter_texts(parameters), list(inspect.signature(estimator).parameters))
        opening, examples = _indented(estimator.__doc__).split(_EXAMPLES, 1)
        estimator.__doc__ = (
            f"{opening}\n    Parameters\n    ----------\n{entries}{heading}{attributes}{_EXAMPLES}{examples}"
        )
        return estimator

    return document


def _indented(docstring: str) -> str:
    """As it is written below a class: Python 3.13 and later remove the indentation."""
    end = docstring[len(docstring.rstrip(" ")) :]
    return textwrap.indent(inspect.cleandoc(docstring), "    ").lstrip() + "\n" + end


def parameter_texts(entries: str) -> dict[str, str]:
    """The entries of a section by name; an entry of several parameters has a name such as "low, high".

    Examples
    --------
    >>> parameter_texts("    low, high : float\\n        Bounds.\\n    seed : int\\n")
    {'low, high': '    low, high : float\\n        Bounds.\\n', 'seed': '    seed : int\\n'}
    """
    found = [f"    {entry.rstrip()}\n" for entry in _HEAD.split(entries) if entry.strip()]
    return {entry.strip().split(" : ")[0]: entry for entry in found}


def _in_order(entries: Mapping[str, str], names: list[str]) -> str:
    """As in the constructor; one that no parameter has comes last, where the test finds it."""

    def place(entry: str) -> int:
        first = entry.split(", ")[0]
        return names.index(first) if first in names else len(names)

    return "".join(entries[entry] for entry in sorted(entries, key=place))
