"""Conditions of `--where` that duckdb does not understand, in words without those of its parser."""

import re
from collections.abc import Iterable

from coterie.data.table_files.suggestions import guessed, listed


def condition_fault(message: str, columns: Iterable[str]) -> str:
    """What is wrong with a condition, from the message of duckdb's error, and what to do.

    Examples
    --------
    >>> condition_fault('Binder Error: Referenced column "aera" not found in FROM clause!', ["area", "town"])
    "there is no column 'aera'. Did you mean 'area'?"
    >>> condition_fault('Parser Error: syntax error at or near ")"', ["area"])
    'something is missing at its end, such as a value or a bracket. A condition looks like "area" IS NOT NULL'
    """
    known = list(columns)
    if column := re.search(r'Referenced column "(.+?)" (?:not found|was not found)', message):
        return _no_column(column[1], known)
    if value := re.search(r"Could not convert (?:string|VARCHAR) '(.*?)' to", message):
        return f"{value[1]!r} is compared with a column of numbers or dates, and is none."
    if function := re.search(r"(?:Scalar )?Function with name (\S+) does not exist", message):
        return f"there is no function {function[1].strip(chr(34))!r}."
    if place := re.search(r'syntax error at or near "(.+?)"', message):
        where = "something is missing at its end, such as a value or a bracket"
        if place[1] != ")":
            where = f"it goes wrong at {place[1]!r}"
        return f"{where}.{_example(known)}"
    if "syntax error" in message or "unterminated" in message:
        return f"it ends too early: a quote or a bracket is open.{_example(known)}"
    if types := re.search(r"Cannot compare values of type (\w+).* and (?:type )?(\w+)", message):
        return f"it compares a {_kind(types[1])} with a {_kind(types[2])}.{_example(known)}"
    return re.sub(r"^[A-Z][\w ]*Error: ", "", message.strip().splitlines()[0].strip())


def _no_column(name: str, columns: list[str]) -> str:
    hint = (
        guessed(name, columns) or f"The columns are {listed(columns)}; texts are in single quotes: '{name}'."
    )
    return f"there is no column {name!r}. {hint}"


def _example(columns: list[str]) -> str:
    return f' A condition looks like "{columns[0]}" IS NOT NULL' if columns else ""


def _kind(type_: str) -> str:
    if type_ in ("VARCHAR", "STRING_LITERAL"):
        return "text"
    if type_ == "BOOLEAN":
        return "flag"
    return "date" if type_.startswith(("DATE", "TIMESTAMP")) else "number"
