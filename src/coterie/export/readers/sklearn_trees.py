"""Decision trees, forests and gradient boosting of scikit-learn.

They round values to single precision, and values up to the threshold go left.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor

from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import MODEL, NONE, NUMBER
from coterie.data.encoding import Encoded
from coterie.errors import ModelFileError
from coterie.export.readers.assemble import Findings
from coterie.export.readers.raw_tree import RawTree
from coterie.export.readers.single_precision import at_most
from coterie.trees.links import Logistic, NumberLink, Shares, Softmax


def forest_findings(model: Any) -> Findings:
    """A decision tree, a random forest or extra trees, taken apart."""
    members = getattr(model, "estimators_", [model])
    if is_classifier(model) and model.n_outputs_ > 1:
        raise ModelFileError(
            f"{type(model).__name__} has {model.n_outputs_} outputs, each with classes of its own; expected one.",
            parameter="n_outputs_",
            received=model.n_outputs_,
            allowed="1",
            hint="Train one classifier for each output.",
        )
    values = [_leaf_values(member) for member in members]
    return Findings(
        source="scikit-learn",
        objective=str(model.criterion),
        trees=[_raw_tree(member.tree_, value, 0) for member, value in zip(members, values, strict=True)],
        n_columns=model.n_features_in_,
        link=Shares() if is_classifier(model) else NumberLink(),
        start=np.zeros(values[0].shape[1]),
        n_outputs=values[0].shape[1],
        divisor=float(len(members)),
        names=getattr(model, "feature_names_in_", None),
        classes=getattr(model, "classes_", None),
        single=True,
    )


def _leaf_values(member: Any) -> FloatArray:
    """Of each node: shares of the classes, or the number for each output."""
    value = np.asarray(member.tree_.value, dtype=np.float64)
    return value[:, 0, :] if is_classifier(member) else value[:, :, 0]


def boosting_findings(model: Any) -> Findings:
    """`GradientBoostingClassifier` or `GradientBoostingRegressor`, taken apart."""
    n_outputs = model.estimators_.shape[1]
    trees = [
        _raw_tree(member.tree_, model.learning_rate * member.tree_.value[:, :, 0], output)
        for by_output in model.estimators_
        for output, member in enumerate(by_output)
    ]
    return Findings(
        source="scikit-learn",
        objective=str(model.loss),
        trees=trees,
        n_columns=model.n_features_in_,
        link=_link(model, n_outputs),
        start=_start(model, n_outputs),
        n_outputs=n_outputs,
        names=getattr(model, "feature_names_in_", None),
        classes=getattr(model, "classes_", None),
        single=True,
    )


def _link(model: Any, n_outputs: int) -> Any:
    if not is_classifier(model):
        return NumberLink()
    if n_outputs > 1:
        return Softmax()
    return Logistic(2.0 if model.loss == "exponential" else 1.0, second="score >= 0")


@storable("import.InitModel", {"model": MODEL, "scale": NUMBER | NONE})
@dataclass(frozen=True)
class InitModel:
    """The scores of a model that the boosting starts from."""

    model: Any
    scale: float | None  # of the logistic link; None if predictions are scores

    def __call__(self, encoded: Encoded) -> FloatArray:
        return self.scores(_single_matrix(encoded))

    def scores(self, X: AnyArray) -> FloatArray:
        if self.scale is None:
            return np.asarray(self.model.predict(X), dtype=np.float64).reshape(len(X), -1)
        tiny = np.finfo(np.float64).eps
        shares = np.clip(np.asarray(self.model.predict_proba(X), dtype=np.float64), tiny, 1 - tiny)
        if shares.shape[1] == 2:
            return np.asarray(logit(shares[:, 1:]) / self.scale)
        middle = np.exp(np.log(shares).mean(axis=1, keepdims=True))
        return np.asarray(np.log(shares / middle))


def _single_matrix(encoded: Encoded) -> AnyArray:
    values = encoded.values
    with np.errstate(over="ignore"):
        if isinstance(values, list):
            return np.stack([column.astype(np.float32) for column in values], axis=1)
        return values.astype(np.float32)


def _start(model: Any, n_outputs: int) -> Any:
    init = model.init_
    if isinstance(init, str):  # "zero"
        return np.zeros(n_outputs)
    scale = None
    if is_classifier(model):
        scale = 2.0 if model.loss == "exponential" else 1.0
    start = InitModel(init, scale)
    if isinstance(init, DummyClassifier | DummyRegressor) and not _draws(init):
        return start.scores(np.zeros((1, model.n_features_in_), dtype=np.float32))[0]
    return start


def _draws(init: Any) -> bool:
    return isinstance(init, DummyClassifier) and init.strategy in ("stratified", "uniform")


def _raw_tree(tree: Any, value: FloatArray, output: int) -> RawTree:
    is_leaf = tree.children_left < 0
    return RawTree(
        column=np.where(is_leaf, -1, tree.feature),
        threshold=at_most(np.where(is_leaf, 0.0, tree.threshold)),
        missing_left=tree.missing_go_to_left != 0,
        left=tree.children_left,
        right=tree.children_right,
        value=value,
        leaf_id=np.arange(tree.node_count),
        output=output,
    )
