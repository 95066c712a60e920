"""Models of LightGBM."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.errors import InvalidType, ModelFileError
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.readers.assemble import Findings, assemble, check_sizes
from coterie.export.readers.lightgbm_text import LightGBMSection, LightGBMText, raw_tree, read_text
from coterie.export.readers.model_file import bytes_of, format_of, is_file_like
from coterie.export.readers.table_reader import Labels
from coterie.trees.links import Logistic, NumberLink, OneVersusRest, Softmax

_NUMBERS = {
    **dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), "identity"),
    **dict.fromkeys(("lambdarank", "rank_xendcg", "custom", "none", ""), "identity"),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), "exp"),
    "cross_entropy": "logistic",
    "cross_entropy_lambda": "log1p_exp",
}
_CLASSES = ("binary", "multiclass", "multiclassova")


def from_lightgbm(model: Any) -> ImportedClassifier | ImportedRegressor:
    """A model of LightGBM, with LightGBM's predictions.

    Categories, missing values of every kind, linear trees, forests and early stopping are supported: an object predicts
    with its best iteration, a file with all the trees it holds. A ranker, and a model with an objective of its own,
    predicts its scores.

    Parameters
    ----------
    model : `lightgbm.Booster`, a model with the scikit-learn interface, a path, or text
        A path is that of a file made by `Booster.save_model`; text is what `Booster.model_to_string` gives.

    Returns
    -------
    ImportedClassifier or ImportedRegressor
        A classifier for the objectives `binary`, `multiclass` and `multiclassova`. A file does not know the labels of
        the classes; they are 0, 1, ... then.

    Examples
    --------
    >>> text = '''tree
    ... version=v4
    ... num_class=1
    ... num_tree_per_iteration=1
    ... max_feature_idx=0
    ... objective=regression
    ... feature_names=age
    ...
    ... Tree=0
    ... num_leaves=2
    ... num_cat=0
    ... split_feature=0
    ... threshold=18
    ... decision_type=2
    ... left_child=-1
    ... right_child=-2
    ... leaf_value=1.5 2.5
    ... is_linear=0
    ... shrinkage=1
    ...
    ... end of trees
    ... '''
    >>> from_lightgbm(text).predict({"age": [18.0, 18.1]})
    array([1.5, 2.5])
    """
    if is_file_like(model):
        data = bytes_of(model)
        if format_of(data) != "lightgbm text":
            raise ModelFileError(
                "from_lightgbm: the file is not a model in LightGBM's text format.",
                parameter="model",
                allowed="a model in LightGBM's text format",
                hint="Save it with Booster.save_model; XGBoost's files are read by from_xgboost.",
            )
        return assemble(_findings(read_text(_decoded(data)), None))
    booster = getattr(model, "booster_", model)
    if not hasattr(booster, "model_to_string"):
        raise InvalidType(
            f"from_lightgbm received {type(model).__name__}; expected a Booster or a fitted model of LightGBM, the "
            "path of a file, or its text.",
            parameter="model",
            received=model,
            allowed="a Booster or a fitted model of LightGBM, the path of a file, or its text",
        )
    return assemble(_findings(read_text(booster.model_to_string()), getattr(model, "classes_", None)))


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"LightGBM: the text is not UTF-8: {error}.") from error


def _findings(text: LightGBMText, classes: AnyArray | None) -> Findings:
    header = text.header
    n_columns = header.whole("max_feature_idx") + 1
    names = header.text("feature_names").split(" ")
    if len(names) != n_columns:
        raise ModelFileError(
            f"LightGBM, header: {len(names)} feature_names, and max_feature_idx={n_columns - 1}; expected {n_columns}.",
            parameter="feature_names",
            received=len(names),
            allowed=f"{n_columns} names",
        )
    n_outputs = header.whole("num_tree_per_iteration")
    if n_outputs < 1 or len(text.trees) % n_outputs:
        raise header.wrong("num_tree_per_iteration", f"a divisor of the number of trees, {len(text.trees)}")
    check_sizes("LightGBM", n_columns, n_outputs)
    link = _link(header, n_outputs)
    if isinstance(link, NumberLink):
        classes = None
    elif classes is None:
        classes = np.arange(max(n_outputs, 2))
    elif len(classes) != max(n_outputs, 2):
        raise ModelFileError(f"LightGBM: {len(classes)} classes_, and scores for {max(n_outputs, 2)}.")
    n_rounds = len(text.trees) // n_outputs
    return Findings(
        source="LightGBM",
        objective=header.lines.get("objective", "").strip(),
        trees=[raw_tree(section, number % n_outputs, n_columns) for number, section in enumerate(text.trees)],
        n_columns=n_columns,
        link=link,
        start=np.zeros(n_outputs),
        n_outputs=n_outputs,
        divisor=float(max(n_rounds, 1)) if "average_output" in header.lines else 1.0,
        names=_real_names(names),
        classes=classes,
        labels=Labels(in_order=text.labels),
        underlines=True,
    )


def _real_names(names: Sequence[str]) -> Sequence[str] | None:
    """None for the names that LightGBM makes up for columns without."""
    made_up = all(name == f"Column_{place}" for place, name in enumerate(names))
    return None if made_up or len(set(names)) < len(names) else names


def _link(header: LightGBMSection, n_outputs: int) -> Any:
    words = header.lines.get("objective", "").split()
    name, options = (words[0], words[1:]) if words else ("", [])
    values = dict(option.split(":", 1) for option in options if ":" in option)
    if name in _CLASSES:
        if (name == "binary") != (n_outputs == 1):
            raise header.wrong(
                "num_tree_per_iteration", "1 for two classes, and one tree for each of several"
            )
        if name == "multiclass":
            return Softmax()
        try:
            scale = float(values.get("sigmoid", "1"))
        except ValueError:
            raise header.wrong("objective", "a number after 'sigmoid:'") from None
        return Logistic(scale) if name == "binary" else OneVersusRest(scale)
    if name not in _NUMBERS:
        raise header.wrong("objective", f"one of {', '.join([*_CLASSES, *filter(None, _NUMBERS)])}")
    return NumberLink("signed_square" if "sqrt" in options else _NUMBERS[name])
