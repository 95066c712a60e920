"""`HistGradientBoosting*` of the mirror against scikit-learn's."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble as theirs
from sklearn.metrics import log_loss

from coterie import ensemble

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=600)
CLASSES = (Y > 0).astype(int)


def test_scores_and_rounds_are_those_of_scikit_learn() -> None:
    ours = ensemble.HistGradientBoostingRegressor(max_iter=50, random_state=0).fit(X[:400], Y[:400])
    known = theirs.HistGradientBoostingRegressor(max_iter=50, random_state=0).fit(X[:400], Y[:400])
    assert ours.n_iter_ == known.n_iter_ == 50
    assert abs(ours.score(X[400:], Y[400:]) - known.score(X[400:], Y[400:])) < 0.03
    assert len(ours.train_score_) == len(known.train_score_) == 0


@pytest.mark.parametrize("scoring", ["loss", None, "neg_log_loss"])
def test_scores_are_kept_from_before_the_first_round(scoring: Any) -> None:
    given: dict[str, Any] = {"early_stopping": True, "scoring": scoring, "random_state": 0, "max_iter": 60}
    model = ensemble.HistGradientBoostingClassifier(**given).fit(X, CLASSES)
    assert len(model.train_score_) == len(model.validation_score_) == model.n_iter_ + 1
    assert model.train_score_[-1] > model.train_score_[0]
    known = theirs.HistGradientBoostingClassifier(**given).fit(X, CLASSES)
    assert abs(model.train_score_[0] - known.train_score_[0]) < 0.02


def test_rows_of_ones_own_decide_when_to_stop() -> None:
    model = ensemble.HistGradientBoostingClassifier(max_iter=300, n_iter_no_change=5)
    model.fit(X[:400], CLASSES[:400], X_val=X[400:], y_val=CLASSES[400:])
    assert model.n_iter_ < 300
    last = -log_loss(CLASSES[400:], model.predict_proba(X[400:]))
    assert model.validation_score_[-1] == pytest.approx(last)
    with pytest.raises(ValueError, match="y_val was not provided"):
        model.fit(X, CLASSES, X_val=X)


def test_without_a_validation_fraction_the_training_rows_decide() -> None:
    model = ensemble.HistGradientBoostingRegressor(
        early_stopping=True, validation_fraction=None, tol=0.1, n_iter_no_change=3, max_iter=200
    ).fit(X, Y)
    assert model.n_iter_ < 200
    assert len(model.validation_score_) == 0


def test_categories_of_a_data_frame_are_categories() -> None:
    town = rng.choice(["Oslo", "Rome", "Cork"], 600)
    frame = pd.DataFrame({"size": X[:, 0], "town": pd.Categorical(town)})
    model = ensemble.HistGradientBoostingRegressor().fit(frame, np.where(town == "Rome", 1.0, 0.0))
    np.testing.assert_array_equal(model.is_categorical_, [False, True])
    assert model.score(frame, np.where(town == "Rome", 1.0, 0.0)) > 0.99
    assert ensemble.HistGradientBoostingRegressor().fit(X, Y).is_categorical_ is None


def test_nothing_drawn_is_one_model() -> None:
    first, second = (
        ensemble.HistGradientBoostingRegressor(max_iter=20).fit(X, Y).predict(X) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="requires non-negative y"):
        ensemble.HistGradientBoostingRegressor(loss="poisson").fit(X, Y)
    with pytest.raises(ValueError, match="requires strictly positive y"):
        ensemble.HistGradientBoostingRegressor(loss="gamma").fit(X, np.abs(Y) * (Y > 0))


def test_negative_numbers_in_columns_of_categories_are_missing() -> None:
    codes = rng.integers(-1, 4, 600)
    table = np.column_stack([X[:, 0], codes])
    missing = np.column_stack([X[:, 0], np.where(codes < 0, np.nan, codes)])
    model = ensemble.HistGradientBoostingRegressor(categorical_features=[1], max_iter=10).fit(
        table, codes % 2
    )
    other = ensemble.HistGradientBoostingRegressor(categorical_features=[1], max_iter=10).fit(
        missing, codes % 2
    )
    np.testing.assert_array_equal(model.predict(table), other.predict(missing))
    np.testing.assert_array_equal(model.predict(table), model.predict(missing))


def test_the_first_category_is_not_missing() -> None:
    codes = np.repeat([-1.0, 0.0, 1.0], 200)
    table = np.column_stack([codes, codes])

    model = ensemble.HistGradientBoostingRegressor(categorical_features=[0, 1], max_iter=30).fit(table, codes)

    assert model.predict([[-1.0, -1.0], [0.0, 0.0]]) == pytest.approx([-1.0, 0.0], abs=0.1)
