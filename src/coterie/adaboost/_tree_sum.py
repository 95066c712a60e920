"""AdaBoost of stumps taken apart: each stump is a tree that adds its vote to the scores of the classes."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import in_short
from coterie._typing import FloatArray
from coterie.adaboost._rounds import scores_of_shares
from coterie.adaboost._stumps import Stump, stump_shares
from coterie.data.prepare import prepare_prediction
from coterie.errors import InvalidInput
from coterie.trees.column_readings import readings_of
from coterie.trees.flat_tree import FlatTree
from coterie.trees.links import Logistic, OneClass, Softmax
from coterie.trees.tree_sum import TreeSum, as_matrix


def adaboost_tree_sum(model: Any) -> TreeSum:
    """A fitted model as a sum of trees; refuses members that are no stumps."""
    _check_stumps(model)
    steps = [
        vote * scores_of_shares(stump_shares(stump, model._algorithm))
        for stump, vote in zip(model.estimators_, model.estimator_weights_, strict=True)
    ]
    n_classes = len(model.classes_)
    link: Any = OneClass() if n_classes == 1 else Logistic(2.0, second="score > 0")
    return TreeSum(
        type(model).__name__,
        readings_of(model.schema_, model.encoder_),
        [_stump_tree(stump, step) for stump, step in zip(model.estimators_, steps, strict=True)],
        np.zeros(1 if n_classes <= 2 else n_classes),
        link if n_classes <= 2 else Softmax(),
        (model.classes_,),
        unit=1.0 if n_classes <= 2 else 2.0,  # the link is the softmax of twice the votes
    )


def adaboost_features(model: Any, X: Any) -> FloatArray:
    """The matrix that stumps see."""
    _check_stumps(model)
    return as_matrix(prepare_prediction(model, X))


def _check_stumps(model: Any) -> None:
    check_is_fitted(model, "estimators_")
    if not model._by_stumps:
        raise InvalidInput(
            f"{type(model).__name__}(estimator={in_short(model.estimator)}): the members are models of their own, and "
            "export takes AdaBoost of stumps.",
            parameter="estimator",
            received=model.estimator,
            allowed="None",
            hint="Fit it with estimator=None.",
        )


def _stump_tree(stump: Stump, step: FloatArray) -> FlatTree:
    """`step` is what the stump adds to the scores on the left and on the right."""
    if stump.feature < 0:
        nothing = np.zeros(1, dtype=np.int64)
        return FlatTree(nothing - 1, np.zeros(1), np.zeros(1, dtype=bool), nothing, nothing, step[:1])
    sets = {} if stump.right_codes is None else {0: np.flatnonzero(~stump.right_codes)}
    return FlatTree(
        feature=np.array([stump.feature, -1, -1]),
        threshold=np.array([stump.threshold, 0.0, 0.0]),
        missing_left=np.array([not stump.missing_right, False, False]),
        left=np.array([1, 0, 0]),
        right=np.array([2, 0, 0]),
        value=np.concatenate([np.zeros_like(step[:1]), step]),
        sets=sets,
    )
