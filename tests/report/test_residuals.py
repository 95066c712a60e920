"""Residuals are summed up by groups of neighbouring predictions."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression

from coterie import VotingRegressor, report


def charts_and_model(n_rows: int) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """The charts of the section by their titles, what is true and what was predicted."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 2))
    y = X @ [2.0, -1.0] + rng.gumbel(size=n_rows)  # skewed: the median is not the mean
    model = VotingRegressor([("line", LinearRegression())]).fit(X, y)
    sections = {section["key"]: section for section in report.build(model, X, y).to_dict()["sections"]}
    charts = {block["title"]: block for block in sections["residuals"]["blocks"] if block["kind"] == "chart"}
    return charts, y, model.predict(X)


@pytest.mark.parametrize(("n_rows", "n_groups"), [(119, 11), (300, 12), (24, 2)])
def test_a_group_has_ten_rows_at_least_and_there_are_twelve_at_most(n_rows: int, n_groups: int) -> None:
    charts, truth, predicted = charts_and_model(n_rows)
    (band,) = charts["Residuals by predicted value"]["lines"]

    order = np.argsort(predicted)
    sizes = [n_rows // n_groups + (i < n_rows % n_groups) for i in range(n_groups)]
    ends = np.cumsum(sizes)
    groups = [order[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    residual = truth - predicted
    assert len(band["x"]) == n_groups
    assert_allclose(band["x"], [predicted[rows].mean() for rows in groups], rtol=1e-5)
    for name, share in {"low": 0.1, "y": 0.5, "high": 0.9}.items():
        assert_allclose(band[name], [np.quantile(residual[rows], share) for rows in groups], rtol=1e-5)


@pytest.mark.parametrize("n_rows", [7, 19])
def test_too_few_rows_for_two_groups_have_no_band(n_rows: int) -> None:
    charts, _, predicted = charts_and_model(n_rows)
    assert charts["Residuals by predicted value"]["lines"] == []
    assert len(charts["Residuals by predicted value"]["points"][0]["x"]) == len(predicted)


def test_the_distribution_counts_every_residual_once_in_forty_bins() -> None:
    charts, truth, predicted = charts_and_model(119)
    (steps,) = charts["Distribution of residuals"]["lines"]

    edges, shares = np.array(steps["x"]), np.array(steps["y"])
    residual = truth - predicted
    counted = [((residual >= low) & (residual < high)).mean() for low, high in pairwise(edges)]
    assert len(edges) == 41
    assert_allclose(shares[:-1], counted, atol=1e-6)
    assert sum(counted) == pytest.approx(1)
