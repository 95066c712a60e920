"""Boosting of any learner in cases small enough to be checked by hand: ties, first columns, seeds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_iris

from coterie import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    AnyBoostClassifier,
    Checkpoint,
    DecisionTreeRegressor,
)
from tests.helpers.checkpoints import killed_after


def test_half_of_the_votes_are_enough_for_the_lower_prediction() -> None:
    X = np.arange(40.0)[:, None]
    model = AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=2).fit(X, X[:, 0] ** 2)
    predicted = np.column_stack([member.predict(X) for member in model.estimators_])
    assert (predicted[:, 0] != predicted[:, 1]).any()

    model.estimator_weights_ = np.ones(2)

    assert_allclose(model.predict(X), predicted.min(axis=1))


def test_a_resumed_fit_accepts_stumps_on_a_first_column_of_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(["Oslo", "Rome", "Cork", "Bonn"], 200)
    X = pd.DataFrame({"town": town, "size": rng.normal(size=200)})
    y = np.where(rng.uniform(size=200) < 0.2, "no", np.where(np.isin(town, ["Oslo", "Bonn"]), "yes", "no"))

    whole = AdaBoostClassifier(n_estimators=6, random_state=0).fit(X, y)
    kept = Checkpoint(tmp_path / "kept", every=1)
    model = AdaBoostClassifier(n_estimators=6, random_state=0, checkpoint=kept)
    with killed_after(2):
        model.fit(X, y)
    resumed = model.fit(X, y, resume=True)

    assert whole.estimators_[0].feature == 0
    assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))


class Remembering(RegressorMixin, BaseEstimator):
    """Keeps the rows that it is fitted to, and the seed that it is given."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "Remembering":
        self.rows_ = np.asarray(X)[:, 0].astype(int)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(X, dtype=float)[:, 1]


def test_rows_are_not_drawn_with_the_seed_of_a_member() -> None:
    X, y = load_iris(return_X_y=True)
    table = np.column_stack([np.arange(len(y)), X])
    model = AnyBoostClassifier(Remembering(), n_estimators=3, subsample=0.5, random_state=0).fit(table, y)

    for of_one_round in model.estimators_:
        assert len({int(member.random_state) for member in of_one_round}) == 3
        for member in of_one_round:
            own = np.random.Generator(np.random.PCG64(int(member.random_state))).permutation(len(y))
            assert not np.array_equal(np.sort(own[: len(member.rows_)]), member.rows_)
