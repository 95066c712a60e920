"""Classes of `coterie.data`, `coterie.losses` and `coterie.trees` that models are made of."""

from dataclasses import fields
from typing import Any

import numpy as np

from coterie._engine import Tree
from coterie.data.encoding import Encoder, _Coding
from coterie.data.parts import Columns, TableShape
from coterie.data.schema import Schema
from coterie.data.target_statistics import Source, TargetStatistics
from coterie.files.kinds import ANY, NONE, TEXT, WHOLE, array, dict_of, instance, list_of, one_of, tuple_of
from coterie.files.spec import Spec, expect
from coterie.losses import (
    Absolute,
    CrossEntropy,
    CustomLoss,
    Expectile,
    Gamma,
    Huber,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)
from coterie.trees.grown_tree import GrownTree

__all__ = ["DATA_CLASSES"]

NAMES = tuple_of(TEXT) | NONE
_KINDS = ("numeric", "nominal", "ordered")
_MOST_CODES = 255


def _check_schema(schema: Any) -> None:
    if schema.names is not None:
        expect(len(schema.names) == len(schema.kinds), "has names and kinds of different columns")
        expect(len(set(schema.names)) == len(schema.names), "has two columns of the same name")


def _check_coding(coding: Any) -> None:
    n_levels = len(coding.levels)
    expect(len(coding.code) == n_levels, f"has {len(coding.code)} codes for {n_levels} levels")
    if coding.kind == "nominal":
        expect(1 <= coding.n_codes <= _MOST_CODES, f"has {coding.n_codes} codes; expected 1 to {_MOST_CODES}")
        outside = (coding.code < 0) | (coding.code >= coding.n_codes)
    else:
        outside = coding.code != np.arange(n_levels)
    expect(not outside.any(), "has a level whose code does not exist")
    try:
        different = len({*coding.levels.tolist()}) == n_levels
    except TypeError:
        different = False
    expect(different, "has levels that are no different labels")


def _check_encoder(encoder: Any) -> None:
    n_features = len(encoder.n_levels)
    wanted = np.zeros(n_features, dtype=np.int32)
    for feature, coding in encoder._codings.items():
        expect(0 <= feature < n_features, f"knows levels of feature {feature}; there are {n_features}")
        if coding.kind == "nominal":
            wanted[feature] = coding.n_codes
    expect(
        encoder.n_levels.dtype == np.int32 and np.array_equal(encoder.n_levels, wanted),
        "has other numbers of levels than its features",
    )


def _made_encoder(parts: dict[str, Any]) -> Any:
    encoder = Encoder()
    vars(encoder).update(parts)
    return encoder


def _check_source(source: Any) -> None:
    expect(1 <= len(source.features) <= 2, "is about one feature or two")
    expect(
        (source.pairs is None) == (len(source.features) == 1), "has pairs and one feature, or none and two"
    )
    if source.pairs is not None:
        expect(len(source.pairs) == source.n_levels, "has another number of pairs than of levels")
        expect(source.n_levels > 0 and (np.diff(source.pairs) > 0).all(), "has pairs that are not in order")


def _check_statistics(statistics: Any) -> None:
    expect(len(statistics._means) == len(statistics.sources), "has means of other sources than its own")
    for source, means in zip(statistics.sources, statistics._means, strict=True):
        for mean in means:
            expect(len(mean) == source.n_levels + 1, "has another number of means than of levels")


def _check_grown(tree: Any) -> None:
    features = tree.native.feature
    expect((features < tree.n_features).all(), "asks about a feature that its table does not have")
    n_answers = tree.native.n_outputs
    if tree.n_classes is not None:
        expect(
            (tree.n_classes > 0).all() and int(tree.n_classes.astype(np.int64).sum()) == n_answers,
            f"has {n_answers} answers, which are not those of its classes",
        )


def _check_columns(columns: Any) -> None:
    inside = all(0 <= place < columns.n_columns for place in columns.places)
    expect(inside, "names a column that does not exist")


LOSSES = (Absolute, CrossEntropy, Expectile, Gamma, Huber, Poisson, Quantile, Squared, Tweedie)


def _refuse_functions(_: Any) -> dict[str, Any]:
    raise TypeError(
        "CustomLoss is made of functions, and a file holds no code. Save the model with one of the losses of "
        "coterie.losses, or pickle it"
    )


def _loss_spec(cls: type[Any]) -> Spec:
    def build(parts: dict[str, Any]) -> Any:
        return cls(**parts)  # checks what it is given

    return Spec(f"losses.{cls.__name__}", cls, {each.name: ANY for each in fields(cls)}, build=build)


DATA_CLASSES = [
    Spec("Schema", Schema, {"names": NAMES, "kinds": tuple_of(one_of(*_KINDS))}, verify=_check_schema),
    Spec(
        "Coding",
        _Coding,
        {
            "name": TEXT,
            "kind": one_of("nominal", "ordered"),
            "levels": array("OUSiufbmM", 1),
            "code": array("i", 1),
            "n_codes": WHOLE,
        },
        verify=_check_coding,
    ),
    Spec(
        "Encoder",
        Encoder,
        {
            "categorical_features": ANY,
            "unknown_category": one_of("missing", "error"),
            "n_levels": array("i", 1),
            "_codings": dict_of(WHOLE, instance(_Coding)),
        },
        dropped=frozenset({"_lookups", "_positions"}),
        verify=_check_encoder,
        build=_made_encoder,
    ),
    Spec(
        "Outline",
        TableShape,
        {"n_rows": WHOLE, "n_columns": WHOLE | NONE, "names": NAMES, "table": NONE},
    ),
    Spec(
        "Columns",
        Columns,
        {"places": tuple_of(WHOLE), "names": NAMES, "n_columns": WHOLE},
        verify=_check_columns,
    ),
    Spec(
        "Source",
        Source,
        {"features": tuple_of(WHOLE), "n_levels": WHOLE, "pairs": array("i", 1) | NONE},
        verify=_check_source,
    ),
    Spec(
        "TargetStatistics",
        TargetStatistics,
        {
            "sources": tuple_of(instance(Source)),
            "_n_classes": WHOLE,
            "_means": list_of(list_of(array("f", 1))),
        },
        verify=_check_statistics,
    ),
    Spec(
        "GrownTree",
        GrownTree,
        {"native": instance(Tree), "n_features": WHOLE, "n_classes": array("i", 1) | NONE},
        verify=_check_grown,
    ),
    Spec("losses.CustomLoss", CustomLoss, {}, parts=_refuse_functions),
    *(_loss_spec(cls) for cls in LOSSES),
]
