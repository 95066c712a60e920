"""Blending: one hold-out, by share, by time, by group or as given."""

from typing import Any

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from coterie import BlendingClassifier, BlendingRegressor, StackingRegressor
from coterie.errors import InvalidInput, InvalidParameter
from tests.helpers.learners import RowSpy

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
SCORE = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * RNG.normal(size=120)
LABELS = np.where(SCORE > 1.2, "rare", "common")
ROWS = np.arange(120.0)[:, None]
REGRESSORS: list[Any] = [
    ("linear", LinearRegression()),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
]


def spied(**settings: Any) -> tuple[set[int], set[int]]:
    """The rows that members learned from, and those that the final estimator did."""
    groups = settings.pop("groups", None)
    model = BlendingRegressor([("spy", RowSpy())], random_state=0, **settings).fit(ROWS, SCORE, groups=groups)
    assert_array_equal(model.oof_predictions_["spy"][model.oof_coverage_ > 0], 0.0)
    return model.estimators_[0].models[0].rows_, set(np.flatnonzero(model.oof_coverage_).tolist())


def test_a_quarter_is_held_out() -> None:
    learned, held_out = spied()

    assert len(held_out) == 30
    assert learned == set(range(120)) - held_out
    assert spied(cv=0.5)[1] != held_out
    assert spied() == (learned, held_out)


def test_the_last_rows_rows_of_ones_own_and_a_splitter() -> None:
    last = set(range(90, 120))
    mask = np.arange(120) >= 90

    assert spied(order="last_rows")[1] == last
    assert spied(cv=np.arange(90, 120))[1] == last
    assert spied(cv=mask)[1] == last
    assert spied(cv=np.arange(-30, 0))[1] == last
    with pytest.warns(UserWarning, match="never held out"):
        assert len(spied(cv=ShuffleSplit(1, test_size=0.2, random_state=0))[1]) == 24


def test_groups_stay_together() -> None:
    groups = RNG.integers(0, 12, 120)
    learned, held_out = spied(groups=groups)

    assert not set(groups[sorted(learned)]) & set(groups[sorted(held_out)])
    with pytest.raises(InvalidInput, match="order='last_rows'"):
        spied(groups=groups, order="last_rows")


@pytest.mark.parametrize(
    "cv", [0.25, [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]]
)
def test_groups_and_weights_are_routed_if_routing_is_on(cv: Any) -> None:
    groups, weight = np.arange(120) // 10, RNG.integers(1, 3, 120).astype(float)
    given = {"groups": groups} if isinstance(cv, float) else {}
    with sklearn.config_context(enable_metadata_routing=True):
        members = [("ridge", Ridge().set_fit_request(sample_weight=True))]
        model = BlendingRegressor(members, cv=cv, members="refit", random_state=0)
        model.fit(X, SCORE, sample_weight=weight, **given)

    assert_array_equal(model.estimators_[0].coef_, Ridge().fit(X, SCORE, weight).coef_)
    if given:
        assert len(set(groups[model.oof_coverage_ > 0]) & set(groups[model.oof_coverage_ == 0])) == 0


def test_classes_keep_their_shares() -> None:
    model = BlendingClassifier([("bayes", GaussianNB())], random_state=0).fit(X, LABELS)
    held_out = model.oof_coverage_ > 0

    assert abs((LABELS[held_out] == "rare").mean() - (LABELS == "rare").mean()) < 0.02


def test_it_is_stacking_with_one_fold() -> None:
    fold = [(np.arange(90), np.arange(90, 120))]
    for members in ("refit", "folds"):
        blend = BlendingRegressor(REGRESSORS, Ridge(), order="last_rows", members=members).fit(X, SCORE)
        with pytest.warns(UserWarning, match="never held out"):
            stack = StackingRegressor(REGRESSORS, Ridge(), cv=fold, members=members).fit(X, SCORE)
        assert_allclose(blend.predict(X), stack.predict(X))
        assert blend.oof_score_ == stack.oof_score_
        final = Ridge().fit(
            np.column_stack([each.fit(X[:90], SCORE[:90]).predict(X[90:]) for _, each in REGRESSORS]),
            SCORE[90:],
        )
        assert_allclose(blend.final_estimator_.coef_, final.coef_)


def test_members_are_kept_or_fitted_once_more() -> None:
    kept, again = (
        BlendingRegressor([("spy", RowSpy())], members=members, random_state=0)
        .fit(ROWS, SCORE)
        .estimators_[0]
        for members in ("folds", "refit")
    )

    assert len(kept.models) == 1
    assert again.rows_ == set(range(120))


def test_a_blend_can_be_guarded_and_given_another_final_estimator() -> None:
    model = BlendingClassifier([("bayes", GaussianNB())], leak_guard=True, random_state=0).fit(X, LABELS)

    assert not model.leak_guard_.leaks
    other = model.recombined(LogisticRegression(C=0.1))
    assert other.estimators_[0] is model.estimators_[0]
    assert abs(other.final_estimator_.coef_[0][0]) < abs(model.final_estimator_.coef_[0][0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cv": [500]}, "numbers of rows, from 0 to 119"),
        ({"cv": np.ones(7, dtype=bool)}, "mask of 120 booleans"),
        ({"cv": np.arange(120)}, "lists every row"),
        ({"cv": [1, 2], "order": "last_rows"}, "goes with a share"),
        ({"cv": 1.5}, r"cv=1.5.*expected a number in \(0, 1\)"),
    ],
)
def test_rows_that_cannot_be_held_out_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        BlendingRegressor(REGRESSORS, **settings).fit(X, SCORE)


def test_one_row_cannot_be_divided() -> None:
    with pytest.raises(InvalidInput, match="n_samples=1"):
        BlendingRegressor(REGRESSORS).fit(X[:1], SCORE[:1])
