"""A fitted model of boosting, cut off after some of its rounds."""

import copy
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie.boosting._dropout import check_staged
from coterie.fitting.first_rounds import check_first

__all__ = ["first_rounds"]

Model = TypeVar("Model", bound=Any)

# What was found out with all rounds.
_OF_ALL_ROUNDS = ("_trace", "_as_grown", "oob_score_", "oof_prediction_", "oof_proba_")


def first_rounds(model: Model, n_rounds: int) -> Model:
    """A copy whose forest ends after these rounds; the model stays as it is."""
    check_is_fitted(model, "forest_")
    n_rounds = check_first("n_rounds", n_rounds, model.n_estimators_)
    if n_rounds < model.n_estimators_:
        check_staged(model.dropout_rate)
    short = copy.copy(model)
    for name in _OF_ALL_ROUNDS:
        short.__dict__.pop(name, None)
    short.forest_ = copy.deepcopy(model.forest_)
    n_trees = sum(int((model.rounds_ > number).sum()) for number in range(n_rounds))
    short.forest_.truncate(n_trees * model.forest_.n_outputs)
    short.rounds_ = np.minimum(model.rounds_, n_rounds)
    short.n_estimators_ = n_rounds
    return short
