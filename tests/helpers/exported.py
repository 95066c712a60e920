"""Models to export, tables to ask them about, and their answers in other formats."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import coterie
from coterie.data.prepare import read_table
from coterie.datasets import make_messy
from coterie.export import feature_matrix, to_onnx, to_treelite
from coterie.losses import CustomLoss

Table = dict[str, Any]


def numbers(n_rows: int = 200, seed: int = 0) -> NDArray[np.float64]:
    """Numbers in single precision, so that both precisions hold them, some of them missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32).astype(np.float64)
    X[:, 2] = rng.integers(0, 5, n_rows)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def classes(X: NDArray[np.float64], n_classes: int) -> NDArray[np.int64]:
    filled = np.nan_to_num(X)
    score = filled[:, 0] + filled[:, 1] * filled[:, 2] / 2
    return np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def targets(X: NDArray[np.float64]) -> NDArray[np.float64]:
    filled = np.nan_to_num(X)
    return filled[:, 0] * 3 + np.sin(filled[:, 1] * 2) + filled[:, 2]


def messy(n_rows: int = 300) -> tuple[Table, NDArray[Any], Table]:
    """Text, dates, flags, numbers and gaps, and the same rows with towns and streets that fit does not see."""
    X, y = make_messy(n_rows)
    new = {name: values.copy() for name, values in X.items()}
    X["town"][:20] = "Łódź"
    new["town"][::7] = "Zork"
    new["street"][::5] = None
    new["condition"][::11] = ""
    return X, y, new


def as_columns(X: Any) -> list[list[Any]]:
    """Rows as an exported model takes them: text, "" where it is missing; dates in days; NaN for other gaps."""
    if not isinstance(X, dict):
        return [column.tolist() for column in np.asarray(X, dtype=np.float64).T]
    table = read_table(X)
    columns = []
    for place in range(table.n_columns):
        column = table.column(place)
        if column.levels is None:
            columns.append(column.values.astype(np.float64).tolist())
            continue
        is_text = any(isinstance(level, str) for level in column.levels)
        gap = "" if is_text else np.nan
        levels = [str(level) if is_text else float(level) for level in column.levels]
        columns.append([gap if code < 0 else levels[code] for code in column.values])
    return columns


def onnx_answers(model: Any, X: Any, dtype: str = "float64") -> dict[str, NDArray[Any]]:
    """What onnxruntime answers, output by output."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(
        to_onnx(model, dtype=dtype).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    columns = as_columns(X)
    inputs = session.get_inputs()
    feed: dict[str, NDArray[Any]]
    if [each.name for each in inputs] == ["X"]:
        feed = {"X": np.array(columns).T.astype(dtype)}
    else:
        feed = {
            each.name: np.array(values, dtype=object if each.type == "tensor(string)" else dtype).reshape(
                -1, 1
            )
            for each, values in zip(inputs, columns, strict=True)
        }
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


def treelite_answers(model: Any, X: Any) -> NDArray[np.float64]:
    """What treelite's own predictor answers, shape (n_rows, targets, classes)."""
    treelite = pytest.importorskip("treelite")
    return np.asarray(treelite.gtil.predict(to_treelite(model), feature_matrix(model, X), nthread=1))


def own_answers(model: Any, X: Any) -> list[NDArray[Any]]:
    """Probabilities of each target, or numbers with a column for each."""
    if hasattr(model, "predict_proba"):
        answers = model.predict_proba(X)
        return answers if isinstance(answers, list) else [answers]
    answers = model.predict(X)
    return [answers.reshape(len(answers), -1)]


def own_loss() -> CustomLoss:
    """Squared error, written by hand."""
    return CustomLoss(
        value=lambda y, score: (y - score) ** 2 / 2,
        gradient=lambda y, score: score - y,
        hessian=lambda y, score: np.ones_like(y + score),
    )


