"""How to get the same again: versions, data, parameters, and the lines of code."""

import hashlib
import inspect
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import clone

from coterie.data.table import Table
from coterie.report.content import Cell, Code, Fact, Facts, Section, Sheet, Words
from coterie.report.subject import Subject

__all__ = ["fingerprint", "reproduce"]

_MOST_LETTERS = 200
_MOST_LISTED = 60


def reproduce(subject: Subject, options: dict[str, Any]) -> Section:
    versions = tuple(
        Fact(name, found)
        for name in ("coterie", "numpy", "scikit-learn")
        if (found := _version(name)) is not None
    )
    facts = Facts((Fact("Python", platform.python_version()), *versions))
    data = Facts((Fact("data", fingerprint(subject), "a fingerprint of the rows and their targets"),))
    seed = getattr(subject.model, "random_state", 0)
    words = []
    if seed is None:
        words = [Words("random_state is None: a new fit will not give the same model.", "warning")]
    return Section(
        "reproduce",
        "How to reproduce",
        (facts, data, *words, *_parameters(subject.model), Code(_code(subject, options))),
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def fingerprint(subject: Subject) -> str:
    """The first letters of a hash of what the columns hold, whatever type the table came in."""
    table: Table = subject.whole
    found = hashlib.sha256(f"{table.n_rows} {table.n_columns}".encode())
    for place in range(table.n_columns):
        column = table.column(place)
        found.update(f"\0{column.name}\0".encode())
        if column.levels is None:
            found.update(np.ascontiguousarray(column.values, dtype=np.float64).tobytes())
        else:
            found.update("\0".join(map(str, column.levels.tolist())).encode())
            found.update(np.ascontiguousarray(column.values, dtype=np.int64).tobytes())
    found.update(np.ascontiguousarray(subject.whole_truth, dtype=np.float64).tobytes())
    return found.hexdigest()[:16]


def _parameters(model: Any) -> list[Sheet]:
    """Those that were set, and those that were left as they are."""
    known = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    usual = _defaults(model)
    given: list[tuple[Cell, ...]] = []
    others: list[tuple[Cell, ...]] = []
    for name, value in sorted(known.items()):
        as_usual = name in usual and _short(usual[name]) == _short(value)
        (others if as_usual else given).append((name, _short(value)))
    sheets = []
    for rows, caption, folded in (
        (given, "Parameters that differ from their defaults.", False),
        (others, "Parameters that have their defaults.", True),
    ):
        if rows:
            shown = tuple(rows[:_MOST_LISTED])
            hidden = len(rows) - len(shown)
            sheets.append(Sheet(("parameter", "value"), shown, caption, left_out=hidden, folded=folded))
    return sheets


def _defaults(model: Any) -> dict[str, Any]:
    signature = inspect.signature(type(model).__init__)
    return {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }


def _short(value: Any) -> str:
    """On one line, without where an object happens to lie in memory."""
    text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(repr(value).split()))
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _code(subject: Subject, options: dict[str, Any]) -> str:
    model = subject.model
    module = type(model).__module__.split(".")[0]
    where = "coterie" if module == "coterie" else type(model).__module__
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    lines = [f"from {where} import {type(model).__name__}", "from coterie import report", ""]
    try:
        said = " ".join(repr(clone(model)).split())
    except (TypeError, RuntimeError, ValueError):
        said = f"{type(model).__name__}(...)"
    lines += [
        f"model = {said}",
        "model.fit(X, y)  # the rows of the fit",
        f'report.build(model, X, y{given}).save("report.html")  # the rows of this report',
    ]
    if module == "coterie":
        lines += ["", "from coterie import load, save", 'save(model, "model.coterie")']
        lines += ['load("model.coterie").predict(X)']
    return "\n".join(lines)
