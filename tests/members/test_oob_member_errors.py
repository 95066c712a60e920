"""The error of each member on the rows that it did not draw, and forests that vote: against members one by one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import coterie
from coterie import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.errors import InvalidInput, InvalidParameter
from coterie.trees import DecisionTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
LABELS = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.4 * RNG.normal(size=120), [-0.5, 0.5])]
NUMBERS = 1e3 * (X[:, 0] + X[:, 1] ** 2)
WEIGHT = RNG.integers(0, 3, 120).astype(float)

ENSEMBLES = {
    "forest": (RandomForestClassifier(7, random_state=0), LABELS),
    "numbers": (RandomForestRegressor(7, random_state=0), NUMBERS),
    "extra trees": (ExtraTreesClassifier(7, bootstrap=True, random_state=0), LABELS),
    "bagged trees": (BaggingClassifier(n_estimators=7, random_state=0), LABELS),
    "bagged trees of numbers": (BaggingRegressor(n_estimators=7, random_state=0), NUMBERS),
    "subsamples": (
        BaggingClassifier(n_estimators=7, bootstrap=False, max_samples=0.5, random_state=0),
        LABELS,
    ),
    "neighbours": (BaggingClassifier(KNeighborsClassifier(3), 7, random_state=0), LABELS),
    "votes": (BaggingClassifier(DecisionTreeClassifier(), 7, voting="hard", random_state=0), LABELS),
    "columns": (BaggingRegressor(KNeighborsRegressor(3), 7, max_features=2, random_state=0), NUMBERS),
}


def by_hand(model: Any, y: Any, weight: np.ndarray) -> list[float]:
    errors = []
    features = getattr(model, "estimators_features_", [np.arange(3)] * len(model.estimators_))
    for member, columns, rows in zip(model.estimators_, features, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.flatnonzero(weight), rows)
        predicted = member.predict(X[np.ix_(out, columns)])
        loss = (predicted - y[out]) ** 2 if y.dtype.kind == "f" else predicted != y[out]
        errors.append(float(np.average(loss, weights=weight[out])) if len(out) else np.nan)
    return errors


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_errors_are_those_of_each_member_alone(name: str, weight: Any) -> None:
    if weight is not None and name in ("neighbours", "columns"):
        pytest.skip("members without weights are given rows as often as they count")
    model, y = ENSEMBLES[name]
    model.fit(X, y, weight)
    expected = by_hand(model, y, np.ones(120) if weight is None else weight)

    np.testing.assert_allclose(model.oob_member_errors_, expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["forest", "bagged trees", "neighbours"])
def test_a_longer_fit_has_the_errors_of_one_fit(name: str) -> None:
    model, y = ENSEMBLES[name]
    whole = model.fit(X, y).oob_member_errors_
    kind, given = type(model), {**model.get_params(deep=False), "n_estimators": 4, "warm_start": True}
    grown = kind(**given).fit(X, y)

    np.testing.assert_array_equal(grown.oob_member_errors_, whole[:4])
    np.testing.assert_allclose(grown.set_params(n_estimators=7).fit(X, y).oob_member_errors_, whole)


@pytest.mark.parametrize("name", ["forest", "numbers", "bagged trees", "subsamples", "votes"])
def test_files_keep_the_errors(name: str, tmp_path: Path) -> None:
    model, y = ENSEMBLES[name]
    model.fit(X, y)
    coterie.save(model, tmp_path / "model.cot")

    np.testing.assert_allclose(
        coterie.load(tmp_path / "model.cot").oob_member_errors_, model.oob_member_errors_
    )


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(n_estimators=3, bootstrap=False),
        BaggingClassifier(KNeighborsClassifier(), 3, oob_score=False),
        RandomForestClassifier(3, bootstrap=False),
        RandomForestClassifier(3, keep_rows=False),
    ],
)
def test_what_is_not_known_is_no_attribute(model: Any) -> None:
    model.fit(X, LABELS)

    assert not hasattr(model, "oob_member_errors_")
    with pytest.raises(AttributeError, match="oob_member_errors_"):
        _ = model.oob_member_errors_


def test_a_pruned_ensemble_does_not_know_them() -> None:
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(X, LABELS)

    assert not hasattr(model.with_members(np.array([0, 2])), "oob_member_errors_")


@pytest.mark.parametrize("n_trees", [None, 1, 6])
def test_a_majority_vote_counts_each_tree_once(n_trees: Any) -> None:
    forest = RandomForestClassifier(20, max_depth=3, random_state=0).fit(X, LABELS)
    votes = np.stack([tree.predict(X) for tree in list(forest.estimators_)[: n_trees or 20]])
    counts = np.stack([(votes == label).sum(axis=0) for label in forest.classes_], axis=1)

    np.testing.assert_array_equal(
        forest.predict(X, n_trees=n_trees, voting="hard"), forest.classes_[counts.argmax(axis=1)]
    )
    np.testing.assert_array_equal(forest.predict(X), forest.classes_[forest.predict_proba(X).argmax(axis=1)])


def test_majorities_and_means_differ_somewhere() -> None:
    forest = RandomForestClassifier(20, max_depth=2, random_state=0).fit(X, LABELS)

    assert (forest.predict(X, voting="hard") != forest.predict(X)).any()


def test_other_ways_to_vote_are_refused() -> None:
    forest = RandomForestClassifier(3).fit(X, LABELS)
    with pytest.raises(InvalidParameter, match="voting='loud'"):
        forest.predict(X, voting="loud")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="n_trees=4"):
        forest.predict(X, n_trees=4, voting="hard")
    several = RandomForestClassifier(3).fit(X, np.column_stack([LABELS, LABELS]))
    with pytest.raises(InvalidInput, match="predict\\(voting='hard'\\) is for one output"):
        several.predict(X, voting="hard")