def models_of_numbers() -> dict[str, tuple[Any, Any]]:
    """Models by name, not fitted, with their targets for `numbers()`."""
    X = numbers()
    two, three, y = classes(X, 2), classes(X, 3), targets(X)
    names = np.array(["low", "mid", "high"])[three]
    boost = {"n_estimators": 8, "random_state": 0}
    some = {"n_estimators": 7, "random_state": 0}
    both = np.column_stack([y, -y])
    return {
        "boosting, two classes": (coterie.GradientBoostingClassifier(**boost), two),
        "boosting, lines": (coterie.GradientBoostingClassifier(linear_leaves=True, **boost), two),
        "boosting, three classes": (coterie.GradientBoostingClassifier(**boost), names),
        "boosting, three classes, lines": (
            coterie.GradientBoostingClassifier(linear_leaves=True, **boost),
            three,
        ),
        "boosting, exponential": (coterie.GradientBoostingClassifier(loss="exponential", **boost), two == 1),
        "boosting, a loss of one's own": (coterie.GradientBoostingClassifier(loss=own_loss(), **boost), two),
        "boosting, a loss of one's own, numbers": (
            coterie.GradientBoostingRegressor(loss=own_loss(), **boost),
            y,
        ),
        "boosting, one class": (coterie.GradientBoostingClassifier(**boost), np.full(len(X), "all")),
        "boosting, bags": (coterie.GradientBoostingRegressor(n_estimators=5, n_folds=3, random_state=0), y),
        "boosting, oblivious": (coterie.GradientBoostingRegressor(growth="oblivious", **boost), y),
        "boosting, lines of numbers": (coterie.GradientBoostingRegressor(linear_leaves=True, **boost), y),
        "boosting, several targets": (coterie.GradientBoostingRegressor(**boost), both),
        "boosting, constant": (coterie.GradientBoostingRegressor(**boost), np.full(len(X), 3.0)),
        "forest, two classes": (coterie.RandomForestClassifier(**some), two),
        "forest, labels": (coterie.RandomForestClassifier(**some), names),
        "forest, several targets of classes": (
            coterie.RandomForestClassifier(**some),
            np.column_stack([two, three]),
        ),
        "forest, numbers": (coterie.RandomForestRegressor(**some), y),
        "forest, large numbers": (coterie.RandomForestRegressor(**some), y * 1e12),
        "forest, several targets": (coterie.RandomForestRegressor(**some), both),
        "extra trees, classes": (coterie.ExtraTreesClassifier(**some), three),
        "extra trees, numbers": (coterie.ExtraTreesRegressor(**some), y),
        "tree, classes": (coterie.DecisionTreeClassifier(random_state=0), three),
        "tree, numbers": (coterie.DecisionTreeRegressor(random_state=0), y),
        "tree, one leaf": (coterie.DecisionTreeRegressor(), np.full(len(X), -2.5)),
        "tree, one class": (coterie.DecisionTreeClassifier(), np.zeros(len(X), dtype=int)),
        "bagging, classes": (coterie.BaggingClassifier(random_state=0), three),
        "bagging, numbers": (coterie.BaggingRegressor(random_state=0), y),
        "AdaBoost, two classes": (coterie.AdaBoostClassifier(n_estimators=15), two),
        "AdaBoost, three classes": (coterie.AdaBoostClassifier(n_estimators=15), three),
        "AdaBoost, real": (coterie.AdaBoostClassifier(algorithm="real", n_estimators=15), three),
        "AdaBoost, one class": (coterie.AdaBoostClassifier(), np.zeros(len(X), dtype=int)),
    }


def models_of_losses() -> dict[str, tuple[Any, Any]]:
    """A regressor for each loss."""
    y = targets(numbers())
    given = {
        "absolute_error": y,
        "huber": y,
        "quantile": y,
        "expectile": y,
        "poisson": np.round(np.abs(y)),
        "gamma": np.abs(y) + 0.1,
        "tweedie": np.maximum(y, 0),
        "cross_entropy": 1 / (1 + np.exp(-y)),
    }
    return {
        loss: (coterie.GradientBoostingRegressor(loss=loss, n_estimators=8, random_state=0), own)
        for loss, own in given.items()
    }


def models_of_messy() -> dict[str, Any]:
    """Models of text and categories."""
    boost = {"n_estimators": 6, "random_state": 0}
    return {
        "boosting": coterie.GradientBoostingClassifier(target_statistics="none", **boost),
        "boosting, statistics": coterie.GradientBoostingClassifier(target_statistics="columns", **boost),
        "boosting, pairs": coterie.GradientBoostingClassifier(target_statistics="pairs", **boost),
        "forest": coterie.RandomForestClassifier(5, random_state=0),
        "tree": coterie.DecisionTreeClassifier(random_state=0),
        "AdaBoost": coterie.AdaBoostClassifier(n_estimators=15),
    }
