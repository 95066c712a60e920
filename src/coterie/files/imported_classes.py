"""Models of other libraries that `coterie.export` made."""

from typing import Any

import numpy as np

from coterie._engine import Forest
from coterie.data.schema import Schema
from coterie.export.imported import ImportedClassifier, ImportedRegressor, Recipe
from coterie.export.readers.category_sets import Coding
from coterie.export.readers.features import Feature, Numbers, ZeroIsMissing
from coterie.export.readers.sklearn_trees import InitModel
from coterie.export.readers.table_reader import Labels, TableReader
from coterie.files.kinds import (
    ANY,
    FLAG,
    MODEL,
    NONE,
    NUMBER,
    TEXT,
    WHOLE,
    array,
    dict_of,
    instance,
    list_of,
    one_of,
    tuple_of,
)
from coterie.files.member_classes import FLOATS, LABELS, ROWS
from coterie.files.spec import Spec, expect
from coterie.trees.links import Hinge, Logistic, NumberLink, OneVersusRest, Shares, Softmax

__all__ = ["IMPORTED_CLASSES"]

_LINKS = (Logistic, Hinge, Softmax, OneVersusRest, Shares)
_NAMES = ("identity", "exp", "logistic", "log1p_exp", "signed_square")
_TIES = ("score > 0", "score >= 0", "probability > 1/2")
_LABEL_LIST = list_of(ANY) | tuple_of(ANY) | LABELS


def _check_coding(coding: Any) -> None:
    expect(len(coding.codes) == len(coding.categories) > 0, "has other codes than categories")
    expect((np.diff(coding.categories) > 0).all(), "has categories that are not in order")
    expect(1 <= coding.n_codes <= 255, f"has {coding.n_codes} codes; expected 1 to 255")
    expect(((coding.codes >= 0) & (coding.codes < coding.n_codes)).all(), "has a code that does not exist")


def _check_reader(reader: Any) -> None:
    n_columns = reader.schema.n_features
    expect(
        all(feature.column < n_columns for feature in reader.features), "reads a column that does not exist"
    )


def _check_numbers(numbers: Any) -> None:
    expect(numbers.n_codes == 0, "has codes of numbers")


def _check_imported(model: Any) -> None:
    if "forest_" not in vars(model):
        return
    for name in ("recipe_", "link_"):
        expect(name in vars(model), f"has no {name!r}")
    n_features = len(model.recipe_.reader.features)
    expect(model.forest_.n_features == n_features, "has trees of another table")
    recipe = model.recipe_
    if isinstance(recipe.start, np.ndarray):
        expect(
            recipe.start.size in (1, model.forest_.n_outputs), "starts from other scores than its trees have"
        )
    expect(len(recipe.first_id) == len(model.forest_), "numbers the leaves of other trees")
    if "n_features_in_" in vars(model):
        expect(model.n_features_in_ == recipe.reader.schema.n_features, "has columns of another table")


_STATE = {
    "forest_": instance(Forest),
    "recipe_": instance(Recipe),
    "objective_": TEXT,
    "source_": TEXT,
    "n_features_in_": WHOLE,
    "feature_names_in_": array("O", 1),
    "classes_": LABELS,
    "_sklearn_output_config": dict_of(TEXT, TEXT),
}

IMPORTED_CLASSES = [
    Spec("import.Numbers", Numbers, {"n_codes": WHOLE}, verify=_check_numbers),
    Spec("import.ZeroIsMissing", ZeroIsMissing, {"n_codes": WHOLE}, verify=_check_numbers),
    Spec(
        "import.Coding",
        Coding,
        {"categories": array("f", 1), "codes": array("i", 1), "n_codes": WHOLE, "single": FLAG},
        verify=_check_coding,
    ),
    Spec("import.Feature", Feature, {"column": WHOLE, "reading": instance(Numbers, ZeroIsMissing, Coding)}),
    Spec(
        "import.Labels",
        Labels,
        {
            "by_column": dict_of(WHOLE, _LABEL_LIST),
            "in_order": list_of(_LABEL_LIST) | tuple_of(_LABEL_LIST) | NONE,
            "for_numbers": FLAG,
            "strict": FLAG,
        },
    ),
    Spec(
        "import.TableReader",
        TableReader,
        {
            "schema": instance(Schema),
            "features": list_of(instance(Feature)) | tuple_of(instance(Feature)),
            "labels": instance(Labels),
            "missing": NUMBER | NONE,
            "single": FLAG,
            "gaps_missing": FLAG,
            "underlines": FLAG,
        },
        dropped=frozenset({"n_levels", "takes_matrix"}),
        verify=_check_reader,
    ),
    Spec("import.InitModel", InitModel, {"model": MODEL, "scale": NUMBER | NONE}),
    Spec(
        "import.Recipe",
        Recipe,
        {
            "reader": instance(TableReader),
            "start": FLOATS | instance(InitModel),
            "divisor": NUMBER,
            "leaf_ids": array("iu", 1),
            "first_id": ROWS,
        },
    ),
    Spec("import.NumberLink", NumberLink, {"name": one_of(*_NAMES)}),
    Spec(
        "import.Logistic",
        Logistic,
        {"scale": NUMBER, "second": one_of(*_TIES), "has_scores": FLAG},
    ),
    Spec("import.Hinge", Hinge, {"has_scores": FLAG}),
    Spec("import.Softmax", Softmax, {"has_scores": FLAG}),
    Spec("import.OneVersusRest", OneVersusRest, {"scale": NUMBER, "has_scores": FLAG}),
    Spec("import.Shares", Shares, {"has_scores": FLAG}),
    Spec(
        "ImportedClassifier",
        ImportedClassifier,
        {**_STATE, "link_": instance(*_LINKS)},
        optional=None,
        has_params=True,
        verify=_check_imported,
        param_names=frozenset({"n_jobs"}),
    ),
    Spec(
        "ImportedRegressor",
        ImportedRegressor,
        {**_STATE, "link_": instance(NumberLink)},
        optional=None,
        has_params=True,
        verify=_check_imported,
        param_names=frozenset({"n_jobs"}),
    ),
]
