"""Margins are what their definition says, for every ensemble that votes."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, VotingClassifier
from sklearn.ensemble import ExtraTreesClassifier as TheirExtraTrees
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from coterie import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from coterie.datasets import make_messy
from coterie.diagnostics import error_by_round, margins
from tests.naive.forest_oob import answers_of_trees, draws
from tests.naive.margins import naive_margins, naive_soft_margins
from tests.naive.stump_boosting import StumpBoosting

LABELS = np.array(["ant", "bee", "cat"])


def make_rows(n_classes: int = 3, n_rows: int = 120) -> tuple[NDArray[np.float64], NDArray[Any]]:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 4))
    codes = (X[:, 0] + 0.5 * rng.normal(size=n_rows) > 0).astype(int) + (n_classes - 2) * (X[:, 1] > 0.5)
    return X, LABELS[codes]


class Always:
    """Three members that always say the same: yes, no, no."""

    classes_ = np.array(["no", "yes"])
    estimator_weights_ = np.array([2.0, 1.0, 0.5])

    def staged_votes(self, X: Any) -> Any:
        for votes in ([0.0, 2.0], [1.0, 2.0], [1.5, 2.0]):
            yield np.tile(votes, (len(X), 1))


def test_three_members_by_hand() -> None:
    """Votes 2, 1 and 1/2 for yes, no and no: yes leads by 2/2, then 1/3, then 0.5/3.5."""
    found = margins(Always(), np.zeros((2, 1)), ["yes", "no"], rounds="all")

    np.testing.assert_allclose(found.margins, [[1, -1], [1 / 3, -1 / 3], [1 / 7, -1 / 7]], rtol=1e-15)
    assert found.rounds.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(found.error(), [0.5, 0.5, 0.5])


def test_three_classes_by_hand() -> None:
    """Members of weights 3, 2 and 2 say ant, bee and bee: bee has 4 of 7 votes, ant 3, cat none."""
    members: list[tuple[str, Any]] = [
        (name, DummyClassifier(strategy="constant", constant=code))
        for name, code in (("a", 0), ("b", 1), ("c", 1))
    ]
    X, y = np.zeros((3, 1)), LABELS
    model = VotingClassifier(members, weights=[3, 2, 2]).fit(X, y)

    found = margins(model, X, y, rounds=[1, 3])

    np.testing.assert_allclose(found.margins, [[1, -1, -1], [-1 / 7, 1 / 7, -4 / 7]], rtol=1e-15)


@pytest.mark.parametrize("both_ways", [True, False])
def test_adaboost_by_the_definition(both_ways: bool) -> None:
    X, y = make_rows(2, 60)
    model = StumpBoosting(X, y, n_rounds=12, both_ways=both_ways)
    found = margins(model, X, y, rounds="all")

    assert (model.estimator_weights_ < 0).any() != both_ways
    for number in found.rounds:
        expected = naive_margins(
            model.labels(X)[:number], model.estimator_weights_[:number].tolist(), y, model.classes_
        )
        np.testing.assert_allclose(found.margins[number - 1], expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_adaboost_of_scikit_learn(n_classes: int) -> None:
    X, y = make_rows(n_classes)
    model = AdaBoostClassifier(n_estimators=12, random_state=0).fit(X, y)
    found = margins(model, pd.DataFrame(X), y, rounds=[1, 12])

    labels = [member.predict(X) for member in model.estimators_]
    for place, number in enumerate((1, 12)):
        expected = naive_margins(
            labels[:number], model.estimator_weights_[:number].tolist(), y, model.classes_
        )
        np.testing.assert_allclose(found.margins[place], expected, atol=1e-12)
    np.testing.assert_array_equal(found.margins[1] > 0, model.predict(X) == y)


MEMBERS: dict[str, Any] = {
    "forest": TheirForest(9, max_depth=3, random_state=0),
    "extra trees": TheirExtraTrees(9, max_depth=3, random_state=0),
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), 9, max_features=0.5, max_samples=0.1, random_state=0
    ),
}


@pytest.mark.parametrize("votes", ["hard", "soft"])
@pytest.mark.parametrize("name", MEMBERS)
def test_members_of_scikit_learn_side_by_side(name: str, votes: str) -> None:
    X, y = make_rows()
    model = MEMBERS[name].fit(X, y)
    codes = np.searchsorted(LABELS, y)
    columns = getattr(model, "estimators_features_", [slice(None)] * 9)
    shares = []
    for member, own in zip(model.estimators_, columns, strict=True):
        share = np.zeros((len(X), 3))
        share[:, member.classes_.astype(int)] = member.predict_proba(X[:, own])
        shares.append(share)

    found = margins(model, pd.DataFrame(X), y, votes=votes)

    if votes == "hard":
        expected = naive_margins([share.argmax(axis=1) for share in shares], [1.0] * 9, codes, range(3))
    else:
        expected = naive_soft_margins(shares, [1.0] * 9, codes)
    np.testing.assert_allclose(found.margins[0], expected, atol=1e-12)


@pytest.mark.parametrize("votes", ["hard", "soft"])
def test_a_vote_of_different_models(votes: str) -> None:
    X, y = make_rows()
    members = [("line", LogisticRegression()), ("none", "drop"), ("bayes", GaussianNB())]
    model = VotingClassifier(members, weights=[2.0, 5.0, 1.0]).fit(X, y)
    found = margins(model, X, y, votes=votes)

    shares = [member.predict_proba(X) for member in model.estimators_]
    codes = np.searchsorted(LABELS, y)
    if votes == "hard":
        labels = [share.argmax(axis=1) for share in shares]
        expected = naive_margins(labels, [2.0, 1.0], codes, range(3))
    else:
        expected = naive_soft_margins(shares, [2.0, 1.0], codes)
    np.testing.assert_allclose(found.margins[0], expected, atol=1e-12)
    assert found.rounds.tolist() == [2]


@pytest.mark.parametrize("estimator", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_forests_of_ours_count_their_trees(estimator: Any, n_classes: int) -> None:
    X, y = make_rows(n_classes)
    model = estimator(15, max_depth=3, random_state=0).fit(X, y)
    shares = answers_of_trees(model, X)
    codes = np.searchsorted(model.classes_, y)
    hard, soft = margins(model, X, y, rounds=[4, 15]), margins(model, X, y, votes="soft")

    for place, number in enumerate((4, 15)):
        labels = [shares[:, tree].argmax(axis=1) for tree in range(number)]
        expected = naive_margins(labels, [1.0] * number, codes, range(n_classes))
        np.testing.assert_allclose(hard.margins[place], expected, atol=1e-12)
    expected = naive_soft_margins(shares.transpose(1, 0, 2).tolist(), [1.0] * 15, codes)
    np.testing.assert_allclose(soft.margins[0], expected, atol=1e-12)
    np.testing.assert_array_equal(soft.margins[0] > 0, model.predict(X) == y)


def test_out_of_bag_only_trees_vote_that_did_not_draw_the_row() -> None:
    X, y = make_rows()
    weight = np.where(np.arange(len(X)) % 10 == 0, 0.0, 1.0)
    model = RandomForestClassifier(12, random_state=0).fit(X, y, sample_weight=weight)
    shares, counts = answers_of_trees(model, X), draws(model, len(X))
    found = margins(model, X, y, rounds=[3, 12], oob=True)

    codes = np.searchsorted(LABELS, y)
    for place, number in enumerate((3, 12)):
        for row in range(len(X)):
            own = [tree for tree in range(number) if counts[row, tree] == 0]
            if weight[row] == 0 or not own:
                assert np.isnan(found.margins[place, row])
                continue
            labels = [[int(shares[row, tree].argmax())] for tree in own]
            expected = naive_margins(labels, [1.0] * len(own), [codes[row]], range(3))[0]
            assert found.margins[place, row] == pytest.approx(expected, abs=1e-12)
    known = found.margins[1][~np.isnan(found.margins[1])]
    assert found.error(0.2)[1] == pytest.approx(np.mean(known <= 0.2))
    assert found.mean[1] == pytest.approx(known.mean())


@pytest.mark.parametrize("name", ["forest", "bagging"])
def test_scikit_learn_knows_its_bags_too(name: str) -> None:
    X, y = make_rows()
    model = MEMBERS[name].fit(X, y)
    found = margins(model, X, y, oob=True)
    columns = getattr(model, "estimators_features_", [slice(None)] * 9)
    codes = np.searchsorted(LABELS, y)

    for row in range(0, len(X), 7):
        labels = [
            member.predict(X[[row]][:, own]).astype(int)
            for member, own, drawn in zip(model.estimators_, columns, model.estimators_samples_, strict=True)
            if row not in drawn
        ]
        if not labels:
            assert np.isnan(found.margins[0, row])
            continue
        expected = naive_margins(labels, [1.0] * len(labels), [codes[row]], range(3))[0]
        assert found.margins[0, row] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("n_classes", "chosen"),
    [
        (2, {}),
        (3, {}),
        (2, {"linear_leaves": True}),
        (2, {"n_folds": 3}),
        (2, {"init": LogisticRegression()}),
        (2, {"dropout_rate": 0.5}),
        (2, {"loss": "exponential"}),
    ],
)
def test_gradient_boosting_divides_scores_by_the_largest_they_can_be(
    n_classes: int, chosen: dict[str, Any]
) -> None:
    X, y = make_rows(n_classes)
    model = GradientBoostingClassifier(n_estimators=6, random_state=0, **chosen).fit(X, y)
    found = margins(model, X, y, rounds=None if "dropout_rate" in chosen else "all")

    assert (np.abs(found.margins) <= 1).all()
    np.testing.assert_array_equal(found.margins[-1] > 0, model.predict(X) == y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_boosting_by_hand(n_classes: int) -> None:
    X, y = make_rows(n_classes)
    model = GradientBoostingClassifier(n_estimators=4, random_state=0, linear_leaves=False).fit(X, y)
    n_outputs = 1 if n_classes == 2 else n_classes
    largest = [np.abs(model.forest_.tree(i).value).max() for i in range(4 * n_outputs)]
    total = np.abs(model.baseline_).max() + np.reshape(largest, (4, n_outputs)).max(axis=1).sum()
    codes = np.searchsorted(LABELS, y)
    scores = model.decision_function(X)

    if n_classes == 2:
        expected = (2 * codes - 1) * scores / total
    else:
        own = scores[np.arange(len(X)), codes]
        others = [max(np.delete(row, code)) for row, code in zip(scores, codes, strict=True)]
        expected = (own - others) / 2 / total
    # A node inside a tree never answers more than its leaves do.
    np.testing.assert_allclose(margins(model, X, y).margins[0], expected, rtol=1e-9)


def test_a_leaf_that_is_a_line_counts_with_its_largest_answer() -> None:
    """A single line through all rows: the row at its end has all the votes there are, but for the start."""
    X = np.linspace(-1, 1, 200)[:, None]
    y = (X[:, 0] + 0.3 * np.sin(40 * X[:, 0]) > 0).astype(int)
    model = GradientBoostingClassifier(
        n_estimators=1, max_leaf_nodes=2, linear_leaves=True, init="zero", learning_rate=0.5, random_state=0
    ).fit(X, y)
    tree = model.forest_.tree(0)
    found = margins(model, X, y)

    assert len(tree.linear_slope) > 0
    assert np.abs(found.margins).max() == pytest.approx(1.0, abs=1e-6)


def test_errors_by_round_are_those_of_staged_predictions() -> None:
    X, y = make_rows()
    boosting = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    theirs = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X, y)

    for model in (boosting, theirs):
        expected = [np.mean(said != y) for said in model.staged_predict(X)]
        np.testing.assert_allclose(error_by_round(model, X, y), expected)


def test_errors_out_of_bag_are_the_forests_own() -> None:
    X, y = make_rows()
    model = RandomForestClassifier(30, random_state=0).fit(X, y)

    np.testing.assert_allclose(error_by_round(model, X, y, votes="soft", oob=True), model.oob_errors_)


def test_a_weight_of_two_is_the_row_twice() -> None:
    X, y = make_rows(2)
    model = RandomForestClassifier(7, max_depth=2, random_state=0).fit(X, y)
    weight = np.arange(len(X)) % 3
    weighted = margins(model, X, y, sample_weight=weight)
    repeated = margins(model, X.repeat(weight, axis=0), y.repeat(weight))
    q = np.linspace(0, 1, 11)

    np.testing.assert_allclose(weighted.quantile(q), repeated.quantile(q))
    np.testing.assert_allclose(
        weighted.distribution([-0.5, 0.0, 0.5]), repeated.distribution([-0.5, 0.0, 0.5])
    )
    np.testing.assert_allclose(weighted.mean, repeated.mean)
    errors = error_by_round(model, X, y, sample_weight=weight)
    np.testing.assert_allclose(errors, error_by_round(model, X.repeat(weight, axis=0), y.repeat(weight)))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_any_table_and_any_labels(kind: str) -> None:
    X, y = make_messy(150, as_="pandas")
    labels = np.asarray(y)
    model = RandomForestClassifier(5, random_state=0).fit(X, labels)
    frame: Any = make_messy(150, as_="polars")[0]
    table = {"pandas": X, "polars": frame, "arrow": frame.to_arrow()}[kind]
    series: Any = {"pandas": pd.Series, "polars": pl.Series, "arrow": list}[kind](labels)

    np.testing.assert_array_equal(
        margins(model, table, series).margins, margins(model, X, labels.tolist()).margins
    )


def test_members_without_probabilities_vote_hard() -> None:
    X, y = make_rows(2)
    model = BaggingClassifier(LinearSVC(), 3, random_state=0).fit(X, y)

    np.testing.assert_allclose(margins(model, X, y).margins * 3 % 2, 1.0)
    with pytest.raises(
        ValueError, match="votes='soft' needs members with predict_proba, and LinearSVC has none"
    ):
        margins(model, X, y, votes="soft")
