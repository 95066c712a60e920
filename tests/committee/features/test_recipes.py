"""What generated columns hold, by hand, and what they are called."""

import numpy as np
import pytest

from coterie.committee.features.recipes import (
    Arithmetic,
    CountBy,
    Recipe,
    RowKey,
    SummaryBy,
    TargetMeanBy,
)

NAN = np.nan
NAMES = ["area", "rooms", "town", "kind"]
COLUMNS = [
    np.array([60.0, 90.0, 80.0, NAN]),
    np.array([3.0, 0.0, 2.0, 1.0]),
    np.array([0.0, 0.0, 1.0, NAN]),
    np.array([0.0, 1.0, 1.0, 1.0]),
]
ONES = np.ones(4)
TOWN, BOTH = RowKey.of((2,), COLUMNS), RowKey.of((2, 3), COLUMNS)


@pytest.mark.parametrize(
    ("recipe", "name", "values"),
    [
        (Arithmetic(0, 1, "sum"), "area + rooms", [63, 90, 82, NAN]),
        (Arithmetic(0, 1, "difference"), "area - rooms", [57, 90, 78, NAN]),
        (Arithmetic(0, 1, "product"), "area * rooms", [180, 0, 160, NAN]),
        (Arithmetic(0, 1, "ratio"), "area / rooms", [20, NAN, 40, NAN]),
        (CountBy.learned(TOWN, COLUMNS, ONES), "count of town", [2, 2, 1, 1]),
        (CountBy.learned(BOTH, COLUMNS, ONES), "count of town & kind", [1, 1, 1, 1]),
        (SummaryBy.learned(0, TOWN, "mean", COLUMNS, ONES), "mean of area by town", [75, 75, 80, NAN]),
        (
            SummaryBy.learned(0, TOWN, "spread", COLUMNS, ONES),
            "standard deviation of area by town",
            [15, 15, 0, NAN],
        ),
        (
            SummaryBy.learned(0, TOWN, "deviation", COLUMNS, ONES),
            "area - mean of area by town",
            [-15, 15, 0, NAN],
        ),
    ],
)
def test_generated_columns_are_what_their_names_say(recipe: Recipe, name: str, values: list[float]) -> None:
    assert recipe.name(NAMES) == name
    np.testing.assert_allclose(recipe.values(COLUMNS), values, atol=1e-12)


def test_a_mean_target_is_drawn_towards_that_of_all_rows() -> None:
    target = np.array([1.0, 1.0, 0.0, 0.0])
    recipe = TargetMeanBy.learned(TOWN, "yes", COLUMNS, target, ONES)
    np.testing.assert_allclose(recipe.values(COLUMNS), [7 / 12, 7 / 12, 5 / 11, 5 / 11])
    assert recipe.name(NAMES) == "share of yes by town"
    assert TargetMeanBy.learned(BOTH, None, COLUMNS, target, ONES).name(NAMES) == (
        "mean of the target by town & kind"
    )


def test_a_row_has_no_part_in_its_own_mean_target() -> None:
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 60).astype(np.float64)]
    key, target, part = RowKey.of((0,), columns), rng.normal(size=60), np.arange(60) % 5
    recipe = TargetMeanBy.learned(key, None, columns, target, np.ones(60))
    found = recipe.out_of_fold(columns, target, np.ones(60), part)
    changed = target.copy()
    changed[part == 2] += 100.0
    again = recipe.out_of_fold(columns, changed, np.ones(60), part)
    np.testing.assert_array_equal(found[part == 2], again[part == 2])
    assert (found[part != 2] != again[part != 2]).all()


def test_keys_that_fit_did_not_see_have_the_values_of_nobody() -> None:
    new = [np.array([50.0]), np.array([1.0]), np.array([7.0]), np.array([0.0])]
    target = np.array([1.0, 2.0, 3.0, 4.0])
    assert CountBy.learned(TOWN, COLUMNS, ONES).values(new) == 0.0
    assert np.isnan(SummaryBy.learned(0, TOWN, "mean", COLUMNS, ONES).values(new)).all()
    assert TargetMeanBy.learned(TOWN, None, COLUMNS, target, ONES).values(new) == 2.5


def test_a_weight_of_two_is_the_row_twice() -> None:
    twice = [np.append(column, column[0]) for column in COLUMNS]
    weight, target = np.array([2.0, 1.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0, 4.0])
    for heavy, double in (
        (CountBy.learned(TOWN, COLUMNS, weight), CountBy.learned(TOWN, twice, np.ones(5))),
        (
            SummaryBy.learned(0, TOWN, "spread", COLUMNS, weight),
            SummaryBy.learned(0, TOWN, "spread", twice, np.ones(5)),
        ),
        (
            TargetMeanBy.learned(TOWN, None, COLUMNS, target, weight),
            TargetMeanBy.learned(TOWN, None, twice, np.append(target, target[0]), np.ones(5)),
        ),
    ):
        np.testing.assert_allclose(heavy.values(COLUMNS), double.values(COLUMNS))
