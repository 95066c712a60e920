"""How to reproduce the model and the report: versions, data, parameters, and code."""

import hashlib
import inspect
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import clone

from coterie.data.table import Table
from coterie.report.content import Cell, Code, Fact, Facts, Paragraph, Section, TableBlock
from coterie.report.evaluated_model import EvaluatedModel

_MOST_LETTERS = 200
_MOST_LISTED = 60


def reproducibility_section(
    evaluated: EvaluatedModel, options: dict[str, Any], commands: tuple[str, ...]
) -> Section:
    versions = tuple(
        Fact(name, found)
        for name in ("coterie", "numpy", "scikit-learn")
        if (found := _version(name)) is not None
    )
    facts = Facts((Fact("Python", platform.python_version()), *versions))
    data = Facts((Fact("data fingerprint", fingerprint(evaluated), "a hash of the rows and their targets"),))
    seed = getattr(evaluated.model, "random_state", 0)
    warning = []
    if seed is None:
        warning = [Paragraph("random_state is None: fitting again gives a different model.", "warning")]
    return Section(
        "reproducibility",
        "Reproducibility",
        (facts, data, *warning, *_parameters(evaluated.model), _code(evaluated, options, commands)),
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def fingerprint(evaluated: EvaluatedModel) -> str:
    """The first letters of a hash of what the columns hold, whatever type the table came in."""
    table: Table = evaluated.table
    found = hashlib.sha256(f"{table.n_rows} {table.n_columns}".encode())
    for place in range(table.n_columns):
        column = table.column(place)
        found.update(f"\0{column.name}\0".encode())
        if column.levels is None:
            found.update(np.ascontiguousarray(column.values, dtype=np.float64).tobytes())
        else:
            found.update("\0".join(map(str, column.levels.tolist())).encode())
            found.update(np.ascontiguousarray(column.values, dtype=np.int64).tobytes())
    found.update(np.ascontiguousarray(evaluated.all_y_true, dtype=np.float64).tobytes())
    return found.hexdigest()[:16]


def _parameters(model: Any) -> list[TableBlock]:
    """Tables of the parameters that differ from their defaults, and of the others."""
    known = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    defaults = _defaults(model)
    given: list[tuple[Cell, ...]] = []
    others: list[tuple[Cell, ...]] = []
    for name, value in sorted(known.items()):
        is_default = name in defaults and _short(defaults[name]) == _short(value)
        (others if is_default else given).append((name, _short(value)))
    tables = []
    for rows, caption, folded in (
        (given, "Parameters that differ from their defaults.", False),
        (others, "Parameters at their defaults.", True),
    ):
        if rows:
            shown = tuple(rows[:_MOST_LISTED])
            hidden = len(rows) - len(shown)
            tables.append(
                TableBlock(("parameter", "value"), shown, caption, n_left_out=hidden, folded=folded)
            )
    return tables


def _defaults(model: Any) -> dict[str, Any]:
    signature = inspect.signature(type(model).__init__)
    return {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }


def _short(value: Any) -> str:
    """On one line, without memory addresses."""
    text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(repr(value).split()))
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _code(evaluated: EvaluatedModel, options: dict[str, Any], commands: tuple[str, ...]) -> Code:
    """The commands that made the model and the report; for a model of Python, its lines."""
    if commands:
        return Code("\n".join(commands), "shell")
    model = evaluated.model
    module = type(model).__module__.split(".")[0]
    where = "coterie" if module == "coterie" else type(model).__module__
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    lines = [
        f"from {where} import {type(model).__name__}",
        "from coterie import report",
        "",
        "X_train, y_train = ...  # the rows of the fit, as they were read for it",
        f"X, y = ...              # the {evaluated.n_rows:,} rows of this report and their targets",
        "",
    ]
    try:
        constructor = " ".join(repr(clone(model)).split())
    except (TypeError, RuntimeError, ValueError):
        constructor = f"{type(model).__name__}(...)"
    lines += [
        f"model = {constructor}",
        "model.fit(X_train, y_train)",
        f'report.build(model, X, y{given}).save("report.html")',
    ]
    return Code("\n".join(lines))
