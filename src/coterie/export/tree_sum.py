"""What every model of trees is to another format: columns that become features, trees that are added up, and a link.

    scores  = (start + sum of the trees) / divisor * unit
    answers = link(scores)

`tree_sum_of` takes a model of coterie apart, or an imported one, and refuses what is no such sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.adaboost._predictions import BaseAdaBoost
from coterie.adaboost._rounds import scores_of_shares
from coterie.adaboost._stumps import stump_shares
from coterie.bagging._base import BaggingBase
from coterie.boosting._base import BaseGradientBoosting
from coterie.errors import InvalidInput, InvalidType
from coterie.export.column_readings import Readings, readings_of, readings_of_imported
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.links import Logistic, NumberLink, Shares, Softmax
from coterie.export.writers.flat_tree import FlatTree, flat_tree, stump_tree
from coterie.forests.base import ForestBase
from coterie.trees.criterion_tree import CriterionTree

__all__ = ["Ascending", "OneClass", "TreeSum", "owner_of_trees", "tree_sum_of"]


@dataclass(frozen=True)
class Ascending:
    """Several quantiles: the scores in ascending order."""


@dataclass(frozen=True)
class OneClass:
    """All rows are of the one class that there is."""


@dataclass(frozen=True)
class TreeSum:
    """A model of trees, taken apart.

    Attributes
    ----------
    name : of the model's class, for messages.
    readings : from columns to features.
    classes : labels of each target; empty for numbers.
    """

    name: str
    readings: Readings
    trees: Sequence[FlatTree]
    start: FloatArray
    link: Any
    classes: tuple[AnyArray, ...] = ()
    divisor: float = 1.0
    unit: float = 1.0

    @property
    def n_outputs(self) -> int:
        return len(self.start)


def tree_sum_of(model: Any) -> TreeSum:
    """The model as a sum of trees, or an error that says why it is none."""
    owner = owner_of_trees(model)
    take_apart = next(way for kind, way in _KINDS.items() if isinstance(owner, kind))
    return replace(take_apart(owner), name=type(model).__name__)


def owner_of_trees(model: Any) -> Any:
    """The model itself, fitted and of trees; of bagged trees that grew together, the forest that they are."""
    if isinstance(model, BaggingBase):
        return _forest_of_bags(model)
    if isinstance(model, BaseAdaBoost):
        return _of_stumps(model)
    if isinstance(model, ImportedClassifier | ImportedRegressor):
        empty = "This %(name)s is empty: coterie.export.import_model makes full ones."
        check_is_fitted(model, "forest_", msg=empty)
        return model
    if isinstance(model, BaseGradientBoosting | ForestBase | CriterionTree):
        check_is_fitted(model, "tree_" if isinstance(model, CriterionTree) else "forest_")
        return model
    raise InvalidType(
        f"{in_short(model)} is no model of trees. Export takes gradient boosting, forests, extra trees, decision "
        "trees, bagged trees and AdaBoost of coterie, and what import_model makes of models of other libraries."
    )


def _of_boosting(model: Any) -> TreeSum:
    if model.init_:
        raise InvalidInput(
            f"{type(model).__name__}(init={in_short(model.init)}) starts from the predictions of another model, which "
            "is no tree. Fit it with init=None."
        )
    has_classes = hasattr(model, "classes_")
    return TreeSum(
        type(model).__name__,
        readings_of(model.schema_, model.encoder_, model.statistics_),
        _trees(model.forest_),
        np.asarray(model.baseline_, dtype=np.float64),
        _link_of(model),
        (model.classes_,) if has_classes else (),
    )


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


def _of_forest(model: Any) -> TreeSum:
    forest = model.forest_
    return TreeSum(
        type(model).__name__,
        readings_of(model.schema_, model.encoder_),
        [flat_tree(forest.tree(place)) for place in range(len(forest))],
        np.zeros(forest.n_columns),
        *_shares_or_numbers(model),
        divisor=float(len(forest)),
        unit=float(model._unit),
    )


def _of_tree(model: Any) -> TreeSum:
    native = model.tree_.native
    return TreeSum(
        type(model).__name__,
        readings_of(model.schema_, model.encoder_),
        [flat_tree(native)],
        np.zeros(native.n_outputs),
        *_shares_or_numbers(model),
    )


def _shares_or_numbers(model: Any) -> tuple[Any, tuple[AnyArray, ...]]:
    if not hasattr(model, "classes_"):
        return NumberLink(), ()
    classes = model.classes_
    return Shares(), tuple(classes) if isinstance(classes, list) else (classes,)


def _forest_of_bags(model: Any) -> Any:
    check_is_fitted(model, "estimators_")
    if model._trees is None:
        raise InvalidInput(
            f"The members of this {type(model).__name__} did not grow together, and are models of their own. Export "
            "takes bagged DecisionTree* of coterie that see all columns, as numbers, and vote with probabilities: "
            "leave estimator=None, max_features=1.0 and voting='auto'. For categories use RandomForest*."
        )
    return model._trees


def _of_stumps(model: Any) -> Any:
    check_is_fitted(model, "estimators_")
    if not model._by_stumps:
        raise InvalidInput(
            f"{type(model).__name__}(estimator={in_short(model.estimator)}): the members are models of their own. "
            "Export takes AdaBoost of stumps: fit it with estimator=None."
        )
    return model


def _of_adaboost(model: Any) -> TreeSum:
    steps = [
        vote * scores_of_shares(stump_shares(stump, model._algorithm))
        for stump, vote in zip(model.estimators_, model.estimator_weights_, strict=True)
    ]
    n_classes = len(model.classes_)
    link: Any = OneClass() if n_classes == 1 else Logistic(2.0, second="score > 0")
    return TreeSum(
        type(model).__name__,
        readings_of(model.schema_, model.encoder_),
        [stump_tree(stump, step) for stump, step in zip(model.estimators_, steps, strict=True)],
        np.zeros(model._n_scores()),
        link if n_classes <= 2 else Softmax(),
        (model.classes_,),
        unit=1.0 if n_classes <= 2 else 2.0,  # the link is the softmax of twice the votes
    )


def _of_imported(model: Any) -> TreeSum:
    recipe = model.recipe_
    if callable(recipe.start):
        raise InvalidInput(
            f"The {model.source_} model starts from the predictions of another model (init), which is no tree. Train "
            "it without init."
        )
    start = np.zeros(model.forest_.n_outputs)
    start[:] = recipe.start
    return TreeSum(
        type(model).__name__,
        readings_of_imported(recipe.reader),
        _trees(model.forest_),
        start,
        model.link_,
        (model.classes_,) if hasattr(model, "classes_") else (),
        divisor=float(recipe.divisor),
    )


def _trees(forest: Any) -> list[FlatTree]:
    return [flat_tree(forest.tree(place), forest.first_output(place)) for place in range(len(forest))]


_KINDS: dict[type, Callable[[Any], TreeSum]] = {
    BaseGradientBoosting: _of_boosting,
    ForestBase: _of_forest,
    CriterionTree: _of_tree,
    BaseAdaBoost: _of_adaboost,
    ImportedClassifier: _of_imported,
    ImportedRegressor: _of_imported,
}
