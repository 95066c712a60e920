"""Models of scikit-learn: decision trees, forests, gradient boosting, and gradient boosting on histograms.

Trees that are not grown on histograms round values to single precision, and values up to the threshold go left.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn import ensemble, tree
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.validation import check_is_fitted

from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import MODEL, NONE, NUMBER
from coterie.data.encoding import Encoded
from coterie.errors import InvalidType, ModelFileError
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.readers.assemble import Findings, assemble
from coterie.export.readers.raw_tree import CategorySet, RawTree, at_most
from coterie.export.readers.table_reader import Labels
from coterie.trees.links import Logistic, NumberLink, Shares, Softmax


def forest_findings(model: Any) -> Findings:
    """A decision tree, a random forest or extra trees, taken apart."""
    members = getattr(model, "estimators_", [model])
    if is_classifier(model) and model.n_outputs_ > 1:
        raise ModelFileError.expecting(
            f"{type(model).__name__} has {model.n_outputs_} outputs, each with classes of its own",
            "1",
            "n_outputs_",
            model.n_outputs_,
            hint="Train one classifier for each output.",
        )
    values = [_leaf_values(member) for member in members]
    return Findings(
        source="scikit-learn",
        objective=str(model.criterion),
        trees=[_raw_tree_of(member.tree_, value, 0) for member, value in zip(members, values, strict=True)],
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
        _raw_tree_of(member.tree_, model.learning_rate * member.tree_.value[:, :, 0], output)
        for by_output in model.estimators_
        for output, member in enumerate(by_output)
    ]
    return Findings(
        source="scikit-learn",
        objective=str(model.loss),
        trees=trees,
        n_columns=model.n_features_in_,
        link=_link_of(model, n_outputs),
        start=_start(model, n_outputs),
        n_outputs=n_outputs,
        names=getattr(model, "feature_names_in_", None),
        classes=getattr(model, "classes_", None),
        single=True,
    )


def _link_of(model: Any, n_outputs: int) -> Any:
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


def _raw_tree_of(tree: Any, value: FloatArray, output: int) -> RawTree:
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


_LINKS = {
    "squared_error": "identity",
    "absolute_error": "identity",
    "quantile": "identity",
    "poisson": "exp",
    "gamma": "exp",
}


def hist_findings(model: Any) -> Findings:
    """`HistGradientBoostingClassifier` or `HistGradientBoostingRegressor`, taken apart."""
    n_outputs = model.n_trees_per_iteration_
    column = _columns(model)
    trees = [
        _raw_tree(predictor, output, column)
        for by_output in model._predictors
        for output, predictor in enumerate(by_output)
    ]
    return Findings(
        source="scikit-learn",
        objective=str(model.loss),
        trees=trees,
        n_columns=model.n_features_in_,
        link=_link(model, n_outputs),
        start=np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1),
        n_outputs=n_outputs,
        names=getattr(model, "feature_names_in_", None),
        classes=getattr(model, "classes_", None),
        labels=Labels(by_column=_labels(model), for_numbers=True),
    )


def _link(model: Any, n_outputs: int) -> Any:
    if is_classifier(model):
        return Logistic(second="score > 0") if n_outputs == 1 else Softmax()
    if not isinstance(model.loss, str) or model.loss not in _LINKS:
        raise ModelFileError(
            f"{type(model).__name__}(loss={model.loss!r}) cannot be imported; expected one of {', '.join(_LINKS)}.",
            parameter="loss",
            received=model.loss,
            allowed=", ".join(_LINKS),
        )
    return NumberLink(_LINKS[model.loss])


def _columns(model: Any) -> AnyArray:
    """The column of each of the model's features: it puts categories first."""
    if model.is_categorical_ is None:
        return np.arange(model.n_features_in_)
    return np.argsort(~model.is_categorical_, kind="stable")


def _labels(model: Any) -> dict[int, list[Any]]:
    """The categories of a column in the order of the codes that the model's encoder gives them."""
    if model.is_categorical_ is None:
        return {}
    encoder = model._preprocessor.named_transformers_["encoder"]
    columns = np.flatnonzero(model.is_categorical_).tolist()
    return {
        column: categories.tolist() for column, categories in zip(columns, encoder.categories_, strict=True)
    }


def _raw_tree(predictor: Any, output: int, column: AnyArray) -> RawTree:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"] != 0
    by_category = (nodes["is_categorical"] != 0) & ~is_leaf
    bits = np.asarray(predictor.raw_left_cat_bitsets, dtype="<u4")
    sets = {}
    for node in np.flatnonzero(by_category).tolist():
        own = np.unpackbits(bits[nodes["bitset_idx"][node]].view(np.uint8), bitorder="little")
        sets[node] = CategorySet(tuple(np.flatnonzero(own).tolist()))
    return RawTree(
        column=np.where(is_leaf, -1, column[np.where(is_leaf, 0, nodes["feature_idx"])]),
        threshold=np.where(by_category, 0.0, nodes["num_threshold"]),
        missing_left=nodes["missing_go_to_left"] != 0,
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        value=nodes["value"].reshape(-1, 1),
        leaf_id=np.arange(len(nodes)),
        output=output,
        sets=sets,
    )


_READERS: dict[type, Callable[[Any], Findings]] = {
    tree.DecisionTreeClassifier: forest_findings,
    tree.DecisionTreeRegressor: forest_findings,
    ensemble.RandomForestClassifier: forest_findings,
    ensemble.RandomForestRegressor: forest_findings,
    ensemble.ExtraTreesClassifier: forest_findings,
    ensemble.ExtraTreesRegressor: forest_findings,
    ensemble.GradientBoostingClassifier: boosting_findings,
    ensemble.GradientBoostingRegressor: boosting_findings,
    ensemble.HistGradientBoostingClassifier: hist_findings,
    ensemble.HistGradientBoostingRegressor: hist_findings,
}


def is_sklearn_model(model: Any) -> bool:
    """Whether `from_sklearn` knows this kind of model."""
    return isinstance(model, tuple(_READERS))


def from_sklearn(model: Any) -> ImportedClassifier | ImportedRegressor:
    """A tree, a forest or gradient boosting of scikit-learn, with scikit-learn's predictions.

    Categories and missing values are supported where the model supports them. Rows go down the trees as in
    scikit-learn, to the bit, and scores are added in the same order.

    Parameters
    ----------
    model : estimator, fitted
        `DecisionTree*`, `ExtraTree*`, `RandomForest*`, `ExtraTrees*`, `GradientBoosting*` or `HistGradientBoosting*`,
        classifiers and regressors. Forests and trees for several numbers at once are supported, for several labels at
        once they are not.

    Returns
    -------
    ImportedClassifier or ImportedRegressor

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, np.sqrt(X[:, 0]))
    >>> bool((from_sklearn(model).predict(X) == model.predict(X)).all())
    True
    """
    for kind, findings in _READERS.items():
        if isinstance(model, kind):
            check_is_fitted(model)
            return assemble(findings(model))
    known = ", ".join(kind.__name__ for kind in _READERS)
    raise InvalidType.expecting(
        f"from_sklearn received {type(model).__name__}", f"a fitted {known}", "model", model
    )
