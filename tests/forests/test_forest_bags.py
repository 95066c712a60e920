"""Which rows trees draw, which features they may use, and what may not be asked for at once."""

from typing import Any

import numpy as np
import pytest

from coterie import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.errors import InvalidInput, InvalidParameter
from tests.naive.forest_oob import draws

ALL = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]
RNG = np.random.default_rng(7)
X = RNG.normal(size=(200, 6))
NUMBERS = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * RNG.normal(size=200)
RARE = np.where(np.arange(200) % 10 == 0, "rare", np.where(NUMBERS > 0, "high", "low"))


def target(forest: Any) -> Any:
    return RARE if "Classifier" in forest.__name__ else NUMBERS


@pytest.mark.parametrize("forest", ALL)
def test_a_bootstrap_draws_as_many_rows_as_there_are(forest: Any) -> None:
    counts = draws(forest(20, bootstrap=True, random_state=0).fit(X, target(forest)), 200)

    assert (counts.sum(axis=0) == 200).all()
    assert 0.33 < (counts == 0).mean() < 0.41
    assert len(np.unique(counts, axis=1).T) == 20


@pytest.mark.parametrize(("max_samples", "expected"), [(50, 50), (0.1, 20), (1.0, 200), (1, 1)])
def test_max_samples_says_how_many_are_drawn(max_samples: float, expected: int) -> None:
    model = RandomForestRegressor(5, max_samples=max_samples, random_state=0).fit(X, NUMBERS)

    assert (draws(model, 200).sum(axis=0) == expected).all()


def test_rows_without_replacement_are_drawn_once() -> None:
    model = RandomForestRegressor(10, bootstrap=False, max_samples=0.5, random_state=0).fit(X, NUMBERS)
    counts = draws(model, 200)

    assert (counts.sum(axis=0) == 100).all()
    assert counts.max() == 1
    assert model.oob_score_ > 0.3


@pytest.mark.parametrize("max_samples", [None, 1.0, 200])
def test_without_a_bootstrap_every_tree_sees_every_row(max_samples: Any) -> None:
    model = ExtraTreesRegressor(3, max_samples=max_samples).fit(X, NUMBERS)

    assert (draws(model, 200) == 1).all()
    assert not hasattr(model, "oob_score_")


@pytest.mark.parametrize(("max_samples", "expected"), [(None, 20), (7, 7), (30, 30), (0.5, 10)])
def test_a_balanced_bag_has_as_many_rows_of_each_class(max_samples: Any, expected: int) -> None:
    model = RandomForestClassifier(8, bootstrap="balanced", max_samples=max_samples, random_state=0)
    counts = draws(model.fit(X, RARE), 200)

    for label in ("high", "low", "rare"):
        assert (counts[label == RARE].sum(axis=0) == expected).all()
    assert counts.max() > 1


def test_parts_do_not_overlap_and_miss_no_row() -> None:
    model = RandomForestRegressor(12, bootstrap="partition", max_samples=50, random_state=0).fit(X, NUMBERS)
    counts = draws(model, 200)

    for first in (0, 4, 8):
        assert (counts[:, first : first + 4].sum(axis=1) == 1).all()
    assert (counts.sum(axis=0) == 50).all()
    assert not np.array_equal(counts[:, 0], counts[:, 4])


