"""Boosting of any learner in cases small enough to be checked by hand: ties, first columns."""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal

from coterie import AdaBoostClassifier, AdaBoostRegressor, Checkpoint, DecisionTreeRegressor
from tests.helpers.checkpoints import killed_after


def test_half_of_the_votes_are_enough_for_the_lower_prediction() -> None:
    X = np.arange(40.0)[:, None]
    model = AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=4).fit(X, X[:, 0] ** 2)
    predicted = np.sort([member.predict(X) for member in model.estimators_], axis=0)
    assert (predicted[1] != predicted[2]).any()

    model.estimator_weights_ = np.ones(4)

    assert_allclose(model.predict(X), predicted[1])


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
