"""Classes of `coterie.ensembles` that estimators keep inside: members, bags, traces, what is known out of bag."""

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelEncoder

from coterie.adaboost._stumps import Stump
from coterie.adaboost._training import Log, SettingsOf
from coterie.bagging._bagged_trees import KnownOob
from coterie.bagging._bags import Bags, ColumnDraws
from coterie.bagging._out_of_bag import OobSums
from coterie.bagging._plan import Trace as BaggingTrace
from coterie.combining._combine import RankScales
from coterie.combining._final_estimator import FinalLesson
from coterie.combining.output_code import _OneSide
from coterie.data.encoding import Encoder
from coterie.data.parts import Columns
from coterie.data.schema import Schema
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
    one_of,
    tuple_of,
)
from coterie.files.spec import Spec, expect
from coterie.fitting.warm_start import Trace
from coterie.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.forests.out_of_bag import OutOfBag
from coterie.forests.plan import BagPlan
from coterie.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from coterie.forests.tree_members import Members
from coterie.members.fit_members import Member
from coterie.members.fold_ensemble import FoldEnsemble
from coterie.members.out_of_fold import CrossFit, Fold
from coterie.members.response import ResponseMethod

__all__ = ["FLOATS", "FORESTS", "LABELS", "MEMBER_CLASSES", "ROWS"]

LABELS = array("OUSiufbmM", 1)
FLOATS = array("f")
_PLACE = Kind("a whole number", lambda value: type(value) is int)
ROWS = array("iu", 1)
FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)


def _check_oob(known: Any) -> None:
    expect(len(known.means) == len(known.coverage), "has means and coverage of different rows")


def _check_sums(sums: Any) -> None:
    n_rows = len(sums.sums)
    same = all(len(own) == n_rows for own in (sums.counts, sums._truth, sums._weight, sums._losses))
    expect(same, "has arrays of different rows")


def _check_bags(bags: Any) -> None:
    expect(len(bags.rows) == len(bags.weight), "has rows and weights of different numbers")
    expect(
        (bags.given is None) == (bags.plan.kind != "given"), "has bags that are given and bags that are drawn"
    )


def _check_stump(stump: Any) -> None:
    n_features = stump.n_features_in_
    expect(-1 <= stump.feature < n_features, f"asks about feature {stump.feature} of {n_features}")
    expect(stump.proba.shape == (2, len(stump.classes_)), "has shares of other classes than its own")
    expect(len(stump.encoder_.n_levels) == n_features, "has an encoder of another table")
    if stump.right_codes is not None:
        expect(
            len(stump.right_codes) == stump.encoder_.n_levels[stump.feature],
            "has sides of other levels than its feature's",
        )


def _check_fold_models(member: Any) -> None:
    expect(len(member.models) > 0, "has no models")


_BAG_KINDS = ("all", "bootstrap", "subsample", "balanced", "partition", "given")

