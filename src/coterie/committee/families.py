"""Who takes part in a comparison: a model of each family with its defaults, and baselines."""

from typing import Any

from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV

from coterie._params import Real, unexpected
from coterie._typing import Task
from coterie.adaboost.adaboost_classifier import AdaBoostClassifier
from coterie.adaboost.adaboost_regressor import AdaBoostRegressor
from coterie.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.committee.committee import CommitteeClassifier, CommitteeRegressor
from coterie.committee.numeric_pipeline import NumericPipelineClassifier, NumericPipelineRegressor
from coterie.errors import InvalidParameter
from coterie.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from coterie.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor


def families(models: Any, task: Task, committee: Any, n_jobs: int | None) -> list[tuple[str, Any]]:
    """Names and models, in the order in which they are fitted."""
    known = _classifiers() if task == "classification" else _regressors()
    found = list(known.items()) if isinstance(models, str) else [_named(item, known) for item in models]
    if committee is not False:
        if committee is not True and not Real(0, None, closed="neither").accepts(committee):
            raise unexpected(
                "committee", committee, "True or False or a finite number > 0 of seconds", owner="compare"
            )
        kind = CommitteeClassifier if task == "classification" else CommitteeRegressor
        limit = 60.0 if committee is True else float(committee)
        found.append(("committee", kind(time_limit=limit, n_jobs=n_jobs)))
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise unexpected("models", models, "a name of its own for each model", owner="compare")
    return found


def _named(item: Any, known: dict[str, Any]) -> tuple[str, Any]:
    if not isinstance(item, str):
        return item[0], item[1]
    if item not in known:
        allowed = f"one of {', '.join(map(repr, known))}, or a tuple (name, estimator)"
        raise InvalidParameter.expecting(
            f"compare(models=...): there is no {item!r}", allowed, "models", item
        )
    return item, known[item]


def _classifiers() -> dict[str, Any]:
    return {
        "dummy": NumericPipelineClassifier(DummyClassifier()),
        "linear": NumericPipelineClassifier(LogisticRegression(max_iter=200)),
        "tree": DecisionTreeClassifier(min_samples_leaf=10),
        "forest": RandomForestClassifier(),
        "extra_trees": ExtraTreesClassifier(),
        "boosting": GradientBoostingClassifier(),
        "adaboost": AdaBoostClassifier(),
    }


def _regressors() -> dict[str, Any]:
    return {
        "dummy": NumericPipelineRegressor(DummyRegressor()),
        "linear": NumericPipelineRegressor(RidgeCV([10.0**power for power in range(-2, 5)])),
        "tree": DecisionTreeRegressor(min_samples_leaf=10),
        "forest": RandomForestRegressor(),
        "extra_trees": ExtraTreesRegressor(),
        "boosting": GradientBoostingRegressor(),
        "adaboost": AdaBoostRegressor(),
    }
