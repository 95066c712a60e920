"""Every ensemble method, one engine.

Names are imported when they are first used, so `import coterie` costs next to nothing beside scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie import committee as committee
    from coterie import datasets as datasets
    from coterie import diagnostics as diagnostics
    from coterie import ensemble as ensemble
    from coterie import errors as errors
    from coterie import explain as explain
    from coterie import export as export
    from coterie import files as files
    from coterie import losses as losses
    from coterie import mlflow as mlflow
    from coterie import plots as plots
    from coterie import report as report
    from coterie.adaboost import AdaBoostClassifier, AdaBoostRegressor, AnyBoostClassifier, AnyBoostRegressor
    from coterie.bagging import BaggingClassifier, BaggingRegressor
    from coterie.boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from coterie.combining import (
        BlendingClassifier,
        BlendingRegressor,
        OutputCodeClassifier,
        SelectionClassifier,
        SelectionRegressor,
        StackingClassifier,
        StackingRegressor,
        TunedThresholdClassifier,
        VotingClassifier,
        VotingRegressor,
        prune,
    )
    from coterie.committee import CommitteeClassifier, CommitteeRegressor, compare
    from coterie.data.streaming.scan import scan
    from coterie.data.table_files.read_table import read_table
    from coterie.distributed.settings import cluster_settings
    from coterie.files import inspect_file, load, save
    from coterie.fitting.checkpoint import Checkpoint
    from coterie.forests import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        IsolationForest,
        RandomForestClassifier,
        RandomForestRegressor,
        RandomTreesEmbedding,
    )
    from coterie.networks import NeuralNetworkClassifier, NeuralNetworkRegressor
    from coterie.patch import patch_sklearn
    from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor

    __version__: str

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AnyBoostClassifier",
    "AnyBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BlendingClassifier",
    "BlendingRegressor",
    "Checkpoint",
    "CommitteeClassifier",
    "CommitteeRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "IsolationForest",
    "NeuralNetworkClassifier",
    "NeuralNetworkRegressor",
    "OutputCodeClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
    "SelectionClassifier",
    "SelectionRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "TunedThresholdClassifier",
    "VotingClassifier",
    "VotingRegressor",
    "cluster_settings",
    "compare",
    "inspect_file",
    "load",
    "patch_sklearn",
    "prune",
    "read_table",
    "save",
    "scan",
]

# Where each name is defined: the first package of these that lists it.
_PACKAGES = {
    "adaboost": ("AdaBoost", "AnyBoost"),
    "bagging": ("Bagging",),
    "boosting": ("GradientBoosting",),
    "combining": ("Blending", "OutputCode", "Selection", "Stacking", "TunedThreshold", "Voting", "prune"),
    "committee": ("Committee", "compare"),
    "data.streaming.scan": ("scan",),
    "data.table_files.read_table": ("read_table",),
    "distributed.settings": ("cluster_settings",),
    "files": ("inspect_file", "load", "save"),
    "fitting.checkpoint": ("Checkpoint",),
    "forests": ("ExtraTrees", "IsolationForest", "RandomForest", "RandomTrees"),
    "networks": ("NeuralNetwork",),
    "patch": ("patch_sklearn",),
    "trees": ("DecisionTree",),
}
_REACHABLE = (
    "committee",
    "datasets",
    "diagnostics",
    "ensemble",
    "errors",
    "explain",
    "export",
    "files",
    "losses",
    "mlflow",
    "plots",
    "report",
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("coterie")
    if name in _REACHABLE:
        return import_module(f"coterie.{name}")
    if name in __all__:
        for package, beginnings in _PACKAGES.items():
            if name.startswith(beginnings):
                value = getattr(import_module(f"coterie.{package}"), name)
                globals()[name] = value
                return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_REACHABLE, "__version__"})
