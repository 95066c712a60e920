"""Gradient boosting taken apart: its trees, where they start from, and the link of its loss."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import in_short
from coterie._typing import FloatArray
from coterie.data.prepare import prepare_prediction
from coterie.errors import InvalidInput
from coterie.trees.column_readings import readings_of
from coterie.trees.links import Ascending, Logistic, NumberLink, OneClass, Softmax
from coterie.trees.split_counts import split_counts_of, splits_of_forest
from coterie.trees.tree_sum import TreeSum, as_matrix, trees_of_outputs


def boosting_tree_sum(model: Any) -> TreeSum:
    """A fitted model as a sum of trees; refuses what starts from another model, or has a link of its own."""
    check_is_fitted(model, "forest_")
    if model.init_:
        raise InvalidInput(
            f"{type(model).__name__}(init={in_short(model.init)}) starts from the predictions of another model, which "
            "is no tree.",
            parameter="init",
            received=model.init,
            allowed="None",
            hint="Fit it with init=None.",
        )
    has_classes = hasattr(model, "classes_")
    if has_classes and isinstance(model.classes_, list):
        raise InvalidInput(
            f"This {type(model).__name__} was fitted to {len(model.classes_)} labels at once, which no other format is "
            "written for.",
            parameter="model",
            received=len(model.classes_),
            allowed="a model of one target of classes",
            hint="Fit a model of each label and export these, or save the model with coterie.save.",
        )
    return TreeSum(
        type(model).__name__,
        readings_of(model.schema_, model.encoder_, model.statistics_),
        trees_of_outputs(model.forest_),
        np.asarray(model.baseline_, dtype=np.float64),
        _link_of(model),
        (model.classes_,) if has_classes else (),
    )


def boosting_features(model: Any, X: Any) -> FloatArray:
    """The matrix that trees see; target statistics are the last columns."""
    check_is_fitted(model, "forest_")
    encoded = prepare_prediction(model, X)
    return as_matrix(model.statistics_.extend(encoded) if model.statistics_ else encoded)


def boosting_split_counts(model: Any) -> FloatArray:
    """Splits on each column; those on target statistics count for the columns that they were made from."""
    check_is_fitted(model, "forest_")
    made_from = model.statistics_.features if model.statistics_ else []
    return split_counts_of(splits_of_forest(model.forest_), model.n_features_in_, made_from)


def _link_of(model: Any) -> Any:
    """The inverse link of the model's loss; a loss that has no name for it cannot be exported."""
    has_classes = hasattr(model, "classes_")
    if has_classes and len(model.classes_) == 1:
        return OneClass()
    loss = model._loss()
    match loss.export_link:
        case "softmax":
            return Softmax()
        case "ascending":
            return Ascending()
        case "logistic" if has_classes:
            return Logistic(loss.log_odds_scale, second="score > 0")
        case "identity" | "exp" | "logistic" as name:
            return NumberLink(name)
    raise InvalidInput(
        f"loss={in_short(model.loss)} has an inverse link that no other format can hold.",
        parameter="loss",
        received=model.loss,
        hint="Of a CustomLoss it is a function of Python: fit with inverse_link=None, export the raw predictions, and "
        "apply the function to them.",
    )
