"""Curves of a user's own numbers: what is drawn, its limits, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coterie.errors import InvalidInput
from coterie.plots import CurvesDisplay

X = np.array([1.0, 2.0, 4.0])


def test_a_curve_is_a_line_and_a_tuple_of_three_is_a_line_with_a_band() -> None:
    display = CurvesDisplay(X, {"a": [1, 2, 3], "b": ([2, 2, 2], [1, 1, 1], [3, 4, 5])})
    plain, banded = display.chart().lines

    assert plain.low is None
    assert_array_equal(banded.high, [3, 4, 5])
    assert list(display.data) == ["x", "a", "b", "b, low", "b, high"]


def test_everything_lies_between_the_ends_of_the_axes() -> None:
    chart = CurvesDisplay(X, {"b": ([2, 2, 2], [1, 1, 1], [3, 4, 5])}, points={"p": ([0.5], [9.0])}).chart()

    assert chart.x.low < 0.5 < 4.0 < chart.x.high
    assert chart.y.low < 1 < 9 < chart.y.high


def test_a_flat_curve_has_an_axis_with_two_ends() -> None:
    chart = CurvesDisplay(X, {"flat": [7, 7, 7]}).chart()

    assert (chart.y.low, chart.y.high) == (6.5, 7.5)


def test_dates_are_dates_along_the_axis() -> None:
    days = np.array(["2024-01-01", "2024-06-01", "2025-01-01"], dtype="M8[ns]")
    display = CurvesDisplay(days, {"sales": [1, 2, 3]})

    assert display.chart().x.dates
    assert display.data["x"][0] == 19723
    assert "2024" in display.to_svg()


@pytest.mark.parametrize(
    ("x", "curves", "message"),
    [
        (X, {}, "curves and points are empty; expected a curve or points"),
        (X, {"a": [1, 2]}, r"The curve 'a' has the shape \(2,\); expected \(3,\), as x has"),
        (X, {"a": ([1, 2, 3], [0, 0, 0])}, "The curve 'a' is a tuple of 2"),
        (X, {"a": [1, np.nan, 3]}, r"curves\['a'\] has NaN or infinity"),
        ([], {"a": []}, r"x has the shape \(0,\)"),
        (["low", "high"], {"a": [1, 2]}, "x is .*; expected numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused(x: object, curves: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        CurvesDisplay(x, curves)  # type: ignore[arg-type]


def test_an_axis_of_logarithms_has_no_zero() -> None:
    with pytest.raises(InvalidInput, match="expected values above 0, with log_x=True"):
        CurvesDisplay([0.0, 1.0], {"a": [1, 2]}, log_x=True)