def test_a_row_of_weight_three_is_drawn_as_three_rows_are() -> None:
    weight = np.where(np.arange(200) < 100, 3.0, 1.0)
    counts = draws(RandomForestRegressor(30, random_state=0).fit(X, NUMBERS, sample_weight=weight), 200)

    assert (counts.sum(axis=0) == 400).all()
    assert 2.8 < counts[:100].mean() / counts[100:].mean() < 3.2


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("forest", ALL)
def test_a_weight_is_so_many_equal_rows(forest: Any, bootstrap: bool) -> None:
    """With many features, so that nodes of few rows draw often: what one node draws must not move the next."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table, times = rng.normal(size=(60, 9)), rng.integers(0, 4, 60)
        numbers = table[:, 0] + rng.normal(size=60)
        y = numbers > 0 if "Classifier" in forest.__name__ else numbers
        model = forest(3, bootstrap=bootstrap, random_state=0)
        weighted = model.fit(table, y, sample_weight=times).apply(table)
        repeated = model.fit(np.repeat(table, times, axis=0), np.repeat(y, times)).apply(table)
        np.testing.assert_array_equal(weighted, repeated)


def test_balanced_classes_are_heard() -> None:
    plain = RandomForestClassifier(40, min_samples_leaf=5, random_state=0).fit(X, RARE)
    rare = plain.classes_.tolist().index("rare")

    for settings in (
        {"class_weight": "balanced"},
        {"class_weight": "balanced_subsample"},
        {"class_weight": {"rare": 8.0}},
        {"bootstrap": "balanced"},
    ):
        heard = RandomForestClassifier(40, min_samples_leaf=5, random_state=0, **settings).fit(X, RARE)
        assert heard.predict_proba(X)[:, rare].mean() > 1.5 * plain.predict_proba(X)[:, rare].mean()


def test_rows_of_a_heavy_class_are_out_of_bag_as_often_as_others() -> None:
    for class_weight in ({"rare": 50.0}, "balanced", "balanced_subsample"):
        model = RandomForestClassifier(40, class_weight=class_weight, random_state=0).fit(X, RARE)
        assert abs(model.oob_coverage_[RARE == "rare"].mean() / 40 - 0.366) < 0.04


def test_a_class_of_weight_zero_takes_no_part() -> None:
    model = RandomForestClassifier(10, class_weight={"rare": 0.0}, random_state=0).fit(X, RARE)
    without = RandomForestClassifier(10, random_state=0).fit(X[RARE != "rare"], RARE[RARE != "rare"])

    assert (model.oob_coverage_[RARE == "rare"] == 0).all()
    assert (model.predict_proba(X)[:, 2] == 0).all()
    np.testing.assert_array_equal(draws(model, 200)[RARE != "rare"], draws(without, 180))


def test_class_weights_are_weights_of_rows_in_trees() -> None:
    """Without a bag, a class of weight 3 is its rows three times."""
    times = np.where(RARE == "rare", 3, 1)
    settings: dict[str, Any] = {"max_features": None, "max_depth": 3, "random_state": 0, "bootstrap": False}
    weighted = RandomForestClassifier(2, class_weight={"rare": 3}, **settings).fit(X, RARE)
    repeated = RandomForestClassifier(2, **settings).fit(np.repeat(X, times, axis=0), np.repeat(RARE, times))

    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-12)


def test_a_list_of_class_weights_is_for_several_outputs() -> None:
    y = np.column_stack([RARE == "rare", NUMBERS > 0]).astype(int)
    settings: dict[str, Any] = {"min_samples_leaf": 5, "random_state": 0}
    plain = RandomForestClassifier(20, **settings).fit(X, y)
    heard = RandomForestClassifier(20, class_weight=[{1: 10.0}, {}], **settings).fit(X, y)

    assert heard.predict_proba(X)[0][:, 1].mean() > 1.5 * plain.predict_proba(X)[0][:, 1].mean()


@pytest.mark.parametrize("forest", ALL)
def test_features_may_be_drawn_once_for_each_tree(forest: Any) -> None:
    per_tree = forest(25, max_features=2, features_per="tree", random_state=0).fit(X, target(forest))
    per_split = forest(25, max_features=2, random_state=0).fit(X, target(forest))

    used = [
        set(member.tree_.native.feature[member.tree_.native.feature >= 0]) for member in per_tree.estimators_
    ]
    assert max(map(len, used)) == 2
    assert len(set().union(*used)) == 6
    assert any(len(set(own.tree_.native.feature)) > 3 for own in per_split.estimators_)


@pytest.mark.parametrize("forest", ALL)
def test_a_path_stays_inside_a_set_of_features(forest: Any) -> None:
    sets = [{0, 1}, {1, 2, 3}, {4, 5}]
    model = forest(10, interaction_cst=sets, max_features=None, random_state=0).fit(X, target(forest))

    met = set()
    for member in model.estimators_:
        tree = member.tree_
        for leaf in np.flatnonzero(tree.native.feature < 0):
            path, node = set(), tree.parent[leaf]
            while node >= 0:
                path.add(int(tree.native.feature[node]))
                node = tree.parent[node]
            assert any(path <= own for own in sets), path
            met.add(frozenset(path))
    assert max(map(len, met)) > 1


@pytest.mark.parametrize("forest", ALL)
def test_answers_only_rise_with_a_monotone_feature(forest: Any) -> None:
    y = NUMBERS > 0 if "Classifier" in forest.__name__ else NUMBERS
    grid = np.repeat(X[:20], 30, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 30), 20)

    def steps(**settings: Any) -> Any:
        model = forest(15, random_state=0, max_features=None, **settings).fit(X, y)
        said = model.predict_proba(grid)[:, 1] if hasattr(model, "predict_proba") else model.predict(grid)
        return np.diff(said.reshape(20, 30), axis=1)

    assert steps().min() < -1e-6
    assert steps(monotonic_cst=[1, 0, 0, 0, 0, 0]).min() > -1e-12
    assert steps(monotonic_cst=[-1, 0, 0, 0, 0, 0]).max() < 1e-12


@pytest.mark.parametrize("forest", ALL)
def test_pruning_makes_smaller_trees(forest: Any) -> None:
    whole = forest(40, bootstrap=True, random_state=0).fit(X, target(forest))
    by_rows = forest(40, bootstrap=True, prune="oob", random_state=0).fit(X, target(forest))
    by_cost = forest(40, bootstrap=True, ccp_alpha=0.02, random_state=0).fit(X, target(forest))

    assert by_rows.forest_.n_nodes.sum() < 0.6 * whole.forest_.n_nodes.sum()
    assert by_cost.forest_.n_nodes.sum() < 0.6 * whole.forest_.n_nodes.sum()
    assert by_rows.oob_score_ > whole.oob_score_ - 0.2
    # Half of the rows out of a bag decide what is pruned, and do not count.
    assert by_rows.oob_coverage_.sum() == pytest.approx(whole.oob_coverage_.sum() / 2, rel=0.15)


def test_categories_and_missing_values_need_no_preparation() -> None:
    town = np.array(["Cork", "Oslo", "Rome", "Bonn"])[RNG.integers(0, 4, 400)]
    size = RNG.normal(size=400)
    y = np.where((town == "Oslo") | (town == "Bonn"), size, -size)
    table = {
        "town": np.where(np.arange(400) % 9 == 0, None, town),
        "size": np.where(RNG.random(400) < 0.05, np.nan, size),
    }
    for forest in (RandomForestRegressor, ExtraTreesRegressor):
        model = forest(40, bootstrap=True, max_features=None, random_state=0).fit(table, y)
        assert model.oob_score_ > 0.6
        assert "town" in model.estimators_[0].to_text()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"bootstrap": False, "oob_score": True}, r"oob_score=True.*needs rows out of bag"),
    ({"bootstrap": False, "oob_score": "accuracy"}, r"oob_score='accuracy'.*needs rows out of bag"),
    ({"bootstrap": False, "prune": "oob"}, r"prune='oob'.*needs rows out of bag"),
    ({"bootstrap": False, "n_estimators": "auto"}, r"n_estimators='auto'.*needs rows out of bag"),
    ({"bootstrap": "partition"}, r"bootstrap='partition' needs max_samples"),
    ({"bootstrap": "partition", "max_samples": 0.9}, r"max_samples=0.9.*one part of all 200 rows"),
    ({"bootstrap": True, "max_samples": 201}, r"max_samples=201 is more than the 200 rows"),
    ({"bootstrap": True, "n_estimators": "auto", "warm_start": True}, r"warm_start=True needs a number"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG)
@pytest.mark.parametrize("forest", ALL)
def test_what_makes_no_sense_together_is_refused(forest: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidParameter, InvalidInput), match=message):
        forest(**{"n_estimators": 3, **settings}).fit(X, target(forest))


def test_what_is_for_one_output_is_refused_for_two() -> None:
    y = np.column_stack([NUMBERS > 0, NUMBERS > 1])
    for settings, message in (
        ({"bootstrap": "balanced"}, r"bootstrap='balanced' is for one output: y has 2"),
        ({"monotonic_cst": [1, 0, 0, 0, 0, 0]}, r"multiple outputs: y has 2"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            RandomForestClassifier(3, **settings).fit(X, y)
    with pytest.raises(InvalidParameter, match="multiclass"):
        RandomForestClassifier(3, monotonic_cst=[1, 0, 0, 0, 0, 0]).fit(X, RARE)
    with pytest.raises(InvalidParameter, match=r"bootstrap='balanced'.*expected"):
        RandomForestRegressor(3, bootstrap="balanced").fit(X, NUMBERS)


def test_poisson_is_for_counts() -> None:
    with pytest.raises(InvalidInput, match="negative"):
        RandomForestRegressor(3, criterion="poisson").fit(X, NUMBERS)
    counts = RNG.poisson(np.exp(X[:, 0]))
    for criterion in ("poisson", "absolute_error"):
        model = RandomForestRegressor(30, criterion=criterion, min_samples_leaf=3, random_state=0).fit(
            X, counts
        )
        assert model.predict(X).min() >= 0
        assert np.corrcoef(model.oob_prediction_, np.exp(X[:, 0]))[0, 1] > 0.5
