"""Every public estimator, found by itself, and small tables to fit it to.

A class takes part when `coterie` or one of its packages lists it in `__all__` and it is a scikit-learn
estimator with a `fit` of its own and rules for its parameters, which a step that only changes tables has not. Models
of `coterie.export` were fitted elsewhere, so their `fit` is an error and `tests/export` says what they promise; those
of `coterie.ensemble` promise what scikit-learn's do, and `tests/ensemble` says how far. Settings that keep a fit small
are given to whichever class has them; an ensemble of learners that the user names, or that brings its own, is given
two of ours, one of copies of a learner one of ours, with these settings.
"""

import hashlib
import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

import coterie

SMALL = {
    "n_estimators": 5,
    "min_samples_leaf": 1,
    "random_state": 0,
    "max_epochs": 20,
    "hidden_sizes": (16, 16),
}


def public_estimators() -> list[type[Any]]:
    """Estimator classes in the order of their names."""
    packages = [coterie] + [
        importlib.import_module(f"coterie.{module.name}")
        for module in pkgutil.iter_modules(coterie.__path__)
        if module.ispkg
    ]
    found = {getattr(package, name) for package in packages for name in getattr(package, "__all__", [])}
    estimators = [item for item in found if isinstance(item, type) and issubclass(item, BaseEstimator)]
    fitted_here = [
        item
        for item in estimators
        if item.__module__.startswith("coterie.")
        and not item.__module__.startswith(("coterie.export.", "coterie.ensemble."))
        and hasattr(item, "PARAMS")
    ]
    return sorted((item for item in fitted_here if hasattr(item, "fit")), key=lambda item: item.__name__)


ESTIMATORS = public_estimators()


def has_stumps(estimator: type[Any]) -> bool:
    """Whether the engine has learners of its own for it."""
    return estimator is coterie.AdaBoostClassifier


OF_MEMBERS = [each for each in ESTIMATORS if "estimators" in inspect.signature(each).parameters]
# Copies of one learner, side by side and not one after the other.
OF_COPIES = [
    each
    for each in ESTIMATORS
    if "estimator" in (known := inspect.signature(each).parameters) and "learning_rate" not in known
]
# Those that bring their own members, which a portfolio of one's own replaces.
OF_PORTFOLIOS = [each for each in ESTIMATORS if "portfolio" in inspect.signature(each).parameters]
# Neural networks: no trees, no importances, and hundreds of steps of Python for a fit.
NETWORKS = [each for each in ESTIMATORS if "max_epochs" in inspect.signature(each).parameters]
# Those that learn from rows alone: whatever is given as a target is not looked at.
WITHOUT_TARGET = [
    each for each in ESTIMATORS if not (issubclass(each, ClassifierMixin) or issubclass(each, RegressorMixin))
]
ALONE = [each for each in ESTIMATORS if each not in OF_MEMBERS]
# Those that fit learners in a loop of Python, and those that the engine fits. The former are slow to put under stress.
OF_LEARNERS = [
    each
    for each in ESTIMATORS
    if {"estimator", "estimators", "portfolio"} & set(inspect.signature(each).parameters)
    and not has_stumps(each)
]
OF_ENGINE = [each for each in ESTIMATORS if each not in OF_LEARNERS]
OF_TREES = [each for each in OF_ENGINE if each not in NETWORKS]
# Those that hold rows out by their place in the table, so that a weight of 2 is the row twice for given folds alone.
WITH_FOLDS = [
    each for each in OF_MEMBERS if "voting" not in inspect.signature(each).parameters
] + OF_PORTFOLIOS
WITH_FOLDS += [each for each in OF_COPIES if "threshold" in inspect.signature(each).parameters]


def make(estimator: type[Any], **settings: Any) -> Any:
    """An instance with small settings, and those given where the class, or its members, have them."""
    given = {**SMALL, **settings}
    known = inspect.signature(estimator).parameters
    # A few rounds of steps that are searched for get somewhere if they take all of each step.
    small: dict[str, Any] = {"learning_rate": 1.0} if "step" in known else {}
    own = {name: value for name, value in {**SMALL, **small, **settings}.items() if name in known}
    tree, forest = (
        (coterie.DecisionTreeClassifier, coterie.RandomForestClassifier)
        if says_classes(estimator)
        else (coterie.DecisionTreeRegressor, coterie.RandomForestRegressor)
    )
    inner = {name: value for name, value in given.items() if name != "n_jobs"}
    if estimator in OF_COPIES:
        own["estimator"] = make(tree, **inner)
    if estimator in OF_MEMBERS:
        small = {
            "voting": "soft" if says_classes(estimator) else "mean",
            "final_estimator": make(tree, max_depth=3),
        }
        own = {name: value for name, value in small.items() if name in known} | own
        own["estimators"] = [("tree", make(tree, **inner)), ("forest", make(forest, **inner))]
    if estimator in OF_PORTFOLIOS:
        small = {"time_limit": None, "on_error": "raise"}
        # Leaves that hold one class alone do not know of weights of classes.
        inner["min_weight_fraction_leaf"] = 0.01
        small["portfolio"] = [("tree", make(tree, **inner)), ("forest", make(forest, **inner))]
        own = small | own
    return estimator(**own)


