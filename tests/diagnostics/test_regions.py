"""Decision regions: every place of the grid against a prediction for a row that is made by hand."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.ensemble import AdaBoostClassifier as SkAdaBoost
from sklearn.ensemble import BaggingClassifier as SkBagging
from sklearn.ensemble import GradientBoostingClassifier as SkBoosting
from sklearn.ensemble import RandomForestClassifier as SkForest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB

from coterie import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from coterie.diagnostics import decision_regions, margins
from coterie.errors import InvalidParameter
from coterie.trees import DecisionTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4)).round(3)
Y = np.array(["no", "yes"])[(X[:, 1] * X[:, 3] + 0.3 * X[:, 0] > 0).astype(int)]
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 1] + X[:, 3], [-0.7, 0.7])]
TREE = DecisionTreeClassifier(max_depth=5).fit(X, Y)


def by_hand(model: Any, place: tuple[int, int], axes: Any, rows: np.ndarray) -> np.ndarray:
    """The mean probabilities over rows, place by place."""
    found = np.zeros((len(axes[1]), len(axes[0]), len(model.classes_)))
    for i, y in enumerate(axes[1]):
        for j, x in enumerate(axes[0]):
            own = rows.copy()
            own[:, place[0]], own[:, place[1]] = x, y
            found[i, j] = np.mean(model.predict_proba(own), axis=0)
    return found


def test_other_columns_hold_their_lower_median() -> None:
    found = decision_regions(TREE, X, (3, 1), resolution=9)
    row = np.sort(X, axis=0)[44:45]  # of 90 rows, the 45th

    np.testing.assert_array_equal(
        found.shares[0], by_hand(TREE, (3, 1), (found.x.values, found.y.values), row)
    )
    low, high = X[:, 3].min(), X[:, 3].max()
    edge = 0.05 * (high - low)
    ends = np.linspace(low - edge, high + edge, 10)
    np.testing.assert_allclose(found.x.values, (ends[1:] + ends[:-1]) / 2)
    assert (found.x.name, found.response, found.stages) == ("x3", "probability", ("DecisionTreeClassifier",))


def test_shares_are_averaged_over_rows_that_are_spread_evenly() -> None:
    found = decision_regions(TREE, X, (1, 0), others="average", resolution=6, max_rows=5)
    rows = X[[0, 22, 44, 67, 89]]

    np.testing.assert_allclose(found.shares[0], by_hand(TREE, (1, 0), (found.x.values, found.y.values), rows))


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.DataFrame, pa.table, dict, lambda table: pd.DataFrame(table, index=[5] * 90)],
    ids=["pandas", "polars", "arrow", "dict", "index"],
)
@pytest.mark.parametrize("others", ["typical", "average"])
def test_any_table_is_the_array(make: Any, others: str) -> None:
    table = make({name: X[:, place] for place, name in enumerate("abcd")})
    model = DecisionTreeClassifier(max_depth=5).fit(table, Y)
    found = decision_regions(model, table, ("b", "d"), others=others, resolution=7, max_rows=4)
    expected = decision_regions(TREE, X, (1, 3), others=others, resolution=7, max_rows=4)

    np.testing.assert_array_equal(found.shares, expected.shares)


def test_a_sparse_matrix() -> None:
    model = LogisticRegression().fit(sparse.csr_array(X), Y)
    found = decision_regions(model, sparse.csr_array(X), (0, 2), others="average", resolution=5)

    np.testing.assert_allclose(
        found.shares, decision_regions(model, X, (0, 2), others="average", resolution=5).shares
    )


STAGED = {
    "adaboost": AdaBoostClassifier(n_estimators=12),
    "boosting": GradientBoostingClassifier(n_estimators=12, random_state=0),
    "sklearn adaboost": SkAdaBoost(n_estimators=12, random_state=0),
    "sklearn boosting": SkBoosting(n_estimators=12, random_state=0),
}


@pytest.mark.parametrize("response", ["auto", "class"])
@pytest.mark.parametrize("name", STAGED)
def test_after_some_rounds_classes_are_those_of_staged_predictions(name: str, response: str) -> None:
    model = STAGED[name].fit(X, THREE)
    found = decision_regions(model, X, (1, 3), rounds=[1, 4, 12], resolution=8, response=response)
    cells = np.tile(np.sort(X, axis=0)[44], (64, 1))
    cells[:, 1], cells[:, 3] = np.tile(found.x.values, 8), np.repeat(found.y.values, 8)
    staged = list(model.staged_predict(cells))

    assert found.stages == ("after 1 round", "after 4 rounds", "after 12 rounds")
    for stage, number in enumerate([1, 4, 12]):
        np.testing.assert_array_equal(found.labels[stage].ravel(), staged[number - 1])
    np.testing.assert_allclose(found.shares.sum(axis=3), 1.0)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(9, random_state=0),
        BaggingClassifier(GaussianNB(), 9, random_state=0),
        SkForest(9, random_state=0),
        SkBagging(GaussianNB(), 9, random_state=0),
    ],
    ids=["forest", "bagging", "sklearn forest", "sklearn bagging"],
)
def test_with_some_members_shares_are_means_over_the_first(model: Any) -> None:
    model.fit(X, THREE)
    found = decision_regions(model, X, (1, 3), rounds=[2, 9], resolution=5)
    members = decision_regions(model, X, (1, 3), members=True, resolution=5)

    assert found.stages == ("with 2 members", "with 9 members")
    assert members.shares.shape == (9, 5, 5, 3)
    np.testing.assert_allclose(found.shares[0], members.shares[:2].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(found.shares[1], members.shares.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(
        found.shares[1], decision_regions(model, X, (1, 3), resolution=5).shares[0], atol=1e-6
    )


def test_a_share_of_votes_is_half_of_one_plus_the_margin() -> None:
    model = AdaBoostClassifier(n_estimators=20).fit(X, Y)
    found = decision_regions(model, X, (1, 3), rounds=[3, 20], resolution=6, response="votes")
    cells = np.tile(np.sort(X, axis=0)[44], (36, 1))
    cells[:, 1], cells[:, 3] = np.tile(found.x.values, 6), np.repeat(found.y.values, 6)
    of_yes = margins(model, cells, np.full(36, "yes"), rounds=[3, 20]).margins

    np.testing.assert_allclose(found.shares[..., 1].reshape(2, 36), (1 + of_yes) / 2, atol=1e-12)


def test_members_that_vote_have_all_or_nothing() -> None:
    model = VotingClassifier([("line", Perceptron()), ("bayes", GaussianNB())], voting="hard").fit(X, Y)
    found = decision_regions(model, X, (1, 3), members=[1], resolution=5)

    assert found.stages == ("bayes",)
    assert set(np.unique(found.shares)) == {0.0, 1.0}


def test_levels_and_dates_hold_what_rows_hold() -> None:
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(40) ** 2, unit="D")
    table = pd.DataFrame(
        {
            "town": pd.Categorical(["Oslo", "Rome", None, "Bonn"] * 10),
            "sold": days,
            "size": np.arange(40.0),
            "kind": ["x", "x", "y", "x"] * 10,
        }
    )
    y = np.where((table["town"] == "Rome") & (table["size"] > 20), "high", "low")
    model = RandomForestClassifier(20, random_state=0).fit(table, y)
    found = decision_regions(model, table, ("town", "sold"), resolution=10)

    assert set(found.x.levels) == {"Oslo", "Rome", "Bonn"}
    assert (found.y.holds_dates, np.isnan(found.x.place).sum()) == (True, 10)
    assert found.shares.shape == (1, 10, 3, 2)
    own = pd.DataFrame({"town": ["Rome"], "sold": days[-1:], "size": [19.0], "kind": ["x"]})
    place = found.x.levels.index("Rome")
    expected = model.predict_proba(own.astype({"town": table["town"].dtype}))[0]
    np.testing.assert_allclose(found.shares[0, -1, place], expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": (1, 1)}, "columns=.*two different columns"),
        ({"columns": (0, 1, 2)}, "two different columns"),
        ({"response": "odds"}, "response='odds'"),
        ({"others": "mean"}, "others='mean'"),
        ({"rounds": 3}, "DecisionTreeClassifier has no rounds"),
        ({"rounds": 3, "members": True}, "one of them"),
        ({"resolution": 1}, "resolution=1"),
    ],
)
def test_errors_name_the_parameter(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        decision_regions(TREE, X, **options)


def test_regressors_have_no_regions() -> None:
    with pytest.raises(InvalidParameter, match="a fitted classifier"):
        decision_regions(RandomForestRegressor(3).fit(X, X[:, 0]), X)


@pytest.mark.parametrize("members", [9, [], [-1], "all"])
def test_a_member_that_does_not_exist(members: Any) -> None:
    model = RandomForestClassifier(3).fit(X, Y)
    with pytest.raises(InvalidParameter, match="members="):
        decision_regions(model, X, members=members)
