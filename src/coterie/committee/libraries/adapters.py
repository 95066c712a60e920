"""What each library needs: from rows to a model as bytes in its own format, and from such bytes to predictions.

Every adapter is three functions on arrays. All boost with steps of 0.05 and stop when rows held out no longer get
better. Who wants other settings adds an estimator as a tuple (name, estimator).
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie._optional import need
from coterie._typing import FloatArray

_MOST_ROUNDS = 1000
_PATIENCE = 50
_LEARNING_RATE = 0.05


@dataclass(frozen=True)
class WeightedRows:
    """Rows to learn from, or to stop by: a matrix, codes of classes or numbers, and weights."""

    X: FloatArray
    y: FloatArray
    weight: FloatArray


@dataclass(frozen=True)
class LibraryTask:
    """What is fitted. `n_classes` is 0 for numbers; `n_threads` 0 leaves it to the library."""

    n_classes: int
    seed: int
    n_threads: int

    def objective(self, number: str, binary: str, several: str) -> str:
        """The name of the loss that fits the target."""
        return number if self.n_classes == 0 else binary if self.n_classes == 2 else several


@dataclass(frozen=True)
class Adapter:
    """A library by the name of its package.

    Attributes
    ----------
    fit : rows to learn from, rows to stop by and the task become the bytes of a model
    load : the same bytes become the model
    predict : a model and a matrix become numbers or probabilities, in any shape with a row for each
    """

    package: str
    fit: Callable[[WeightedRows, WeightedRows, LibraryTask], bytes]
    load: Callable[[bytes], Any]
    predict: Callable[[Any, FloatArray, bool], FloatArray]


def library_module(package: str) -> Any:
    """The module, or an error that says how to install it."""
    return need(package, purpose=f"The member {package!r}")


def _fit_lightgbm(learn: WeightedRows, stop: WeightedRows, task: LibraryTask) -> bytes:
    lightgbm = library_module("lightgbm")
    params: dict[str, Any] = {
        "objective": task.objective("regression", "binary", "multiclass"),
        "learning_rate": _LEARNING_RATE,
        "seed": task.seed,
        "num_threads": task.n_threads,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    if task.n_classes > 2:
        params["num_class"] = task.n_classes
    rows = lightgbm.Dataset(learn.X, learn.y, weight=learn.weight)
    held_out = lightgbm.Dataset(stop.X, stop.y, weight=stop.weight, reference=rows)
    patience = lightgbm.early_stopping(_PATIENCE, verbose=False)
    booster = lightgbm.train(params, rows, _MOST_ROUNDS, valid_sets=[held_out], callbacks=[patience])
    return str(booster.model_to_string(num_iteration=booster.best_iteration)).encode()


def _fit_xgboost(learn: WeightedRows, stop: WeightedRows, task: LibraryTask) -> bytes:
    xgboost = library_module("xgboost")
    params: dict[str, Any] = {
        "objective": task.objective("reg:squarederror", "binary:logistic", "multi:softprob"),
        "learning_rate": _LEARNING_RATE,
        "seed": task.seed,
        "nthread": task.n_threads,
        "verbosity": 0,
    }
    if task.n_classes > 2:
        params["num_class"] = task.n_classes
    rows, held_out = (xgboost.DMatrix(own.X, own.y, weight=own.weight) for own in (learn, stop))
    booster = xgboost.train(
        params,
        rows,
        _MOST_ROUNDS,
        evals=[(held_out, "held_out")],
        early_stopping_rounds=_PATIENCE,
        verbose_eval=False,
    )
    return bytes(booster[: booster.best_iteration + 1].save_raw("ubj"))


def _load_xgboost(content: bytes) -> Any:
    booster = library_module("xgboost").Booster()
    booster.load_model(bytearray(content))
    return booster


def _fit_catboost(learn: WeightedRows, stop: WeightedRows, task: LibraryTask) -> bytes:
    catboost = library_module("catboost")
    model = catboost.CatBoost(
        {
            "loss_function": task.objective("RMSE", "Logloss", "MultiClass"),
            "iterations": _MOST_ROUNDS,
            "learning_rate": _LEARNING_RATE,
            "random_seed": task.seed,
            "thread_count": task.n_threads or -1,
            "allow_writing_files": False,
            "logging_level": "Silent",
            "od_type": "Iter",
            "od_wait": _PATIENCE,
        }
    )
    rows, held_out = (catboost.Pool(own.X, own.y, weight=own.weight) for own in (learn, stop))
    model.fit(rows, eval_set=held_out, use_best_model=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model.cbm"
        model.save_model(str(place))
        return place.read_bytes()


ADAPTERS = {
    "lightgbm": Adapter(
        "lightgbm",
        _fit_lightgbm,
        lambda content: library_module("lightgbm").Booster(model_str=content.decode()),
        lambda model, X, _: np.asarray(model.predict(X)),
    ),
    "xgboost": Adapter(
        "xgboost",
        _fit_xgboost,
        _load_xgboost,
        lambda model, X, _: np.asarray(model.predict(library_module("xgboost").DMatrix(X))),
    ),
    "catboost": Adapter(
        "catboost",
        _fit_catboost,
        lambda content: library_module("catboost").CatBoost().load_model(blob=content),
        lambda model, X, of_classes: np.asarray(
            model.predict(X, prediction_type="Probability" if of_classes else "RawFormulaVal")
        ),
    ),
}
