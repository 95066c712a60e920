"""Bags as they were drawn: against the members' own samples, sums by hand, and the chance of a row to be left out."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier as SkBagging
from sklearn.ensemble import RandomForestRegressor as SkForest

from coterie import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from coterie.diagnostics import BagCounts, bag_counts
from coterie.errors import InvalidInput, InvalidType
from coterie.plots import BagsDisplay

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("kind", [BaggingClassifier, RandomForestClassifier, SkBagging, SkForest])
def test_a_bootstrap_sample_leaves_out_37_percent(kind: Any) -> None:
    model = kind(n_estimators=60, random_state=0).fit(X, Y)
    found = bag_counts(model, X)

    for number, rows in enumerate(model.estimators_samples_):
        np.testing.assert_array_equal(np.repeat(np.arange(300), found.counts[number]), np.sort(rows))
    assert found.expected_left_out == pytest.approx((1 - 1 / 300) ** 300)
    assert found.share_left_out.mean() == pytest.approx(0.367, abs=0.01)


def test_coverage_is_counted_member_by_member() -> None:
    model = RandomForestClassifier(30, random_state=0).fit(X, Y)
    found = bag_counts(model, X)
    left_out: set[int] = set()
    for number, rows in enumerate(model.estimators_samples_):
        left_out |= set(range(300)) - set(rows.tolist())
        assert found.share_covered[number] == pytest.approx(len(left_out) / 300)

    np.testing.assert_array_equal(found.coverage, model.oob_coverage_)


def test_subsamples_leave_out_what_is_left() -> None:
    model = BaggingClassifier(n_estimators=5, bootstrap=False, max_samples=0.25, random_state=0).fit(X, Y)
    found = bag_counts(model, X)

    assert (found.share_left_out == 0.75).all()
    assert found.expected_left_out == 0.75


def test_rows_and_members_of_the_heatmap() -> None:
    counts = RNG.poisson(1.0, size=(35, 50))
    display = BagsDisplay(BagCounts(counts))
    heatmap = display.chart().heatmap
    assert heatmap is not None

    np.testing.assert_array_equal(heatmap.values, np.minimum(counts[:30, :40].T, 4))
    third = display.frames()[2].charts
    assert third[0].heatmap is not None
    assert np.isnan(third[0].heatmap.values[:, 3:]).all()
    np.testing.assert_array_equal(third[1].points[0].y, (counts[:3] == 0).mean(axis=1))
    assert len(third[2].lines[1].x) == 3
    assert [frame.name for frame in display.frames()[:2]] == ["1 member", "2 members"]


def test_models_without_bags_and_other_tables() -> None:
    with pytest.raises(InvalidType, match="has no bags"):
        bag_counts(GradientBoostingClassifier(n_estimators=2).fit(X, Y), X)
    with pytest.raises(InvalidInput, match="X has 10 rows, and a member drew row"):
        bag_counts(RandomForestClassifier(2).fit(X, Y), X[:10])
