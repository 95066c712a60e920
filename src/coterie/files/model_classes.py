"""Every estimator of coterie: what a fitted one may hold, and what has to fit together."""

from collections.abc import Callable, Mapping
from typing import Any

from sklearn.preprocessing import LabelEncoder

from coterie._engine import Forest, ForestMemory, PackedForest, StumpTable
from coterie.adaboost import AdaBoostClassifier, AdaBoostRegressor, AnyBoostClassifier, AnyBoostRegressor
from coterie.adaboost._training import Log, SettingsOf
from coterie.bagging import BaggingClassifier, BaggingRegressor
from coterie.bagging._bagged_trees import KnownOob
from coterie.bagging._bags import Bags
from coterie.bagging._out_of_bag import OobSums
from coterie.bagging._plan import Trace as BaggingTrace
from coterie.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.combining import (
    BlendingClassifier,
    BlendingRegressor,
    OutputCodeClassifier,
    SelectionClassifier,
    SelectionRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from coterie.combining._combine import RankScales
from coterie.combining._final_estimator import FinalLesson
from coterie.combining.output_code import _OneSide
from coterie.data.encoding import Encoder
from coterie.data.parts import Columns, TableShape
from coterie.data.schema import Schema
from coterie.data.target_statistics import TargetStatistics
from coterie.files.kinds import (
    ANY,
    FLAG,
    MODEL,
    NONE,
    NUMBER,
    TEXT,
    WHOLE,
    Kind,
    array,
    dict_of,
    instance,
    list_of,
    pair_of,
)
from coterie.files.member_classes import FLOATS, FORESTS, LABELS, ROWS
from coterie.files.model_checks import (
    check_boosting,
    check_columns,
    check_forest,
    check_members,
    check_stumps,
    check_tree,
)
from coterie.files.spec import Spec
from coterie.fitting.warm_start import Trace
from coterie.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.forests.out_of_bag import OutOfBag
from coterie.forests.plan import BagPlan
from coterie.forests.tree_members import Members
from coterie.members.fit_members import Member
from coterie.members.out_of_fold import CrossFit, Fold
from coterie.members.response import ResponseMethod
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor
from coterie.trees.grown_tree import GrownTree

__all__ = ["MODEL_CLASSES"]

_Attributes = Mapping[str, Kind]
_NUMBERS = array("f", 1)
# Found again when it is needed; those who watch a fit, and where it keeps checkpoints, have no part in what it learned.
_NOT_STORED = frozenset({"_leaf_targets", "_skl_callbacks", "_parent_callback_ctx", "checkpoint"})
_CLASSES: _Attributes = {"classes_": LABELS | list_of(LABELS), "n_classes_": WHOLE | list_of(WHOLE) | ROWS}
# What scikit-learn itself sets on any estimator, and the path of `coterie.prune`.
_ALL: _Attributes = {
    "n_features_in_": WHOLE,
    "feature_names_in_": array("O", 1),
    "_sklearn_output_config": dict_of(TEXT, TEXT),
    "pruning_path_": dict_of(TEXT, ANY),
}
_TABLE: _Attributes = {**_ALL, "schema_": instance(Schema), "encoder_": instance(Encoder)}

_TREE: _Attributes = {
    **_TABLE,
    **_CLASSES,
    "tree_": instance(GrownTree),
    "n_outputs_": WHOLE,
    "max_features_": WHOLE,
    "_saw_missing": array("b", 1),
}
_FOREST: _Attributes = {
    **_TABLE,
    **_CLASSES,
    "forest_": instance(PackedForest),
    "n_estimators_": WHOLE,
    "n_outputs_": WHOLE,
    "max_features_": WHOLE,
    "oob_score_": NUMBER,
    "_bag": instance(BagPlan),
    "_importance_sum": _NUMBERS,
    "_oob_importance_sum": _NUMBERS | NONE,
    "_memories": list_of(instance(ForestMemory)) | NONE,
    "_oob": instance(OutOfBag) | NONE,
    "_saw_missing": array("b", 1),
    "_trace": instance(Trace),
    "_unit": NUMBER,
}
_BOOSTING: _Attributes = {
    **_TABLE,
    **_CLASSES,
    "forest_": instance(Forest),
    "_as_grown": instance(Forest),
    "n_estimators_": WHOLE,
    "n_outputs_": WHOLE,
    "n_bags_": WHOLE,
    "rounds_": ROWS,
    "bag_weights_": _NUMBERS,
    "baseline_": FLOATS,
    "init_": list_of(MODEL),
    "statistics_": instance(TargetStatistics) | NONE,
    "validation_losses_": FLOATS,
    "validation_scores_": FLOATS,
    "oob_prediction_": FLOATS,
    "oob_decision_function_": FLOATS,
    "_trace": instance(Trace),
}
_ADABOOST: _Attributes = {
    **_TABLE,
    **_CLASSES,
    "estimators_": list_of(MODEL | list_of(MODEL)),
    "estimator_weights_": _NUMBERS,
    "estimator_errors_": _NUMBERS,
    "n_estimators_": WHOLE,
    "stopped_because_": TEXT,
    "_algorithm": TEXT,
    "_by_stumps": FLAG,
    "_log": instance(Log),
    "_settings": instance(SettingsOf),
    "_table": instance(StumpTable) | NONE,
    "_trace": instance(Trace),
    "edges_": _NUMBERS,
    "exponential_loss_": _NUMBERS,
    "method_": TEXT,
    "normalizers_": _NUMBERS,
    "row_weights_": FLOATS,
    "train_errors_": _NUMBERS,
    "validation_errors_": FLOATS,
    "vote_history_": FLOATS | list_of(FLOATS),
    "largest_errors_": _NUMBERS,
}
_ANYBOOST: _Attributes = {
    **_TABLE,
    **_CLASSES,
    "estimators_": array("O", 2) | list_of(MODEL),
    "estimator_weights_": FLOATS,
    "n_estimators_": WHOLE,
    "stopped_because_": TEXT,
    "baseline_": FLOATS,
    "init_": list_of(MODEL) | MODEL | NONE,
    "inner_products_": FLOATS,
    "steps_": FLOATS,
    "train_losses_": FLOATS,
    "validation_losses_": FLOATS,
    "_first_loss": NUMBER,
    "_trace": instance(Trace),
    "_unit": NUMBER,
}
_BAGGING: _Attributes = {
    **_ALL,
    **_CLASSES,
    "estimator_": MODEL,
    "estimators_": list_of(MODEL) | instance(Members),
    "estimators_features_": list_of(ROWS),
    "n_estimators_": WHOLE,
    "n_outputs_": WHOLE,
    "oob_score_": NUMBER,
    "dropped_": dict_of(ANY, TEXT),
    "_bags": instance(Bags),
    "_columns": list_of(instance(Columns) | NONE),
    "_n_tried": WHOLE,
    "_numbers": list_of(WHOLE),
    "_oob": instance(KnownOob, OobSums) | NONE,
    "_question": instance(ResponseMethod),
    "_schema": instance(Schema) | NONE,
    "_seeds": array("iu"),
    "_trace": instance(BaggingTrace),
    "_trees": instance(*FORESTS) | NONE,
}
_NAMED: _Attributes = {
    **_ALL,
    **_CLASSES,
    "estimators_": list_of(MODEL),
    "named_estimators_": dict_of(TEXT, MODEL | TEXT),
    "dropped_": dict_of(TEXT, TEXT),
    "member_scores_": dict_of(TEXT, NUMBER),
    "oof_coverage_": ROWS,
    "oof_predictions_": dict_of(TEXT, FLOATS),
    "oof_score_": NUMBER,
    "oof_score_error_": NUMBER,
    "_asked": list_of(pair_of(instance(Member), instance(ResponseMethod))),
    "_outline": instance(TableShape),
    "_n_outputs": WHOLE,
}
_VOTING: _Attributes = {
    **_NAMED,
    "le_": instance(LabelEncoder),
    "weights_": FLOATS | NONE,
    "_crossed": instance(CrossFit) | NONE,
    "_row_weight": FLOATS | NONE,
    "_scales": instance(RankScales) | NONE,
    "_truth": array("fiub"),
    "_weights": FLOATS | NONE,
}
_STACKING: _Attributes = {
    **_NAMED,
    "final_estimator_": MODEL,
    "stack_method_": list_of(TEXT),
    "leak_guard_": ANY,
    "_features": ANY,
    "_folds_used": list_of(instance(Fold)),
    "_lesson": instance(FinalLesson),
    "_passed": ANY,
    "_widths": list_of(WHOLE),
}
_SELECTION: _Attributes = {
    **_NAMED,
    "candidates_": list_of(TEXT),
    "n_iter_": WHOLE,
    "selection_path_": list_of(dict_of(TEXT, ANY)),
    "weights_": FLOATS,
    "_seed": WHOLE | NONE,
    "_shares": FLOATS,
}
_OUTPUT_CODE: _Attributes = {
    **_ALL,
    **_CLASSES,
    "code_book_": array("fi", 2),
    "estimators_": list_of(MODEL | instance(_OneSide)),
    "separation_": NUMBER,
    "_schema": instance(Schema) | NONE,
    "_shares": FLOATS | NONE,
}


def _estimator(cls: type[Any], state: _Attributes, verify: Callable[[Any], None]) -> Spec:
    return Spec(
        cls.__name__,
        cls,
        state,
        optional=None,
        dropped=_NOT_STORED,
        has_params=True,
        verify=verify,
        param_names=frozenset(cls._get_param_names()),
    )


MODEL_CLASSES = [
    *(_estimator(cls, _TREE, check_tree) for cls in (DecisionTreeClassifier, DecisionTreeRegressor)),
    *(
        _estimator(cls, _FOREST, check_forest)
        for cls in (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
    ),
    *(
        _estimator(cls, _BOOSTING, check_boosting)
        for cls in (GradientBoostingClassifier, GradientBoostingRegressor)
    ),
    *(_estimator(cls, _ADABOOST, check_stumps) for cls in (AdaBoostClassifier, AdaBoostRegressor)),
    *(_estimator(cls, _ANYBOOST, check_columns) for cls in (AnyBoostClassifier, AnyBoostRegressor)),
    *(_estimator(cls, _BAGGING, check_members) for cls in (BaggingClassifier, BaggingRegressor)),
    *(_estimator(cls, _VOTING, check_members) for cls in (VotingClassifier, VotingRegressor)),
    *(
        _estimator(cls, _STACKING, check_members)
        for cls in (StackingClassifier, StackingRegressor, BlendingClassifier, BlendingRegressor)
    ),
    *(_estimator(cls, _SELECTION, check_members) for cls in (SelectionClassifier, SelectionRegressor)),
    _estimator(OutputCodeClassifier, _OUTPUT_CODE, check_columns),
]
