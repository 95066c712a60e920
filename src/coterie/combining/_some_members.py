"""Ensembles of named members with only some of them left, which are not fitted again."""

import copy
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import Bunch

from coterie._typing import RowArray

Model = TypeVar("Model", bound=Any)

# What is known of rows held out is about all members.
_OUT_OF_FOLD = ("oof_predictions_", "oof_coverage_", "member_scores_", "oof_score_", "oof_score_error_")


def with_named_members(model: Model, places: RowArray) -> Model:
    """A copy with the members at these places; those who are left out are named "drop"."""
    pruned = copy.copy(model)
    for name in _OUT_OF_FOLD:
        pruned.__dict__.pop(name, None)
    kept = np.asarray(places).tolist()
    pruned.estimators_ = [model.estimators_[place] for place in kept]
    pruned._asked = [model._asked[place] for place in kept]
    names = {member.name for member, _ in pruned._asked}
    pruned.named_estimators_ = Bunch(
        **{name: own if name in names else "drop" for name, own in model.named_estimators_.items()}
    )
    return pruned
