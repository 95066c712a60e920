"""What fitted bagging holds."""

from coterie._storage import Fitted, stored_as
from coterie._value_types import (
    ANY,
    COUNT,
    INTEGERS,
    LABELS,
    MODEL,
    NONE,
    NUMBER,
    TEXT,
    array,
    dict_of,
    instance,
    list_of,
)
from coterie.bagging._bagged_trees import KnownOob
from coterie.bagging._bags import Bags
from coterie.bagging._out_of_bag import OobSums
from coterie.bagging._plan import BagFitSignature
from coterie.data.parts import Columns
from coterie.data.schema import Schema
from coterie.fitting.fitted_state import PRUNED_FITTED
from coterie.forests.tree_members import FORESTS, Members
from coterie.members.response import ResponseMethod

_BAGGING: Fitted = {
    **PRUNED_FITTED,
    "estimator_": MODEL,
    "estimators_": list_of(MODEL) | instance(Members),
    "estimators_features_": list_of(INTEGERS),
    "n_estimators_": COUNT,
    "oob_score_": NUMBER,
    "dropped_": dict_of(ANY, TEXT),
    "_bags": instance(Bags),
    "_columns": list_of(instance(Columns) | NONE),
    "_n_tried": COUNT,
    "_numbers": list_of(COUNT),
    "_oob": instance(KnownOob, OobSums) | NONE,
    "_question": instance(ResponseMethod),
    "_schema": instance(Schema) | NONE,
    "_seeds": array("iu"),
    "_trace": instance(BagFitSignature),
    "_trees": stored_as(*FORESTS) | NONE,
}
BAGGING_CLASSIFIER_FITTED: Fitted = {**_BAGGING, "classes_": LABELS, "n_classes_": COUNT}
BAGGING_REGRESSOR_FITTED: Fitted = {**_BAGGING, "n_outputs_": COUNT}
