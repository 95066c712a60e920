"""Docstrings as the reference shows them: parameters with type, default and the reason of the default.

A parameter is explained by sentences; the last of them may begin with "Default" and gives the reason:

    max_leaf_nodes : int or None
        The most leaves of a tree. None is no limit. Default 31: a tree of that size is grown in milliseconds.

After "Default" stands the value, unless several classes share the text and have different ones. This module needs no
Sphinx, so that tests can read every docstring.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

# What a type begins with. A line after a name that begins otherwise says what the parameter means.
_TYPE = re.compile(
    r"(int|float|bool|str|dict|list|tuple|sequence|mapping|arrays?|numbers?|table|path|callable|function|object|label|"
    r"estimator|classifier|regressor|splitter|None|[a-z]+\.\w+|[A-Z]\w+)\b|[{\"`]"
)
_DEFAULT = re.compile(r",? default=\S+.*\Z")  # the table has it from the code
_REASON = re.compile(r"(?:^|(?<=[.:)\s]))\s*Default(?P<value>\s[^:]+)?:\s(?P<reason>.*)\Z", re.DOTALL)
_REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Entry:
    """What a section says about a name, or about several that share a text."""

    names: tuple[str, ...]
    kind: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()

    @property
    def type(self) -> str:
        """What it may be; empty if the line says what it means instead."""
        return self._type_and_meaning()[0]

    @property
    def meaning(self) -> str:
        """What it is for: what stands below, or the rest of the line after the type."""
        return self._type_and_meaning()[1]

    def _type_and_meaning(self) -> tuple[str, str]:
        below, kind = _REASON.sub("", self.text).strip(), _DEFAULT.sub("", self.kind)
        if not _TYPE.match(kind):
            goes_on = bool(below) and not below[0].isupper()
            return "", f"{_capital(kind) if goes_on else _sentence(kind)}\n{below}".strip()
        if below:
            return kind, below
        open_brackets = 0
        for place, letter in enumerate(kind):
            open_brackets += (letter in "([{") - (letter in ")]}")
            rest = kind[place + 1 :].lstrip()
            if letter in ",;" and not open_brackets and not rest.startswith("or ") and not _TYPE.match(rest):
                return kind[:place], _sentence(rest)
        return kind, ""

    @property
    def reason(self) -> str:
        """Why the default is what it is; empty if nothing is said."""
        found = _REASON.search(self.text)
        return "" if found is None else found["reason"].strip()

    @property
    def written_default(self) -> str:
        """The value after the word "Default", if there is one."""
        found = _REASON.search(self.text)
        return "" if found is None or found["value"] is None else found["value"].strip().strip("`")


def section_of(lines: list[str], title: str) -> tuple[int, int]:
    """Where a section begins, with its heading, and where it ends; both are 0 if there is none.

    Examples
    --------
    >>> section_of(["Idea.", "", "Parameters", "----------", "a : int", "", "Examples", "--------"], "Parameters")
    (2, 6)
    """
    headings = _headings(lines)
    for place, number in enumerate(headings):
        if lines[number] == title:
            end = headings[place + 1] if place + 1 < len(headings) else len(lines)
            return number, end
    return 0, 0


def first_section(lines: list[str]) -> int:
    """Where the first section begins, or the end."""
    rubrics = [number for number, line in enumerate(lines) if line.startswith(".. rubric::")]
    return min([*_headings(lines), *rubrics, len(lines)])


def _headings(lines: list[str]) -> list[int]:
    return [
        number
        for number in range(len(lines) - 1)
        if lines[number] and set(lines[number + 1]) == {"-"} and not lines[number].startswith(" ")
    ]


def entries_of(lines: Iterable[str]) -> Iterator[Entry]:
    """The entries of a section without its heading.

    Examples
    --------
    >>> [entry] = entries_of(["low, high : float", "    Bounds. Default 0: the usual."])
    >>> entry.names, entry.type, entry.meaning, entry.written_default, entry.reason
    (('low', 'high'), 'float', 'Bounds.', '0', 'the usual.')
    >>> [entry] = entries_of(["n : int, how many rows"])
    >>> entry.type, entry.meaning
    ('int', 'How many rows.')
    """
    head, body = "", []  # type: str, list[str]
    for line in [*lines, "end"]:
        if not line.strip() or line.startswith(" "):
            body.append(line)
            continue
        if head:
            names, _, kind = head.partition(" : ")
            yield Entry(tuple(names.strip().split(", ")), kind.strip(), tuple(_dedented(body)))
        head, body = line, []


def _dedented(lines: list[str]) -> list[str]:
    return inspect.cleandoc("\n".join(["", *lines])).splitlines()


def section_entries(thing: Any, title: str) -> list[Entry]:
    lines = (inspect.getdoc(thing) or "").splitlines()
    begin, end = section_of(lines, title)
    return list(entries_of(lines[begin + 2 : end])) if end else []


def parameter_entries(thing: Any) -> list[Entry]:
    """The parameters of a function or class; of a class without words of its own, those of the ancestor that it calls.

    Examples
    --------
    >>> from coterie.errors import InvalidInput
    >>> [entry.names[0] for entry in parameter_entries(InvalidInput)][:2]
    ['message', 'parameter']
    """
    for each in thing.__mro__ if inspect.isclass(thing) else [thing]:
        entries = section_entries(each, "Parameters") if each.__doc__ else []
        if entries or "__init__" in vars(each):
            return entries
    return []


def defaults_of(thing: Any) -> dict[str, Any]:
    """The parameters and their defaults; `inspect.Parameter.empty` for those that must be given."""
    found = inspect.signature(thing).parameters.values()
    return {each.name: each.default for each in found if each.name not in ("self", "cls")}


def shown(default: Any) -> str:
    """A default as code writes it."""
    if inspect.isfunction(default) or isinstance(default, type):
        return str(default.__name__)
    return repr(default)


def rules_of(thing: Any, name: str) -> str:
    """What the check at `fit` allows, in words; empty where nothing is checked by a table of rules."""
    rules = getattr(thing, "PARAMS", {}).get(name, ())
    told = [rule.describe() for rule in rules if rule is not None]
    if any(rule is None for rule in rules):
        told.append("None")
    return ", or ".join(told)


def parameter_table(thing: Any, entries: list[Entry]) -> list[str]:
    """reStructuredText: a row a parameter, with what it is, its default, and the reason."""
    defaults = defaults_of(thing)
    rows = []
    for entry in entries:
        name = ["``" + "``, ``".join(entry.names) + "``", "", f"*{_plain(entry.type)}*" if entry.type else ""]
        rules = " ".join(dict.fromkeys(rules_of(thing, each) for each in entry.names))
        meaning = entry.meaning.splitlines() or [f"{rules[:1].upper()}{rules[1:]}." if rules else ""]
        own = list(
            dict.fromkeys(
                shown(defaults[each])
                for each in entry.names
                if defaults.get(each, _REQUIRED) is not _REQUIRED
            )
        )
        default = [", ".join(f"``{value}``" for value in own) or "required"]
        reason = entry.reason
        rows.append((name, meaning, [*default, "", *_capital(reason).splitlines()]))
    return _table("parameters", ("Parameter", "Meaning", "Default, and why"), rows)


def attribute_table(entries: list[Entry]) -> list[str]:
    rows = [
        (["``" + "``, ``".join(entry.names) + "``"], [_capital(entry.kind), "", *entry.text.splitlines()])
        for entry in entries
    ]
    return _table("attributes", ("Attribute", "Meaning"), rows)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(text: str) -> str:
    return _capital(text) + ("" if text.endswith((".", ":")) or not text else ".")


def _plain(kind: str) -> str:
    return kind.replace("*", "\\*").replace("`", "").replace("_", "\\_")


def _table(name: str, headings: tuple[str, ...], rows: list[tuple[list[str], ...]]) -> list[str]:
    if not rows:
        return []
    lines = [".. list-table::", "   :header-rows: 1", f"   :class: {name}", ""]
    for row in [tuple([heading] for heading in headings), *rows]:
        for place, cell in enumerate(row):
            mark = "   * - " if place == 0 else "     - "
            first, *others = cell
            lines.append(mark + first)
            lines += ["       " + line if line else "" for line in others]
    return [*lines, ""]
