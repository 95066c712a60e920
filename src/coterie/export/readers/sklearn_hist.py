"""Histogram gradient boosting of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from coterie._typing import AnyArray
from coterie.errors import ModelFileError
from coterie.export.readers.assemble import Findings
from coterie.export.readers.category_sets import CategorySet
from coterie.export.readers.raw_tree import RawTree
from coterie.export.readers.table_reader import Labels
from coterie.trees.links import Logistic, NumberLink, Softmax

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
