"""Explanations in a notebook."""

import numpy as np
import pytest

from coterie import DecisionTreeRegressor, RandomForestRegressor

X = np.random.default_rng(0).normal(size=(40, 2))


@pytest.mark.parametrize("n_rows", [1, 5, 6, 9])
def test_five_rows_are_shown_and_the_others_counted(n_rows: int) -> None:
    model = RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    html = model.explain(X[:n_rows])._repr_html_()
    assert ("more rows" in html) == (n_rows > 5)
    if n_rows > 5:
        assert f"and {n_rows - 5} more rows" in html
    one = model.explain(X[:1])._repr_html_().count("<svg")
    assert html.count("<svg") == one * min(n_rows, 5)


def test_a_row_alone_is_the_row_among_others() -> None:
    model = DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])
    whole = model.explain(X[:4])
    for row in range(4):
        np.testing.assert_allclose(whole.values[row], model.explain(X[row : row + 1]).values[0])
        assert whole.to_text(row) == model.explain(X[row : row + 1]).to_text(0)


@pytest.mark.parametrize("row", [0, 2, -1])
def test_a_row_of_an_explanation_is_an_explanation(row: int) -> None:
    model = RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    whole = model.explain(X[:4], interactions=True)
    one = whole[row]
    assert len(one) == 1
    np.testing.assert_array_equal(one.values[0], whole.values[row])
    np.testing.assert_array_equal(one.predictions[0], whole.predictions[row])
    np.testing.assert_array_equal(one.interactions[0], whole.interactions[row])
    assert one.to_text() == whole.to_text(range(4)[row])
    assert [len(own) for own in whole] == [1, 1, 1, 1]
    assert len(whole[1:3]) == 2
