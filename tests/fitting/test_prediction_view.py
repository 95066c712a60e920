"""What a scorer is given in place of a model: predictions that are known, and nothing of an earlier fit."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer, r2_score, roc_auc_score

from coterie import (
    BaggingClassifier,
    CommitteeClassifier,
    CommitteeRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SelectionClassifier,
    SelectionRegressor,
)
from coterie.errors import InvalidParameter
from coterie.fitting.scoring import PredictionView

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=80)
LABELS = np.where(Y > 0, "yes", "no")


@pytest.fixture(scope="module")
def boosting() -> Any:
    return GradientBoostingClassifier(n_estimators=5, scoring="accuracy").fit(X, LABELS)


def view_of(model: Any, raw: Any, **given: Any) -> Any:
    return PredictionView(model, raw, X, **given)


def test_it_predicts_as_the_model_does_from_the_same_raw_predictions(boosting: Any) -> None:
    view = view_of(boosting, boosting._raw_scores(X, None))

    assert_array_equal(view.predict(X), boosting.predict(X))
    assert_array_equal(view.predict_proba(X), boosting.predict_proba(X))
    assert_array_equal(view.decision_function(X), boosting.decision_function(X))
    assert view.score(X, LABELS) == boosting.score(X, LABELS)
    for name in ("accuracy", "roc_auc", "neg_log_loss"):
        assert get_scorer(name)(view, X, LABELS) == get_scorer(name)(boosting, X, LABELS)


def test_it_has_the_kind_the_parameters_and_the_classes_of_the_model(boosting: Any) -> None:
    view = view_of(boosting, np.zeros((80, 1)))

    assert is_classifier(view)
    assert not is_regressor(view)
    assert view.get_params() == boosting.get_params()
    assert view.n_estimators == 5
    assert view.n_features_in_ == 3
    assert_array_equal(view.classes_, ["no", "yes"])


@pytest.mark.parametrize(
    "name", ["forest_", "_raw_scores", "staged_predict", "feature_importances_", "nonsense"]
)
def test_it_has_nothing_of_an_earlier_fit(name: str, boosting: Any) -> None:
    assert not hasattr(view_of(boosting, np.zeros((80, 1))), name)


def test_another_table_is_refused(boosting: Any) -> None:
    view = view_of(boosting, np.zeros((80, 1)))
    for ask in (lambda: view.predict(X[:10]), lambda: view.predict_proba(X, offset=np.ones(80))):
        with pytest.raises(InvalidParameter, match="another table") as caught:
            ask()
        assert (caught.value.parameter, caught.value.received) == ("scoring", "accuracy")
    assert view.predict(X, offset=None).shape == (80,)


def test_out_of_bag_there_are_probabilities_and_no_scores() -> None:
    by_auc = BaggingClassifier(n_estimators=20, oob_score="roc_auc", random_state=0).fit(X, LABELS)

    fine = ~np.isnan(by_auc.oob_decision_function_[:, 0])
    assert by_auc.oob_score_ == roc_auc_score(LABELS[fine], by_auc.oob_decision_function_[fine, 1])
    assert not hasattr(view_of(by_auc, by_auc.oob_decision_function_), "decision_function")


@pytest.mark.parametrize("kind", [RandomForestClassifier, BaggingClassifier])
def test_a_scorer_that_fails_out_of_bag_is_named(kind: Any) -> None:
    def broken(*_: Any) -> float:
        raise ZeroDivisionError

    with pytest.raises(InvalidParameter, match=r"oob_score=.*ZeroDivisionError") as caught:
        kind(n_estimators=20, oob_score=make_scorer(broken), random_state=0).fit(X, LABELS)
    assert caught.value.parameter == "oob_score"


def test_forests_are_scored_out_of_bag_by_any_scorer() -> None:
    forest = RandomForestRegressor(40, oob_score="r2", random_state=0).fit(X, Y)

    assert forest.oob_score_ == r2_score(Y, forest.oob_prediction_)


MODELS = {
    "selection of classes": lambda scoring: SelectionClassifier(
        [("forest", RandomForestClassifier(5, random_state=0))], scoring=scoring, random_state=0
    ),
    "committee of classes": lambda scoring: CommitteeClassifier(
        None,
        portfolio=[("forest", RandomForestClassifier(5, random_state=0))],
        scoring=scoring,
        random_state=0,
    ),
}
OF_NUMBERS = {
    "selection of numbers": lambda scoring: SelectionRegressor(
        [("forest", RandomForestRegressor(5, random_state=0))], scoring=scoring, random_state=0
    ),
    "committee of numbers": lambda scoring: CommitteeRegressor(
        None,
        portfolio=[("forest", RandomForestRegressor(5, random_state=0))],
        scoring=scoring,
        random_state=0,
    ),
}


@pytest.mark.parametrize("case", MODELS)
def test_a_function_may_ask_for_labels_probabilities_and_classes(case: str) -> None:
    seen: list[float] = []

    def scoring(model: Any, X: Any, y: Any) -> float:
        proba = model.predict_proba(X)
        assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
        assert model.score(X, y) == accuracy_score(y, model.predict(X))
        assert model.get_params()["random_state"] == 0
        seen.append(-log_loss(y, proba, labels=model.classes_))
        return seen[-1]

    model = MODELS[case](scoring).fit(X, LABELS)

    assert len(seen) > 0
    assert not any(callable(value) for value in vars(model).values() if value is not scoring)


@pytest.mark.parametrize("case", OF_NUMBERS)
def test_a_function_may_ask_for_numbers(case: str) -> None:
    def scoring(model: Any, X: Any, y: Any) -> float:
        assert not hasattr(model, "predict_proba")
        assert is_regressor(model)
        return -float(np.abs(model.predict(X) - y).mean())

    model = OF_NUMBERS[case](scoring).fit(X, Y)

    assert model.predict(X).shape == (80,)
