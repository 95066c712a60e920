"""scikit-learn's own contract: every check of `check_estimator` passes but the two that are excused below."""

from typing import Any

import pytest
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from tests.helpers.estimators import (
    ALONE,
    ESTIMATORS,
    NETWORKS,
    OF_MEMBERS,
    OF_PORTFOLIOS,
    has,
    make,
    says_classes,
)


def test_the_estimators_are_found() -> None:
    names = {estimator.__name__ for estimator in ESTIMATORS}
    assert {"GradientBoostingClassifier", "GradientBoostingRegressor"} <= names
    assert {"DecisionTreeClassifier", "DecisionTreeRegressor"} <= names
    assert {"RandomForestClassifier", "RandomForestRegressor"} <= names
    assert {"ExtraTreesClassifier", "ExtraTreesRegressor"} <= names
    assert {"AnyBoostClassifier", "AnyBoostRegressor", "AdaBoostRegressor"} <= names
    assert {"VotingClassifier", "StackingRegressor", "BlendingClassifier"} <= names
    assert "AdaBoostClassifier" in names
    assert {"BaggingClassifier", "BaggingRegressor", "SelectionClassifier", "SelectionRegressor"} <= names
    assert "OutputCodeClassifier" in names
    assert {"CommitteeClassifier", "CommitteeRegressor"} <= names
    assert not any(name.startswith("_") for name in names)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_estimator_says_what_it_predicts(estimator: type[Any]) -> None:
    kinds = (is_classifier, is_regressor, is_outlier_detector)
    is_embedding = estimator.__name__ == "RandomTreesEmbedding"
    assert [is_kind(make(estimator)) for is_kind in kinds].count(True) == (0 if is_embedding else 1)


# A weight says how likely a row is drawn, as in scikit-learn's, whose forest is excused from these checks, too. A row
# that stands in the table twice may be drawn twice, and one of weight 2 is drawn once.
EXCUSED = {
    "IsolationForest": {
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    }
}


def not_passed(estimator: type[Any], results: list[dict[str, Any]]) -> list[str]:
    return [
        f"{r['check_name']}: {r['exception']}"
        for r in results
        if r["status"] in ("failed", "xfail") and r["check_name"] not in EXCUSED.get(estimator.__name__, ())
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_check_of_scikit_learn_passes(estimator: type[Any]) -> None:
    results = check_estimator(make(estimator), on_skip=None, on_fail=None)

    assert not_passed(estimator, results) == []
    assert sum(r["status"] == "passed" for r in results) > 50


# A hundred rounds of one tree for each class take most of a minute, a committee fits all there is, and networks have
# hundreds of epochs.
SLOW = {"AnyBoostClassifier", "AnyBoostRegressor", "CommitteeClassifier", "CommitteeRegressor"}
SLOW |= {estimator.__name__ for estimator in NETWORKS}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [pytest.param(each, marks=pytest.mark.slow) if each.__name__ in SLOW else each for each in ALONE],
)
def test_every_check_passes_with_default_parameters_too(estimator: type[Any]) -> None:
    results = check_estimator(estimator(), on_skip=None, on_fail=None)

    assert not_passed(estimator, results) == []


# Members that hold rows out for themselves, or want several rows in a leaf, do not take a weight of 2 for two rows.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", OF_PORTFOLIOS)
def test_every_check_passes_with_a_linear_member_of_the_portfolio(estimator: type[Any]) -> None:
    results = check_estimator(estimator(None, portfolio=["linear"]), on_skip=None, on_fail=None)

    failed = [r for r in results if r["status"] in ("failed", "xfail")]
    assert [f"{r['check_name']}: {r['exception']}" for r in failed] == []
    assert sum(r["status"] == "passed" for r in results) > 50


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [each for each in ESTIMATORS if has(each, "linear_leaves")])
def test_every_check_passes_with_lines_in_leaves(estimator: type[Any]) -> None:
    results = check_estimator(make(estimator, linear_leaves=True), on_skip=None, on_fail=None)

    failed = [r for r in results if r["status"] in ("failed", "xfail")]
    assert [f"{r['check_name']}: {r['exception']}" for r in failed] == []
    assert sum(r["status"] == "passed" for r in results) > 50


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", OF_MEMBERS)
def test_every_check_passes_with_members_of_scikit_learn(estimator: type[Any]) -> None:
    linear, tree = (
        (LogisticRegression(), DecisionTreeClassifier(max_depth=4, random_state=0))
        if says_classes(estimator)
        else (Ridge(), DecisionTreeRegressor(max_depth=4, random_state=0))
    )
    results = check_estimator(estimator([("linear", linear), ("tree", tree)]), on_skip=None, on_fail=None)

    failed = [r for r in results if r["status"] in ("failed", "xfail")]
    assert [f"{r['check_name']}: {r['exception']}" for r in failed] == []
    assert sum(r["status"] == "passed" for r in results) > 50
