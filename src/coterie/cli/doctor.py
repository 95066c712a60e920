"""`coterie doctor`: what is installed, what the machine can do, and whether a fit works."""

import io
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from coterie import _engine
from coterie.boosting.gradient_boosting import GradientBoostingClassifier
from coterie.cli.command import Messages, command
from coterie.cli.errors import UNEXPECTED, CommandError
from coterie.cli.options import JsonOption
from coterie.cli.writing import as_json, print_out
from coterie.datasets import load_table
from coterie.files import load, save

_NEEDED = ("coterie", "numpy", "scipy", "scikit-learn", "narwhals", "jinja2")
_OPTIONAL = {
    "duckdb": ("cli", "reads and writes tables for the command line"),
    "openpyxl": ("excel", "Excel workbooks as tables"),
    "zstandard": (None, "files compressed by zstd, before Python 3.14"),
    "skops": ("cli", "stores committees with members of scikit-learn"),
    "matplotlib": ("plot", "pictures as PNG and on axes"),
    "shap": ("explain", "the plots of shap"),
    "onnx": ("export", "models for ONNX runtimes"),
    "treelite": ("export", "models for treelite"),
    "rich": ("cli", "tables and progress on a terminal"),
    "typer": ("cli", "the command line"),
    "pandas": (None, "data frames"),
    "polars": (None, "data frames"),
    "dask": ("dask", "predictions of collections"),
    "distributed": ("dask", "training on a cluster"),
    "fastapi": ("serve", "a web service of a model"),
    "uvicorn": ("serve", "the server of that service"),
    "mlflow": ("mlflow", "models in MLflow's format"),
    "pyarrow": ("scan", "Arrow tables, and files that are read in batches"),
}


@command
def doctor(messages: Messages, json: JsonOption = False) -> None:
    """Show which versions are installed, what the engine uses, what is missing, and try a small fit."""
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {name: _version(name) for name in _NEEDED},
        "engine": {
            "revision": _engine.REVISION,
            "instruction_set": _engine.instruction_set(),
            "threads": _engine.available_threads(),
            "global_lock": getattr(sys, "_is_gil_enabled", lambda: True)(),
        },
        "optional": {name: _version(name) for name in _OPTIONAL},
    }
    found["missing"] = {name: _pip_line(name) for name, own in found["optional"].items() if own is None}
    failure = _failure_of_a_fit()
    found["works"], found["error"] = failure is None, failure
    if json:
        print_out(as_json(found))
    else:
        messages.result(_text(found))
    if failure is not None:
        raise CommandError(
            "a small model could not be fitted, saved and loaded.",
            UNEXPECTED,
            received=failure,
            hint="Install coterie again.",
        )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _pip_line(name: str) -> str:
    """What installs an optional package."""
    extra, _ = _OPTIONAL[name]
    return f"pip install '{name if extra is None else f'coterie[{extra}]'}'"


def _failure_of_a_fit() -> str | None:
    """Fit, save, load and use a tiny model; None if all is well."""
    try:
        X, y = load_table("iris")
        model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
        file = io.BytesIO()
        save(model, file)
        file.seek(0)
        same = np.array_equal(load(file).predict_proba(X), model.predict_proba(X))
        score = float(model.score(X, y))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not same:
        return "the loaded model predicts otherwise than the one that was saved"
    return None if score > 0.9 else f"the accuracy on its own rows is {score:.0%}"


def _text(found: dict[str, Any]) -> str:
    engine = found["engine"]
    lines = [
        f"Python {found['python']} ({sys.executable}) on {found['system']}",
        ", ".join(f"{name} {own}" for name, own in found["versions"].items()),
        f"engine: revision {engine['revision']}, {engine['instruction_set']} instructions, "
        f"{engine['threads']} threads, "
        f"Python {'with' if engine['global_lock'] else 'without'} its global lock",
        "",
    ]
    width = max(map(len, _OPTIONAL))
    for name, (_, purpose) in _OPTIONAL.items():
        own = found["optional"][name]
        state = f"not installed: {found['missing'][name]}" if own is None else own
        lines.append(f"{name:<{width}}  {state}  ({purpose})")
    failure = found["error"]
    lines += [
        "",
        "A small fit, saved and loaded: " + ("works." if failure is None else f"FAILED: {failure}."),
    ]
    return "\n".join(lines)
