"""Intervals of committees and forests against their definition, interval by interval."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from coterie import CommitteeRegressor, DecisionTreeRegressor, RandomForestRegressor
from coterie.members.intervals import ResidualScale
from tests.naive.jackknife import naive_jackknife_plus

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = X[:, 0] + np.exp(X[:, 1] / 2) * RNG.normal(size=300)


@pytest.mark.parametrize("per_cent", [10, 25])
def test_those_of_a_committee_are_scaled_cv_plus(per_cent: int) -> None:
    trees = [(f"depth {depth}", DecisionTreeRegressor(max_depth=depth, random_state=0)) for depth in (2, 4)]
    model = CommitteeRegressor(None, portfolio=trees, random_state=0).fit(X, Y)
    alpha, new = per_cent / 100, X[:7]
    residuals = np.abs(Y - model.oof_prediction_)
    scale = ResidualScale.of(model.oof_prediction_, residuals, np.ones(300), alpha)

    by_fold = np.stack(
        [
            sum(
                share * member.models[fold].predict(new)
                for share, member in zip(model._shares, model.estimators_, strict=True)
            )
            for fold in range(5)
        ]
    ).T
    unit = scale(by_fold.mean(axis=1))[:, None]
    out = np.array([[row in fold.test for fold in model._answers.folds] for row in range(300)])
    expected = (
        naive_jackknife_plus(by_fold / unit, out, residuals / scale(model.oof_prediction_), per_cent) * unit
    )

    assert_allclose(model.predict_interval(new, alpha), expected, rtol=1e-9)


def test_those_of_a_forest_are_scaled_by_what_its_leaves_hold() -> None:
    forest = RandomForestRegressor(30, min_samples_leaf=2, random_state=0).fit(X, Y)
    new = X[:7] + 0.01
    own, inner = forest.oob_prediction_, forest.oob_quantiles([0.1, 0.9])
    known = np.isfinite(own)
    spread, new_spread = np.diff(inner)[known, 0], np.diff(forest.predict_quantiles(new, [0.1, 0.9]))[:, 0]
    residuals = np.abs(Y - own)[known]
    scale = ResidualScale.of(own[known], residuals, np.ones(known.sum()), 0.1, spread)

    trees = np.stack([tree.predict(new) for tree in forest.estimators_], axis=1)
    unit = scale(trees.mean(axis=1), new_spread)[:, None]
    out = (forest._training_rows("test").counts() == 0).T[known]
    expected = naive_jackknife_plus(trees / unit, out, residuals / scale(own[known], spread), 10) * unit

    assert_allclose(forest.predict_interval(new, 0.1), expected, rtol=1e-6)
