"""Every public estimator, found by itself, and small tables to fit it to.

A class takes part when `coterie` or one of its packages lists it in `__all__` and it is a scikit-learn
estimator with a `fit` of its own. Models of `coterie.export` were fitted elsewhere, so their `fit` is an error and
`tests/export` says what they promise. Settings that keep a fit small are given to whichever class has them.
"""

import hashlib
import importlib
import pkgutil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier

import coterie

SMALL = {"n_estimators": 5, "min_samples_leaf": 1, "random_state": 0}


def public_estimators() -> list[type[Any]]:
    """Estimator classes in the order of their names."""
    packages = [coterie] + [
        importlib.import_module(f"coterie.{module.name}")
        for module in pkgutil.iter_modules(coterie.__path__)
        if module.ispkg
    ]
    found = {getattr(package, name) for package in packages for name in getattr(package, "__all__", [])}
    estimators = [item for item in found if isinstance(item, type) and issubclass(item, BaseEstimator)]
    fitted_here = [item for item in estimators if not item.__module__.startswith("coterie.export.")]
    return sorted((item for item in fitted_here if hasattr(item, "fit")), key=lambda item: item.__name__)


ESTIMATORS = public_estimators()


def make(estimator: type[Any], **settings: Any) -> Any:
    """An instance with small settings, and those given where the class has them."""
    known = estimator().get_params()
    return estimator(**{name: value for name, value in {**SMALL, **settings}.items() if name in known})


def has(estimator: type[Any], *params: str) -> bool:
    return set(params) <= set(estimator().get_params())


def random_table(
    estimator: type[Any], n_rows: int = 60, n_columns: int = 4, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Numbers and a target that the first two columns explain; text labels for a classifier."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = X[:, 0] + 0.5 * X[:, min(1, n_columns - 1)] ** 2
    if not is_classifier(estimator()):
        return X, signal
    return X, np.array(["blue", "green", "red"])[np.digitize(signal, [-0.3, 0.6])]


def target_for(estimator: type[Any], values: Any) -> NDArray[Any]:
    """Numbers for a regressor, `low` and `high` for a classifier."""
    numbers = np.asarray(values, dtype=float)
    return np.where(numbers > np.median(numbers), "high", "low") if is_classifier(estimator()) else numbers


def answers(model: Any, X: Any) -> NDArray[Any]:
    """What the model says in most detail: probabilities, else predictions."""
    return np.asarray(model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X))


def trees_of(model: Any) -> list[Any]:
    """The engine's trees inside a fitted model."""
    if hasattr(model, "forest_"):
        return [model.forest_.tree(i) for i in range(len(model.forest_))]
    return [model.tree_.native]


def fingerprint(model: Any) -> str:
    """A hash of everything that fit learned: the same bits, the same hash."""
    digest = hashlib.sha256()
    for tree in trees_of(model):
        state = tree.state()
        for name in sorted(state):
            digest.update(name.encode() + np.asarray(state[name]).tobytes())
    return digest.hexdigest()
