"""Thresholds: their scores by scikit-learn, what tuning finds, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.decision_rule import (
    TUNED_SCORES,
    DecisionRule,
    DecisionSettings,
    Objective,
    cross_fitted_decisions,
    decided_codes,
    parsed_threshold,
    parts_of_rows,
    tuned_threshold,
)
from tests.naive.thresholds import naive_best, naive_cost, naive_score


def rows_of(seed: int, n_rows: int, share: float = 0.2) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n_rows) < share
    positive[:2] = True, False
    proba = 1 / (1 + np.exp(-(rng.normal(size=n_rows) + 1.5 * positive - 2)))
    return proba, positive, rng.integers(1, 4, n_rows).astype(float)


@given(st.integers(0, 1000), st.integers(4, 60), st.floats(0.05, 0.95), st.sampled_from(TUNED_SCORES))
@settings(deadline=None, max_examples=60)
def test_scores_are_those_of_scikit_learn(seed: int, n_rows: int, threshold: float, name: str) -> None:
    proba, positive, weight = rows_of(seed, n_rows)
    decided = proba >= threshold

    found = Objective(name).score(positive, decided, weight)

    assert found == pytest.approx(naive_score(name, positive, decided, weight), abs=1e-12)


@given(st.integers(0, 1000), st.integers(4, 60), st.floats(0.05, 0.95))
@settings(deadline=None, max_examples=40)
def test_costs_are_counted_row_by_row(seed: int, n_rows: int, threshold: float) -> None:
    proba, positive, weight = rows_of(seed, n_rows)
    costs = np.random.default_rng(seed).random((2, 2))

    found = Objective("cost", costs=costs).score(positive, proba >= threshold, weight)

    assert -found == pytest.approx(naive_cost(costs, positive, proba >= threshold, weight))


@given(st.integers(0, 1000), st.sampled_from(TUNED_SCORES))
@settings(deadline=None, max_examples=15)
def test_the_tuned_threshold_is_nearly_the_best_of_all(seed: int, name: str) -> None:
    proba, positive, weight = rows_of(seed, 100)

    threshold = tuned_threshold(proba, positive, weight, Objective(name))

    assert 0 <= threshold < 1
    found = naive_score(name, positive, proba >= threshold, weight)
    assert found >= 0.85 * naive_best(name, proba, positive, weight)


@given(st.integers(0, 1000), st.floats(0.2, 0.95))
@settings(deadline=None, max_examples=30)
def test_bounds_are_kept_but_for_the_smoothing(seed: int, bound: float) -> None:
    proba, positive, weight = rows_of(seed, 1000)

    threshold = tuned_threshold(proba, positive, weight, Objective("precision_at_recall", bound))

    recall = weight @ (positive & (proba >= threshold)) / (weight @ positive)
    assert recall >= bound - 0.06


def test_more_recall_is_a_lower_threshold_and_more_precision_a_higher_one() -> None:
    proba, positive, weight = rows_of(0, 3000)
    by_recall = [
        tuned_threshold(proba, positive, weight, Objective("precision_at_recall", own)) for own in (0.5, 0.9)
    ]
    by_precision = [
        tuned_threshold(proba, positive, weight, Objective("recall_at_precision", own)) for own in (0.3, 0.6)
    ]

    assert by_recall[0] > by_recall[1]
    assert by_precision[0] < by_precision[1]


def test_a_dear_miss_lowers_the_threshold_as_theory_says() -> None:
    rng = np.random.default_rng(1)
    proba = rng.random(200_000)
    positive = rng.random(200_000) < proba
    ones = np.ones(200_000)

    found = [
        tuned_threshold(proba, positive, ones, Objective("cost", costs=np.array([[0, 1], [c, 0]])))
        for c in (1, 4)
    ]

    assert_allclose(found, [1 / 2, 1 / 5], atol=0.03)


def test_a_threshold_varies_less_than_the_best_one() -> None:
    """The reason for the bootstrap: of few positive rows the best threshold is mostly luck."""
    tuned, best = [], []
    for seed in range(60):
        proba, positive, _ = rows_of(seed, 300, share=0.08)
        proba, positive = proba[np.argsort(-proba)], positive[np.argsort(-proba)]
        tp, counts = np.cumsum(positive), np.arange(1.0, 301.0)
        scores = Objective("f1").values(tp, counts - tp, tp[-1:], 300 - tp[-1:])
        best.append(float(proba[int(np.argmax(scores))]))
        tuned.append(tuned_threshold(proba, positive, np.ones(300), Objective("f1")))
    assert np.std(tuned) < 0.97 * np.std(best)


def test_the_seed_decides() -> None:
    proba, positive, weight = rows_of(0, 200)
    one, again, other = (
        tuned_threshold(proba, positive, weight, Objective("f1"), seed=own) for own in (0, 0, 1)
    )
    assert one == again
    assert abs(one - other) < 0.2


def test_no_row_helps_to_decide_about_itself() -> None:
    proba, positive, weight = rows_of(0, 300)
    part = parts_of_rows(300)
    decided = cross_fitted_decisions(proba, positive, weight, Objective("f1"), part)
    flipped = positive.copy()
    flipped[part == 2] = ~flipped[part == 2]

    again = cross_fitted_decisions(proba, flipped, weight, Objective("f1"), part)

    assert_array_equal(again[part == 2], decided[part == 2])


def test_all_positive_rows_in_one_part_are_decided_by_all_rows() -> None:
    proba = np.linspace(0, 1, 20)
    positive = np.zeros(20, dtype=bool)
    positive[19] = True
    decided = cross_fitted_decisions(proba, positive, np.ones(20), Objective("f1"), parts_of_rows(20))
    assert decided[19]


def test_groups_are_in_one_part() -> None:
    assert_array_equal(parts_of_rows(4, np.array([7, 7, 3, 3])), [2, 2, 3, 3])


CLASSES = np.array(["no", "yes"])


def rule(threshold: Any = None, costs: Any = None, pos_label: Any = None) -> Any:
    proba, positive, weight = rows_of(0, 500)
    both = np.column_stack([1 - proba, proba])
    own = DecisionSettings(threshold, costs, pos_label, CLASSES)
    return own.rule(both, positive.astype(int), weight, parts_of_rows(500))


def test_a_rule_knows_what_it_was_tuned_to() -> None:
    found = rule("f1")
    assert found.objective == "f1"
    assert found.score > found.default_score
    assert "'yes' from a probability of 0." in found.describe(CLASSES)
    assert rule(None) is None
    assert rule(0.3).describe(CLASSES) == "threshold: 'yes' from a probability of 0.3, as given"
    bounded = rule(("precision_at_recall", 0.9))
    assert bounded.objective == "precision_at_recall=0.9"
    assert bounded.describe(CLASSES).endswith("at one half recall of 0.9 is not reached")
    assert "0.5 at one half" not in rule(costs={"yes": 5}).describe(CLASSES)


def test_the_other_class_may_be_the_positive_one() -> None:
    found = rule("balanced_accuracy", pos_label="no")
    twin = rule("balanced_accuracy")

    assert found.positive == 0
    assert found.threshold == pytest.approx(1 - twin.threshold, abs=0.1)
    proba = np.array([[0.9, 0.1], [0.1, 0.9]])
    assert_array_equal(found.codes(proba), [0, 1])


def test_costs_of_missing_are_a_matrix() -> None:
    settings = DecisionSettings("auto", {"yes": 5}, None, CLASSES)
    assert_array_equal(settings.costs(), [[0, 1], [5, 0]])
    assert rule(costs={"yes": 5}).threshold == rule(costs=[[0, 1], [5, 0]]).threshold
    low = rule(costs={"no": 5, "yes": 1}).threshold
    assert low > rule(costs={"yes": 5}).threshold


def test_several_classes_are_decided_by_priors_or_costs() -> None:
    rng = np.random.default_rng(0)
    codes = rng.choice(3, 900, p=[0.9, 0.07, 0.03])
    proba = rng.dirichlet([9, 1, 1], 900)
    proba[np.arange(900), codes] += 0.2
    proba /= proba.sum(axis=1, keepdims=True)
    classes, ones, part = np.array([0, 1, 2]), np.ones(900), parts_of_rows(900)

    balanced = DecisionSettings("balanced_accuracy", None, None, classes).rule(proba, codes, ones, part)
    assert balanced is not None
    assert balanced.score is not None
    assert balanced.default_score is not None
    assert balanced.score > balanced.default_score + 0.1
    assert_allclose(balanced.multipliers, 900 / (3 * np.bincount(codes)))
    assert "the largest probability times 0 0.3" in balanced.describe(classes)

    costs = 1 - np.eye(3)
    costs[2] *= 50
    by_cost = DecisionSettings(None, costs, None, classes).rule(proba, codes, ones, part)
    assert by_cost is not None
    assert_array_equal(by_cost.codes(proba), (proba @ costs).argmin(axis=1))
    assert by_cost.describe(classes) == "decisions: the class with the least expected cost"


def test_a_power_changes_no_decision() -> None:
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1], 100)
    powers = proba**0.5 / (proba**0.5).sum(axis=1, keepdims=True)
    rules = DecisionRule("f1", 1, 0.3), DecisionRule("balanced_accuracy", multipliers=np.array([0.2, 3.0]))
    for own in rules:
        assert_array_equal(own.codes(proba), own.at_power(0.5).codes(powers))
        assert own.at_power(1.0) is own


def test_a_model_without_a_rule_decides_for_the_most_probable_class() -> None:
    proba = np.array([[0.4, 0.6], [0.5, 0.5]])
    assert_array_equal(decided_codes(object(), proba), [1, 0])


@pytest.mark.parametrize(
    ("threshold", "costs", "pos_label", "classes", "message"),
    [
        ("f1", None, None, [0, 1, 2], "threshold='f1' is for two classes, and y has 3"),
        ("f1", None, "maybe", ["no", "yes"], "pos_label='maybe' is no class to tune"),
        (None, [[0, 1]], None, [0, 1], r"finite numbers of shape \(2, 2\)"),
        (None, [[0, "a"], [1, 0]], None, [0, 1], "finite numbers"),
        (None, [[1, 1], [1, 1]], None, [0, 1], "no error that costs more"),
        (None, {"no": 1, "maybe": 2}, None, ["no", "yes"], "costs >= 0"),
        (None, {"no": -1}, None, ["no", "yes"], "costs >= 0"),
        (None, {"no": 0}, None, ["no", "yes"], "not all of them 0"),
    ],
)
def test_wrong_settings_say_what_is_right(
    threshold: Any, costs: Any, pos_label: Any, classes: list[Any], message: str
) -> None:
    settings = DecisionSettings(threshold, costs, pos_label, np.array(classes))
    proba = np.full((10, len(classes)), 1 / len(classes))
    codes = np.arange(10) % len(classes)
    with pytest.raises(InvalidParameter, match=message) as raised:
        settings.rule(proba, codes, np.ones(10), parts_of_rows(10))
    assert raised.value.parameter in ("threshold", "pos_label", "cost_matrix")


def test_a_positive_class_that_was_never_held_out_cannot_be_tuned_for() -> None:
    settings = DecisionSettings("f1", None, None, CLASSES)
    with pytest.raises(InvalidInput, match="No row of the positive class 'yes' was held out"):
        settings.rule(np.full((4, 2), 0.5), np.zeros(4, int), np.ones(4), parts_of_rows(4))


@pytest.mark.parametrize(
    "text", ["", "f2", "1.5", "nan", "0", "precision_at_recall", "precision_at_recall=2", "x=0.5"]
)
def test_texts_that_are_no_threshold(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parsed_threshold(text)


def test_the_middle_of_equally_good_thresholds_counts_the_first_row() -> None:
    proba, positive = np.array([0.9, 0.8, 0.1]), np.array([True, False, False])

    threshold = tuned_threshold(proba, positive, np.array([1.0, 0.0, 1.0]), Objective("f1"))

    assert threshold == pytest.approx((0.9 + 0.8) / 2)
