"""A mean that grows by one member: the share of each is chosen by other rows than those it is measured on."""

import numpy as np
import pytest

from coterie.committee import growing_mean
from coterie.committee.growing_mean import GrowingMean
from coterie.committee.metrics import LogLossMetric, RowTargets

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=200)
TARGETS = RowTargets(TRUTH, np.ones(200))


def numbers(noise: float, seed: int) -> np.ndarray:
    return (TRUTH + noise * np.random.default_rng(seed).normal(size=200))[:, None]


def a_mean(noise: float = 1.0) -> GrowingMean:
    mean = GrowingMean(TARGETS, is_classification=False)
    assert mean.add(numbers(noise, 1)) == float("inf")
    return mean


def test_gain_and_mean_are_those_of_the_definition() -> None:
    mean, new = a_mean(), numbers(1.0, 2)
    before = mean.predictions
    assert before is not None
    expected = np.zeros(200)
    for part in range(5):
        own = np.arange(200) % 5 == part
        losses = [
            np.mean((before + share * (new - before) - TRUTH[:, None])[~own] ** 2)
            for share in growing_mean._SHARES
        ]
        share = growing_mean._SHARES[int(np.argmin(losses))]
        expected[own] = (before + share * (new - before))[own, 0]

    growth = mean.growth(new)

    np.testing.assert_allclose(growth.predictions[:, 0], expected)
    old_loss, new_loss = np.mean((before[:, 0] - TRUTH) ** 2), np.mean((expected - TRUTH) ** 2)
    assert growth.gain == pytest.approx(1 - new_loss / old_loss)
    assert 0.3 < mean.add(new) == growth.gain


def test_members_that_only_fit_noise_gain_nothing_on_average() -> None:
    mean = a_mean(noise=0.1)
    gains = [mean.growth(numbers(3.0, seed)).gain for seed in range(40)]

    assert np.mean(gains) < 0.002
    assert mean.add(np.full((200, 1), 50.0)) == 0.0


def test_rows_that_a_member_did_not_predict_keep_the_mean() -> None:
    mean, new = a_mean(), numbers(0.1, 2)
    new[50:] = np.nan
    before = np.array(mean.predictions)

    growth = mean.growth(new)

    np.testing.assert_array_equal(growth.predictions[50:], before[50:])
    assert (growth.predictions[:50] != before[:50]).all()
    assert growth.gain > 0.9


def test_rows_without_weight_count_for_nothing_and_of_many_some_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weight = np.where(np.arange(200) < 100, 1.0, 0.0)
    mean = GrowingMean(RowTargets(TRUTH, weight), is_classification=False)
    mean.add(numbers(1.0, 1))
    good_where_it_counts = np.where(weight > 0, TRUTH, 99.0)[:, None]
    assert mean.growth(good_where_it_counts).gain == pytest.approx(1.0)

    monkeypatch.setattr(growing_mean, "_MOST_ROWS", 20)
    seen: list[int] = []
    losses = LogLossMetric.losses
    monkeypatch.setattr(
        LogLossMetric, "losses", lambda self, p, truth: seen.append(len(p)) or losses(self, p, truth)
    )
    labels = RowTargets((TRUTH > 0).astype(np.int64), np.ones(200))
    of_classes = GrowingMean(labels, is_classification=True)
    of_classes.add(np.full((200, 2), 0.5))
    of_classes.add(np.column_stack([TRUTH <= 0, TRUTH > 0]) * 0.8 + 0.1)
    assert set(seen) == {20}
