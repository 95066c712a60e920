"""Models of XGBoost."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import logit

from coterie._typing import FloatArray
from coterie.errors import InvalidType, ModelFileError
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.readers.assemble import Findings, assemble, check_sizes
from coterie.export.readers.model_file import bytes_of, format_of, is_file_like
from coterie.export.readers.raw_tree import RawTree
from coterie.export.readers.table_reader import Labels
from coterie.export.readers.xgboost_tree import Value, raw_tree, read_document
from coterie.trees.links import Hinge, Logistic, NumberLink, Softmax

_IDENTITY = (
    "reg:squarederror",
    "reg:linear",
    "reg:squaredlogerror",
    "reg:pseudohubererror",
    "reg:absoluteerror",
    "reg:quantileerror",
    "binary:logitraw",
    "rank:pairwise",
    "rank:ndcg",
    "rank:map",
)
_NUMBERS = {
    **dict.fromkeys(_IDENTITY, "identity"),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"), "exp"),
    "reg:logistic": "logistic",
}
_CLASSES = {
    "binary:logistic": Logistic(),
    "binary:hinge": Hinge(),
    "multi:softprob": Softmax(),
    "multi:softmax": Softmax(),
}


def from_xgboost(model: Any) -> ImportedClassifier | ImportedRegressor:
    """A model of XGBoost, with XGBoost's predictions.

    Trees of every kind are supported: with categories, DART, several trees a round, several targets. XGBoost adds up in
    single precision and coterie in double, so predictions differ in the seventh digit. A model of XGBoost's
    scikit-learn interface, or its file, predicts with the best iteration; a `Booster`, or its file, with all trees, as
    they do in XGBoost. A ranker, and `binary:logitraw`, predicts its scores.

    Parameters
    ----------
    model : `xgboost.Booster`, a model with the scikit-learn interface, a path, or bytes
        A path is that of a file made by `save_model`, as JSON or UBJ. Bytes are the content of such a file.

    Returns
    -------
    ImportedClassifier or ImportedRegressor
        A classifier for the objectives `binary:logistic`, `binary:hinge`, `multi:softprob` and `multi:softmax`.

    Examples
    --------
    >>> text = '''{"version": [3, 2, 0], "learner": {"objective": {"name": "reg:squarederror"},
    ... "learner_model_param": {"num_feature": "1", "num_class": "0", "base_score": "[10]"},
    ... "gradient_booster": {"name": "gbtree", "model": {"tree_info": [0], "trees": [{
    ... "left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [0, 0, 0],
    ... "split_conditions": [18, 1.5, 2.5], "default_left": [1, 0, 0], "tree_param": {}}]}}}}'''
    >>> model = from_xgboost(text)
    >>> model.predict([[17.9], [18.0], [np.nan]])
    array([11.5, 12.5, 11.5])
    """
    if is_file_like(model):
        data = bytes_of(model)
        if format_of(data) == "lightgbm text":
            raise ModelFileError(
                "from_xgboost: the file is a model of LightGBM, which from_lightgbm reads.",
                parameter="model",
                allowed="a file of XGBoost",
            )
        return assemble(_findings(read_document(data, "XGBoost")))
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    if not hasattr(booster, "save_raw"):
        raise InvalidType.expecting(
            f"from_xgboost received {type(model).__name__}",
            "a Booster or a fitted model of XGBoost, or the path of a file",
            "model",
            model,
        )
    document = read_document(bytes(booster.save_raw("ubj")), "XGBoost")
    missing = float(getattr(model, "missing", np.nan))
    return assemble(
        _findings(document, by_best=booster is not model, missing=None if np.isnan(missing) else missing)
    )


def _findings(document: Value, *, by_best: bool = False, missing: float | None = None) -> Findings:
    """`by_best` stops after the best iteration; so do files of the scikit-learn interface."""
    learner = document["learner"]
    objective = learner["objective"]["name"].text()
    param = learner["learner_model_param"]
    n_columns = param["num_feature"].whole()
    trees = _trees(learner, by_best=by_best)
    n_targets = param["num_target"].whole() if "num_target" in param else 1
    n_outputs = max(1, param["num_class"].whole(), n_targets)
    check_sizes("XGBoost", n_columns, n_outputs)
    for number, tree in enumerate(trees):
        if not 0 <= tree.output <= n_outputs - tree.value.shape[1]:
            raise ModelFileError(
                f"XGBoost: tree {number} is added to output {tree.output + tree.value.shape[1] - 1}, and the model has "
                f"the outputs 0 to {n_outputs - 1}.",
                parameter=f"tree {number}",
                received=tree.output + tree.value.shape[1] - 1,
                allowed=f"0 to {n_outputs - 1}",
            )
    link = _link(objective, n_outputs)
    return Findings(
        source="XGBoost",
        objective=objective,
        trees=trees,
        n_columns=n_columns,
        link=link,
        start=_start(param["base_score"], objective, n_outputs, _version(document)),
        n_outputs=n_outputs,
        names=_names(learner, n_columns),
        classes=None if isinstance(link, NumberLink) else np.arange(max(2, n_outputs)),
        labels=Labels(by_column=_labels(_gbtree(learner)), strict=True),
        missing=missing,
        single=True,
        gaps_missing=True,
    )


def _gbtree(learner: Value) -> Value:
    booster = learner["gradient_booster"]
    name = booster["name"].text()
    if name not in ("gbtree", "dart"):
        raise ModelFileError.expecting(
            f"XGBoost: the booster is {name!r}", "'gbtree' or 'dart'", "booster", name
        )
    return (booster["gbtree"] if name == "dart" else booster)["model"]


def _trees(learner: Value, *, by_best: bool) -> list[RawTree]:
    model = _gbtree(learner)
    trees = model["trees"].items()
    output = model["tree_info"].wholes(len(trees))
    booster = learner["gradient_booster"]
    weight = np.ones(len(trees), dtype=np.float32)
    if "weight_drop" in booster:
        weight = booster["weight_drop"].numbers(len(trees)).astype(np.float32)
    n_used = _n_trees_of_best(learner, model, len(trees), by_best=by_best)
    return [raw_tree(trees[i], int(output[i]), float(weight[i])) for i in range(n_used)]


def _n_trees_of_best(learner: Value, model: Value, n_trees: int, *, by_best: bool) -> int:
    attributes = learner["attributes"] if "attributes" in learner else Value({}, "XGBoost")
    if "best_iteration" not in attributes or not (by_best or "scikit_learn" in attributes):
        return n_trees
    n_rounds = attributes["best_iteration"].whole() + 1
    if "iteration_indptr" in model:
        ends = model["iteration_indptr"].wholes()
    else:  # before XGBoost 2.0: all rounds have as many trees
        param = learner["learner_model_param"]
        n_parallel = model["gbtree_model_param"]["num_parallel_tree"].whole()
        per_round = max(1, param["num_class"].whole()) * max(1, n_parallel)
        ends = np.arange(0, n_trees + 1, per_round)
    if not 0 <= n_rounds < len(ends) or not 0 <= ends[n_rounds] <= n_trees:
        raise attributes["best_iteration"].wrong(f"a round of the {len(ends) - 1} that there are")
    return int(ends[n_rounds])


def _names(learner: Value, n_columns: int) -> Sequence[str] | None:
    names = learner["feature_names"].texts() if "feature_names" in learner else []
    if names and len(names) != n_columns:
        raise learner["feature_names"].wrong(f"{n_columns} names")
    return names or None


def _version(document: Value) -> tuple[int, ...]:
    return tuple(document["version"].wholes().tolist()) if "version" in document else (0,)


def _start(base_score: Value, objective: str, n_outputs: int, version: tuple[int, ...]) -> FloatArray:
    """The score before the first tree. The file has it as a prediction, on the other side of the link."""
    text = base_score.text()
    try:
        base = np.atleast_1d(np.asarray(json.loads(text), dtype=np.float64))
        base = base.astype(np.float32).astype(np.float64)
    except (TypeError, ValueError, RecursionError):
        raise base_score.wrong("a number or a list of numbers") from None
    if base.ndim != 1 or len(base) not in (1, n_outputs):
        raise base_score.wrong(f"1 or {n_outputs} numbers")
    was_logit = objective == "binary:logitraw" and version < (3, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if objective in ("binary:logistic", "reg:logistic") or was_logit:
            base = logit(base)
        elif _NUMBERS.get(objective) == "exp":
            base = np.log(base)
    if not np.isfinite(base).all():
        raise base_score.wrong(f"a prediction that {objective} can give")
    return np.broadcast_to(base, n_outputs).copy()


def _link(objective: str, n_outputs: int) -> Any:
    if objective in _CLASSES:
        if objective.startswith("multi:") and n_outputs < 2:
            raise ModelFileError(
                f"XGBoost: num_class is {n_outputs}; {objective} has at least 2 classes.",
                parameter="num_class",
                received=n_outputs,
                allowed="2 at least",
            )
        if objective.startswith("binary:") and n_outputs > 1:
            raise ModelFileError(
                f"XGBoost: a model with {n_outputs} targets and the objective {objective!r}, which is several "
                "classifiers in one.",
                parameter="objective",
                received=objective,
                hint="Train one for each target.",
            )
        return _CLASSES[objective]
    if objective not in _NUMBERS:
        known = ", ".join([*_CLASSES, *_NUMBERS])
        raise ModelFileError(
            f"XGBoost: the objective is {objective!r}; expected one of {known}.",
            parameter="objective",
            received=objective,
            allowed=known,
        )
    return NumberLink(_NUMBERS[objective])


def _labels(model: Value) -> dict[int, Sequence[Any]]:
    """What the categories of a data frame were, in files of XGBoost 3.1 and later."""
    if "cats" not in model:
        return {}
    labels: dict[int, Sequence[Any]] = {}
    for column, encoding in enumerate(model["cats"]["enc"].items()):
        values = encoding["values"].wholes().tolist()
        if "offsets" in encoding:
            values = _texts(encoding["offsets"], values)
        if values:
            labels[column] = values
    return labels


def _texts(offsets: Value, values: Sequence[int]) -> list[str]:
    """Labels of which all bytes follow one another; none if some are beyond ASCII.

    XGBoost (3.2) counts characters of pandas' labels where it means bytes, so that such labels may be cut.
    """
    places = offsets.wholes().tolist()
    ascends = all(a <= b for a, b in pairwise(places))
    if places and not (places[0] == 0 and ascends and places[-1] == len(values)):
        raise offsets.wrong(f"numbers that ascend from 0 to {len(values)}")
    if any(not 0 <= value < 128 for value in values):
        return []
    text = bytes(values).decode("ascii")
    return [text[a:b] for a, b in pairwise(places)]
