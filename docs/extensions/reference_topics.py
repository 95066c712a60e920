"""The public names by topic: the order of the reference. Every public name stands in one topic."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import coterie

MODULES = (
    "coterie",
    "coterie.committee",
    "coterie.datasets",
    "coterie.diagnostics",
    "coterie.diagnostics.bounds",
    "coterie.ensemble",
    "coterie.errors",
    "coterie.explain",
    "coterie.export",
    "coterie.files",
    "coterie.losses",
    "coterie.mlflow",
    "coterie.plots",
    "coterie.report",
)


@dataclass(frozen=True)
class Topic:
    """A group of names, and the page of the guide about them."""

    key: str
    title: str
    guide: str
    names: tuple[str, ...]


def _pair(name: str) -> list[str]:
    return [f"coterie.{name}Classifier", f"coterie.{name}Regressor"]


def _within(module: str, *names: str) -> tuple[str, ...]:
    return tuple(f"coterie.{module}.{name}" for name in names)


def _rest_of(module: str) -> tuple[str, ...]:
    """All public names of a module, in their order."""
    return tuple(f"{module}.{name}" for name in public_names(module))


def topics() -> list[Topic]:
    return [
        Topic(
            "committees",
            "Committees",
            "guide/committee",
            (*_pair("Committee"), "coterie.compare", *_rest_of("coterie.committee")),
        ),
        Topic("boosting", "Gradient boosting", "guide/gradient_boosting", tuple(_pair("GradientBoosting"))),
        Topic("losses", "Losses", "guide/gradient_boosting", _rest_of("coterie.losses")),
        Topic(
            "forests",
            "Forests and trees",
            "guide/forests",
            (
                *_pair("RandomForest"),
                *_pair("ExtraTrees"),
                *_pair("DecisionTree"),
                "coterie.IsolationForest",
                "coterie.RandomTreesEmbedding",
            ),
        ),
        Topic("networks", "Neural networks", "guide/networks", tuple(_pair("NeuralNetwork"))),
        Topic(
            "adaboost", "AdaBoost and AnyBoost", "guide/adaboost", (*_pair("AdaBoost"), *_pair("AnyBoost"))
        ),
        Topic(
            "combining",
            "Combining models",
            "guide/stacking",
            (
                *_pair("Bagging"),
                *_pair("Voting"),
                *_pair("Stacking"),
                *_pair("Blending"),
                *_pair("Selection"),
                "coterie.OutputCodeClassifier",
                "coterie.TunedThresholdClassifier",
                "coterie.prune",
            ),
        ),
        Topic(
            "tables",
            "Tables, in memory and larger",
            "guide/reading",
            ("coterie.read_table", "coterie.scan", "coterie.cluster_settings", *_rest_of("coterie.datasets")),
        ),
        Topic(
            "files",
            "Files and checkpoints",
            "guide/model-files",
            (
                "coterie.save",
                "coterie.load",
                "coterie.inspect_file",
                "coterie.Checkpoint",
                *_rest_of("coterie.files"),
            ),
        ),
        Topic("explanations", "Explanations", "guide/explain", _rest_of("coterie.explain")),
        Topic(
            "report",
            "Reports",
            "guide/report",
            _rest_of("coterie.report"),
        ),
        Topic("diagnostics", "Diagnostics", "guide/diagnostics", _rest_of("coterie.diagnostics")),
        Topic("bounds", "Bounds of boosting", "guide/margins", _rest_of("coterie.diagnostics.bounds")),
        Topic("plots", "Plots", "guide/diagnostics", _rest_of("coterie.plots")),
        Topic("export", "Import and export", "guide/export", _rest_of("coterie.export")),
        Topic("mlflow", "MLflow", "guide/serving", _rest_of("coterie.mlflow")),
        Topic(
            "scikit-learn",
            "scikit-learn's classes",
            "coming-from/scikit-learn",
            ("coterie.patch_sklearn", *_rest_of("coterie.ensemble")),
        ),
        Topic("errors", "Errors", "guide/installing", _rest_of("coterie.errors")),
    ]


def public_names(module: str) -> list[str]:
    """Names that a module offers: those of `__all__`, or those that it defines."""
    found = import_module(module)
    names = getattr(found, "__all__", None)
    if names is None:
        names = [
            name
            for name, value in vars(found).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == module
        ]
    shown = [
        name
        for name in names
        if inspect.isclass(getattr(found, name)) or inspect.isfunction(getattr(found, name))
    ]
    return [name for name in shown if module == "coterie" or not _is_public_above(name, getattr(found, name))]


def _is_public_above(name: str, value: Any) -> bool:
    """Whether `coterie` itself offers the same object, whose page is there."""
    return name in coterie.__all__ and getattr(coterie, name) is value


def every_public_name() -> Iterator[str]:
    for module in MODULES:
        yield from (f"{module}.{name}" for name in public_names(module))


def found_at(path: str) -> Any:
    """The object of a full name."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def has_example(path: str) -> bool:
    return ">>> " in (inspect.getdoc(found_at(path)) or "")


def makers_of(path: str) -> list[str]:
    """Public functions, and public methods as `Class.method`, that return this class: their examples show it."""
    name = path.rpartition(".")[2]
    word = re.compile(rf"\b{name}\b")
    found = []
    for other in every_public_name():
        thing = found_at(other)
        if inspect.isfunction(thing) and word.search(_returned(thing)) and has_example(other):
            found.append(other)
    return found


def _returned(function: Any) -> str:
    return str(inspect.signature(function).return_annotation)
