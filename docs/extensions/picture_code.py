"""What pages draw: the blocks of code of their pictures, and running them.

A page in Markdown holds a picture as

    ```{picture} A sentence as caption
    :alt: what is seen
    code whose last expression has an SVG form
    ```

The blocks of a page share their names and run in order. With the option `:after-examples:` the examples (`>>>`) of the
page up to the block run before it, so that a picture can show what they have made. This module needs no Sphinx, so that
tests can run every page.
"""

import ast
import doctest
import re
import textwrap
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

_BLOCK = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,}|:{3,})\{picture\}(?P<caption>[^\n]*)\n(?P<body>.*?)^(?P=indent)(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
_EXAMPLES = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"^:(?P<name>[\w-]+):[ ]*(?P<value>.*)$")


@dataclass(frozen=True)
class Block:
    """A picture as a page writes it."""

    caption: str
    options: dict[str, str]
    code: str
    line: int
    examples: str = ""  # what runs before the code

    @property
    def program(self) -> str:
        """All that is run for the picture."""
        return f"{self.examples}{self.code}"


def blocks_of(page: str) -> list[Block]:
    """The pictures of a page in Markdown, in order.

    Examples
    --------
    >>> [block] = blocks_of("# Page\\n\\n```{picture} A line\\n:alt: it rises\\nline()\\n```\\n")
    >>> block.caption, block.options, block.code, block.line
    ('A line', {'alt': 'it rises'}, 'line()\\n', 3)
    """
    found: list[Block] = []
    place = 0
    for match in _BLOCK.finditer(page):
        lines = textwrap.dedent(match["body"]).splitlines(keepends=True)
        options = {}
        while lines and (option := _OPTION.match(lines[0].rstrip())):
            options[option["name"]] = option["value"]
            del lines[0]
        line = page.count("\n", 0, match.start()) + 1
        examples = ""
        if "after-examples" in options:
            examples, place = _examples_in(page[place : match.start()]), match.end()
        found.append(Block(match["caption"].strip(), options, "".join(lines).lstrip("\n"), line, examples))
    return found


def _examples_in(text: str) -> str:
    """The examples of a part of a page as a program, without those that end in an error.

    Examples
    --------
    >>> _examples_in("A sum:\\n\\n```python\\n>>> a = 1\\n>>> a + 1\\n2\\n\\n```\\n")
    'a = 1\\na + 1\\n'
    """
    fenced = "".join(f"{match[1]}\n" for match in _EXAMPLES.finditer(text))
    return "".join(
        each.source for each in doctest.DocTestParser().get_examples(fenced) if each.exc_msg is None
    )


def svg_from(code: str, names: dict[str, Any], source: str = "<picture>") -> str:
    """Run code and return its last expression as SVG; `names` keeps what the code defines. A warning is an error.

    Examples
    --------
    >>> names = {}
    >>> svg_from("body = '<path/>'\\nf'<svg>{body}</svg>'", names), names["body"]
    ('<svg><path/></svg>\\n', '<path/>')
    """
    tree = ast.parse(code, source)
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        raise ValueError("the last line of a picture is an expression: the display, or SVG")
    last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    names.setdefault("__name__", "picture")
    with (
        warnings.catch_warnings(),
        redirect_stdout(StringIO()),
    ):  # what code prints stays out of the build's messages
        warnings.simplefilter("error")
        exec(compile(tree, source, "exec"), names)
        shown = eval(compile(last, source, "eval"), names)
        return svg_of(shown)


def svg_of(shown: Any) -> str:
    """The SVG form of an object: its `to_svg`, what notebooks would show, or a string that is SVG already."""
    found = shown
    for method in ("to_svg", "_repr_svg_", "_repr_html_"):
        if hasattr(shown, method):
            found = getattr(shown, method)()
            break
    if not isinstance(found, str) or not found.lstrip().startswith("<svg"):
        raise TypeError(f"a picture ends in an object with an SVG form, and not in {type(shown).__name__}")
    return found.strip() + "\n"