MEMBER_CLASSES = [
    Spec("BagPlan", BagPlan, {"kind": one_of(*_BAG_KINDS), "n_draws": WHOLE, "weight": NUMBER}),
    Spec(
        "Bags",
        Bags,
        {
            "plan": instance(BagPlan),
            "rows": ROWS,
            "weight": FLOATS,
            "strata": ROWS,
            "takes_weight": FLAG,
            "given": list_of(ROWS) | NONE,
        },
        verify=_check_bags,
    ),
    Spec(
        "ColumnDraws",
        ColumnDraws,
        {"n_columns": WHOLE, "n_draws": WHOLE, "names": tuple_of(TEXT) | NONE, "replace": FLAG},
    ),
    Spec(
        "BaggingTrace",
        BaggingTrace,
        {
            "seed": WHOLE,
            "data": TEXT,
            "plan": instance(BagPlan),
            "columns": instance(ColumnDraws) | NONE,
            "follow": FLAG,
        },
    ),
    Spec(
        "Trace",
        Trace,
        {"seed": WHOLE, "settled": dict_of(TEXT, ANY), "digests": dict_of(TEXT, TEXT)},
    ),
    Spec(
        "OutOfBag",
        OutOfBag,
        {"means": array("f", 2), "coverage": ROWS, "errors": array("f", 1)},
        verify=_check_oob,
    ),
    Spec("KnownOob", KnownOob, {"known": instance(OutOfBag)}),
    Spec(
        "OobSums",
        OobSums,
        {
            "sums": array("f", 2),
            "counts": ROWS,
            "errors": list_of(NUMBER),
            "_truth": array("fiu", 1, 2),
            "_weight": array("f", 1),
            "_losses": array("f", 1),
        },
        verify=_check_sums,
    ),
    Spec("Question", ResponseMethod, {"method": TEXT, "classes": tuple_of(LABELS), "is_vote": FLAG}),
    Spec("Member", Member, {"name": TEXT, "estimator": MODEL | NONE, "columns": instance(Columns) | NONE}),
    Spec("Fold", Fold, {"train": ROWS, "test": ROWS}),
    Spec(
        "CrossFit",
        CrossFit,
        {
            "members": list_of(instance(Member)),
            "questions": list_of(instance(ResponseMethod)),
            "models": list_of(MODEL),
            "fold_models": list_of(list_of(MODEL)),
            "answers": list_of(array("f", 2)),
            "coverage": ROWS,
            "folds": list_of(instance(Fold)),
            "dropped": dict_of(TEXT, TEXT),
        },
    ),
    Spec(
        "FinalLesson",
        FinalLesson,
        {
            "table": ANY,
            "truth": array("fiub", 1, 2),
            "n_classes": tuple_of(WHOLE),
            "known": array("b", 1),
            "weight": FLOATS | NONE,
            "groups": ANY,
            "params": dict_of(TEXT, ANY),
            "n_jobs": ANY,
            "seed": WHOLE | NONE,
        },
    ),
    Spec(
        "FoldModels",
        FoldEnsemble,
        {
            "name": TEXT,
            "models": list_of(MODEL),
            "_classes": tuple_of(LABELS),
            "classes_": LABELS | list_of(LABELS),
        },
        optional=frozenset({"classes_"}),
        verify=_check_fold_models,
    ),
    Spec("RankScales", RankScales, {"usual": array("f", 3)}),
    Spec("Members", Members, {"_forest": instance(*FORESTS)}),
    Spec(
        "Stump",
        Stump,
        {
            "feature": _PLACE,
            "threshold": NUMBER,
            "right_codes": array("b", 1) | NONE,
            "missing_right": FLAG,
            "proba": array("f", 2),
            "classes_": LABELS,
            "encoder_": instance(Encoder),
            "schema_": instance(Schema),
            "n_features_in_": WHOLE,
            "feature_names_in_": array("O", 1),
        },
        optional=frozenset({"feature_names_in_"}),
        verify=_check_stump,
    ),
    Spec(
        "AdaBoostLog",
        Log,
        {
            "members": list_of(MODEL | list_of(MODEL)),
            "vote_rows": list_of(array("f", 1)),
            "ended": TEXT | NONE,
            **{
                name: list_of(NUMBER)
                for name in ("votes", "errors", "normalizers", "losses", "train_errors", "validation_errors")
            },
        },
    ),
    Spec("OneSide", _OneSide, {"side": _PLACE}),
    Spec("AdaBoostSettings", SettingsOf, {"_values": dict_of(TEXT, ANY)}),
    Spec("sklearn.LabelEncoder", LabelEncoder, {"classes_": LABELS}),
    Spec(
        "sklearn.FrozenEstimator",
        FrozenEstimator,
        {},
        has_params=True,
        param_names=frozenset({"estimator"}),
    ),
    Spec(
        "sklearn.Pipeline",
        Pipeline,
        {},
        has_params=True,
        param_names=frozenset({"steps", "transform_input", "memory", "verbose"}),
    ),
]
