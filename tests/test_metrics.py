"""One set of names for metrics: values are those of scikit-learn, and so are the scorers that names stand for."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs

from coterie import (
    CommitteeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from coterie.errors import InvalidParameter
from coterie.metrics import METRICS, PredictedRows, metrics_of, scorer_of, shown_metric

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=120)
LABELS = np.where(Y > 0, "yes", "no")


@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans())
@settings(deadline=None, max_examples=25)
def test_metrics_of_classes_are_those_of_scikit_learn(seed: int, n_classes: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=30)])
    proba = rng.dirichlet(np.ones(n_classes), len(truth)).round(2) + 1e-3
    proba /= proba.sum(axis=1, keepdims=True)
    weight = rng.integers(1, 4, len(truth)).astype(float) if weighted else np.ones(len(truth))
    predicted = proba.argmax(axis=1)
    rows = PredictedRows(truth, predicted, proba, n_classes)
    given: dict[str, Any] = {"sample_weight": weight}
    average = "binary" if n_classes == 2 else "macro"
    areas = [
        theirs.roc_auc_score(truth == code, proba[:, code], **given)
        for code in ([1] if n_classes == 2 else range(n_classes))
    ]

    found = {own.name: own.of_weights(rows)(weight) for own in metrics_of(n_classes)}

    assert found["accuracy"] == pytest.approx(theirs.accuracy_score(truth, predicted, **given))
    assert found["balanced_accuracy"] == pytest.approx(
        theirs.balanced_accuracy_score(truth, predicted, **given)
    )
    assert found["f1"] == pytest.approx(theirs.f1_score(truth, predicted, average=average, **given))
    assert found["auc"] == pytest.approx(np.mean(areas))
    assert found["log_loss"] == pytest.approx(theirs.log_loss(truth, proba, **given))


@given(st.integers(0, 10_000), st.integers(1, 40))
@settings(deadline=None, max_examples=25)
def test_metrics_of_numbers_are_those_of_scikit_learn(seed: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.normal(size=(2, n_rows + 1))
    weight = np.ones(n_rows + 1)

    found = {own.name: own.of_weights(PredictedRows(truth, predicted))(weight) for own in metrics_of(None)}

    assert found == pytest.approx(
        {
            "r2": theirs.r2_score(truth, predicted),
            "rmse": theirs.root_mean_squared_error(truth, predicted),
            "mae": theirs.mean_absolute_error(truth, predicted),
            "median_error": theirs.median_absolute_error(truth, predicted),
        }
    )


@pytest.mark.parametrize("name", METRICS)
def test_every_name_has_a_scorer_with_the_same_direction(name: str) -> None:
    metric = METRICS[name]

    assert repr(scorer_of(name)) == repr(theirs.get_scorer(metric.scorers[0]))
    for scorer in metric.scorers:
        assert (shown_metric(scorer).name, shown_metric(scorer).greater_is_better) == (
            name,
            metric.greater_is_better,
        )


@pytest.mark.parametrize(("ours", "scorer"), [("rmse", "neg_root_mean_squared_error"), ("r2", "r2")])
def test_names_of_both_give_the_same_scores_of_rounds(ours: str, scorer: str) -> None:
    one, other = (
        GradientBoostingRegressor(
            n_estimators=20, early_stopping=True, n_iter_no_change=5, scoring=name, random_state=0
        ).fit(X, Y)
        for name in (ours, scorer)
    )

    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_metrics_of_two_classes_take_labels_that_are_texts() -> None:
    for name in ("f1", "auc", "average_precision", "brier"):
        forest = RandomForestClassifier(20, oob_score=name, random_state=0).fit(X, LABELS)
        assert np.isfinite(forest.oob_score_)


WRONG = {
    "a misspelt name": (GradientBoostingRegressor(scoring="rsme"), "Did you mean 'rmse'?", "r2, rmse, mae"),
    "one of classes": (CommitteeRegressor(scoring="auc"), "", "r2, rmse, mae"),
    "one of numbers": (GradientBoostingClassifier(scoring="rmse"), "", "accuracy, balanced_accuracy, f1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_metric_that_is_unknown_here_is_refused_with_those_that_are_not(case: str) -> None:
    model, hint, allowed = WRONG[case]
    with pytest.raises(InvalidParameter) as caught:
        model.fit(X, Y > 0 if hasattr(model, "predict_proba") else Y)

    assert caught.value.parameter == "scoring"
    assert hint in (caught.value.hint or "")
    assert allowed in str(caught.value.allowed)


def test_the_second_of_two_labels_is_the_positive_one() -> None:
    model = RandomForestClassifier(5, max_depth=1, random_state=0).fit(X, LABELS)
    for name, value in (("f1", theirs.f1_score), ("brier", theirs.brier_score_loss)):
        given = model.predict(X) if name == "f1" else model.predict_proba(X)[:, 1]
        expected = value(LABELS == "yes", given == "yes" if name == "f1" else given)
        scored = scorer_of(name, np.array(["no", "yes"]))(model, X, LABELS)
        assert abs(scored) == pytest.approx(expected)