def says_classes(estimator: type[Any]) -> bool:
    return issubclass(estimator, ClassifierMixin)


def has(estimator: type[Any], *params: str) -> bool:
    return set(params) <= set(inspect.signature(estimator).parameters)


def params_of(model: Any) -> dict[str, str]:
    """Parameters by name as text: members that were copied are other objects."""
    return {name: repr(value) for name, value in model.get_params().items()}


def random_table(
    estimator: type[Any], n_rows: int = 60, n_columns: int = 4, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Numbers and a target that the first two columns explain; text labels for a classifier."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = X[:, 0] + 0.5 * X[:, min(1, n_columns - 1)] ** 2
    if not says_classes(estimator):
        return X, signal
    return X, np.array(["blue", "green", "red"])[np.digitize(signal, [-0.3, 0.6])]


def target_for(estimator: type[Any], values: Any) -> NDArray[Any]:
    """Numbers for a regressor, `low` and `high` for a classifier."""
    numbers = np.asarray(values, dtype=float)
    return np.where(numbers > np.median(numbers), "high", "low") if says_classes(estimator) else numbers


def answers(model: Any, X: Any) -> NDArray[Any]:
    """What the model says in most detail: probabilities, scores of outliers or an embedding, else predictions."""
    if hasattr(model, "transform") and not hasattr(model, "predict"):
        embedded = model.transform(X)
        return np.asarray(embedded.toarray() if sparse.issparse(embedded) else embedded)
    methods = ("predict_proba", "score_samples", "predict")
    return np.asarray(next(getattr(model, name) for name in methods if hasattr(model, name))(X))


def no_score(model: Any, X: Any, _: Any = None) -> float:
    """A scorer of models that have no score, which finds how many different answers they give."""
    return float(len(np.unique(answers(model, X), axis=0)))


def two_sizes(estimator: type[Any]) -> dict[str, list[int]]:
    """A parameter that every table notices, and two values of it."""
    if estimator in OF_MEMBERS:
        return {"tree__max_depth": [1, 4]}
    if estimator in OF_COPIES:
        return {"estimator__max_depth": [1, 4]}
    if estimator in OF_PORTFOLIOS:
        return {"cv": [2, 3]}
    return {"max_depth": [1, 4]} if has(estimator, "max_depth") else {"n_estimators": [1, 4]}


def trees_of(model: Any) -> list[Any]:
    """The engine's trees and stumps inside a fitted model, member by member if it has members."""
    if hasattr(model, "forest_"):
        return [model.forest_.tree(i) for i in range(len(model.forest_))]
    if hasattr(model, "estimators_"):
        members = list(np.asarray(model.estimators_, dtype=object).ravel())
        members = [each for member in members for each in getattr(member, "models", [member])]
        final = [model.final_estimator_] if hasattr(model, "final_estimator_") else []
        return [tree for member in members + final for tree in trees_of(member)]
    if hasattr(model, "estimator_"):
        return trees_of(model.estimator_)
    return [model.tree_.native] if hasattr(model, "tree_") else [model]


def state_of(tree: Any) -> dict[str, Any]:
    if hasattr(tree, "state"):
        return dict(tree.state())
    return {
        name: getattr(tree, name)
        for name in ("feature", "threshold", "right_codes", "missing_right", "proba")
    }


def fingerprint(model: Any) -> str:
    """A hash of everything that fit learned: the same bits, the same hash."""
    digest = hashlib.sha256(np.asarray(getattr(model, "estimator_weights_", [])).tobytes())
    for tree in trees_of(model):
        state = state_of(tree)
        for name in sorted(state):
            held = state[name]
            digest.update(name.encode() + (b"" if held is None else np.asarray(held).tobytes()))
    return digest.hexdigest()
