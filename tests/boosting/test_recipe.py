"""What n_estimators="auto" does: boosters that leave rows out, stop by themselves and are averaged."""

from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.boosting._trainer import BoosterGroup, Trainer
from coterie.boosting._training import divide_rows
from coterie.boosting.plan import Plan, automatic_folds, make_plan
from coterie.data.prepare import prepare_training
from coterie.datasets import make_messy
from coterie.errors import InvalidInput, InvalidParameter
from tests.helpers.estimators import fingerprint


def plan_of(model: Any, n_rows: int, n_outputs: int = 1) -> Plan:
    return make_plan(model.get_params(deep=False), model._task, n_rows=n_rows, n_outputs=n_outputs)


def table_with_towns(n_rows: int = 600) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(0)
    town = rng.integers(0, 30, n_rows)
    area = np.where(rng.random(n_rows) < 0.1, np.nan, rng.gamma(3.0, 20.0, n_rows))
    rent = 10 * rng.normal(size=30)[town] + np.nan_to_num(area) + rng.normal(size=n_rows)
    return {"town": np.array([f"t{code}" for code in town], dtype=object), "area": area}, rent


def test_numbers_mean_what_they_say() -> None:
    X, y = datasets.load_breast_cancer(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=7, random_state=0).fit(X, y)

    assert (model.n_estimators_, model.n_folds_, len(model.forest_)) == (7, 1, 7)
    assert not hasattr(model, "validation_losses_")
    assert model.statistics_ is None


@pytest.mark.parametrize("n_rows", [100, 5_000, 2_000_000])
def test_what_is_given_is_kept_by_the_recipe(n_rows: int) -> None:
    given = {
        "learning_rate": 0.3,
        "n_folds": 3,
        "growth": "level",
        "max_leaf_nodes": 5,
        "min_samples_leaf": 9,
        "l2_regularization": 7.0,
        "linear_leaves": False,
    }
    plan = plan_of(GradientBoostingRegressor(**given), n_rows)

    assert plan.n_folds == 3
    assert [vars(policy) for policy in plan.policies] == [
        {
            "growth": "level",
            "learning_rate": 0.3,
            "max_leaf_nodes": 5,
            "max_depth": None,
            "min_samples_leaf": 9,
            "l2": 7.0,
            "linear_leaves": False,
            "shared_trees": False,
        }
    ]
    assert plan.stops_early


def test_few_rows_are_boosted_without_leaving_any_out() -> None:
    plan = plan_of(GradientBoostingRegressor(), 39)

    assert (plan.n_folds, plan.stops_early, plan.max_rounds) == (1, False, 100)
    assert plan_of(GradientBoostingRegressor(), 40).n_folds == 8


def test_smaller_steps_may_take_more_rounds() -> None:
    assert plan_of(GradientBoostingRegressor(), 1000).max_rounds == 1000
    assert plan_of(GradientBoostingRegressor(learning_rate=0.01), 1000).max_rounds == 5000
    assert plan_of(GradientBoostingRegressor(learning_rate=0.5), 1000).max_rounds == 1000


def test_many_classes_mean_fewer_boosters_and_larger_steps() -> None:
    model = GradientBoostingClassifier(multi_strategy="one_tree_per_class")
    few, many = (plan_of(model, 10_000, n_outputs) for n_outputs in (1, 26))

    assert many.n_folds < few.n_folds
    assert many.max_rounds < few.max_rounds
    assert many.policies[0].learning_rate == 2 * few.policies[0].learning_rate


def test_the_recipe_lets_three_classes_or_more_share_their_trees() -> None:
    def shared(model: Any, n_outputs: int) -> list[bool]:
        return [policy.shared_trees for policy in plan_of(model, 10_000, n_outputs).policies]

    assert shared(GradientBoostingClassifier(), 3) == [True, True]
    assert shared(GradientBoostingClassifier(), 1) == [False, False]
    assert shared(GradientBoostingClassifier(n_estimators=100), 3) == [False]
    assert shared(GradientBoostingClassifier(n_estimators=100, multi_strategy="shared_trees"), 3) == [True]
    assert shared(GradientBoostingClassifier(multi_strategy="one_tree_per_class"), 3) == [False, False]
    assert shared(GradientBoostingRegressor(), 3) == [False, False]


def test_shared_trees_take_the_same_steps_and_as_many_rounds_whatever_the_classes() -> None:
    alone, shared = (
        plan_of(GradientBoostingClassifier(multi_strategy=each), 10_000, 26)
        for each in ("one_tree_per_class", "auto")
    )

    assert shared.policies[0].learning_rate == alone.policies[0].learning_rate
    assert shared.max_rounds == 1000 > alone.max_rounds
    given = plan_of(GradientBoostingClassifier(learning_rate=0.03), 10_000, 26)
    assert [policy.learning_rate for policy in given.policies] == [0.03, 0.03]


@pytest.mark.parametrize(("n_outputs", "factor"), [(1, 1.0), (5, 1.0), (10, 2**0.5), (20, 2.0), (100, 2.0)])
def test_steps_grow_with_the_root_of_the_classes_up_to_twice(n_outputs: int, factor: float) -> None:
    model = GradientBoostingClassifier(multi_strategy="one_tree_per_class")
    one, several = (plan_of(model, 10_000, n) for n in (1, n_outputs))

    assert several.policies[0].learning_rate == pytest.approx(factor * one.policies[0].learning_rate)


def test_large_tables_are_sampled_by_gradients() -> None:
    plan = plan_of(GradientBoostingClassifier(), 3_200_000)

    assert (plan.n_folds, plan.sampling_method, plan.subsample) == (1, "gradient_based", 0.3)
    assert plan.policies[0].growth == "leaf"


def test_more_rows_never_mean_more_boosters() -> None:
    bags = [automatic_folds(int(n)) for n in np.geomspace(40, 1e8, 100)]

    assert bags[0] == 8
    assert bags[-1] == 1
    assert np.all(np.diff(bags) <= 0)


@pytest.mark.parametrize(("n_rows", "foldings"), [(40, 3), (1_000, 3), (1_500, 2), (1_501, 1), (10**6, 1)])
def test_small_tables_are_divided_several_times(n_rows: int, foldings: int) -> None:
    assert plan_of(GradientBoostingRegressor(), n_rows).n_foldings == foldings
    assert plan_of(GradientBoostingRegressor(n_folds=5), n_rows).n_foldings == 1
    assert plan_of(GradientBoostingRegressor(n_estimators=50), n_rows).n_foldings == 1
    assert plan_of(GradientBoostingRegressor(effort="quick"), n_rows).n_foldings == 1


@pytest.mark.parametrize(
    ("n_rows", "l2"), [(40, 3.0), (1_000, 3.0), (1_500, 2.0), (1_501, 1.0), (10**6, 1.0)]
)
def test_leaves_of_small_tables_are_drawn_harder_towards_zero(n_rows: int, l2: float) -> None:
    assert {policy.l2 for policy in plan_of(GradientBoostingClassifier(), n_rows).policies} == {l2}
    given = plan_of(GradientBoostingClassifier(l2_regularization=0.5), n_rows)
    assert given.policies[0].l2 == 0.5
    assert plan_of(GradientBoostingClassifier(n_estimators=50), n_rows).policies[0].l2 == 0.0


@pytest.mark.parametrize("grouped", [False, True])
def test_each_folding_leaves_every_row_out_once(grouped: bool) -> None:
    X, y = table_with_towns(300)
    groups = np.arange(300) // 10 if grouped else None
    train = prepare_training(GradientBoostingRegressor(), X, y, None, task="regression")
    plan = plan_of(GradientBoostingRegressor(), 300)
    parts = divide_rows(
        train, plan, 0, holdout="random", validation_fraction=0.1, groups=groups, has_eval_set=False
    )

    assert len(parts) == 24
    for first in (0, 8, 16):
        left_out = [part.left_out for part in parts[first : first + 8]]
        np.testing.assert_array_equal(np.sort(np.concatenate(left_out)), np.arange(300))
    assert not any(
        np.array_equal(parts[0].left_out, part.left_out) for part in parts[1:]
    )  # another division each time
    if grouped:
        for part in parts:
            assert not set(part.left_out // 10) & set(part.rows // 10)


def test_rows_of_small_tables_are_answered_by_all_boosters_that_left_them_out() -> None:
    X, y = table_with_towns(300)
    several = GradientBoostingRegressor(random_state=0).fit(X, y)
    once = GradientBoostingRegressor(random_state=0, n_folds=8).fit(X, y)

    assert (several.n_folds_, once.n_folds_) == (24, 8)
    assert np.mean((several.oof_prediction_ - y) ** 2) < np.mean((once.oof_prediction_ - y) ** 2)


@pytest.mark.parametrize("task", ["two classes", "three classes", "numbers"])
def test_threads_do_not_change_a_bit(task: str) -> None:
    X, y = table_with_towns()
    made: Any = GradientBoostingRegressor if task == "numbers" else GradientBoostingClassifier
    if task != "numbers":
        y = np.digitize(y, np.quantile(y, [0.5] if task == "two classes" else [0.3, 0.7]))
    models = [made(random_state=1, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3, 8)]

    assert models[0].statistics_ is not None
    assert len({fingerprint(model) for model in models}) == 1


def test_the_recipe_beats_one_booster_of_a_hundred_rounds() -> None:
    losses: dict[Any, list[float]] = {100: [], "auto": []}
    for seed in range(3):
        X, y = datasets.make_classification(700, 15, n_informative=5, flip_y=0.2, random_state=seed)
        X, new_X, y, new_y = train_test_split(X, y, random_state=0)
        for n_estimators, found in losses.items():
            model = GradientBoostingClassifier(n_estimators=n_estimators, random_state=0).fit(X, y)
            found.append(log_loss(new_y, model.predict_proba(new_X)))

    assert np.all(np.array(losses["auto"]) < np.array(losses[100]))


def test_without_a_signal_the_answer_is_about_the_prior() -> None:
    rng = np.random.default_rng(0)
    X = {
        "code": np.array([f"c{i}" for i in rng.integers(0, 60, 400)], dtype=object),
        "x": rng.normal(size=400),
    }
    y, new_y = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    model = GradientBoostingClassifier(random_state=0).fit(X, y)

    assert log_loss(new_y, model.predict_proba(X)) < np.log(2) + 0.01
    assert abs(roc_auc_score(y, model.oof_proba_[:, 1]) - 0.5) < 0.1


@pytest.mark.parametrize("target_statistics", ["none", "columns"])
def test_a_rows_own_target_does_not_move_what_is_said_of_it_out_of_bag(target_statistics: str) -> None:
    X, y = table_with_towns(300)
    changed = y.copy()
    changed[11] = y.mean()
    settings: dict[str, Any] = {"n_estimators": 15, "n_folds": 4, "growth": "mixed", "random_state": 0}
    first, second = (
        GradientBoostingRegressor(**settings, target_statistics=target_statistics).fit(X, target)
        for target in (y, changed)
    )

    assert first.oof_prediction_[11] == pytest.approx(second.oof_prediction_[11], abs=1e-9)
    assert np.abs(first.oof_prediction_ - second.oof_prediction_).max() > 1e-3


def test_out_of_bag_answers_have_the_loss_that_stopped_the_growth() -> None:
    X, y = table_with_towns()
    model = GradientBoostingRegressor(random_state=0, growth="leaf", n_folds=8).fit(X, y)

    assert model.n_folds_ == 8
    best = model.validation_losses_[model.n_estimators_ - 1]
    assert best == model.validation_losses_.min()
    assert np.mean((model.oof_prediction_ - y) ** 2) / 2 == pytest.approx(best, rel=1e-4)


def test_probabilities_out_of_bag_are_probabilities_of_every_class() -> None:
    X, y = datasets.load_wine(return_X_y=True)
    model = GradientBoostingClassifier(random_state=0).fit(X, y)

    assert model.oof_proba_.shape == (len(y), 3)
    np.testing.assert_allclose(model.oof_proba_.sum(axis=1), 1)
    assert np.mean(model.oof_proba_.argmax(axis=1) == y) > 0.9


def test_importances_of_statistics_belong_to_their_column() -> None:
    X, y = table_with_towns()
    model = GradientBoostingRegressor(random_state=0).fit(X, y)

    assert model.feature_importances_.shape == (2,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[0] > 0.05


def test_statistics_of_pairs_find_what_two_columns_say_together() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 12, 3000), rng.integers(0, 12, 3000)
    y = rng.normal(size=(12, 12))[a, b] + 0.1 * rng.normal(size=3000)
    X = {
        name: np.array([f"{name}{code}" for code in codes], dtype=object)
        for name, codes in (("a", a), ("b", b))
    }
    settings: dict[str, Any] = {"n_estimators": 30, "max_leaf_nodes": 4, "random_state": 0}
    score = {
        kind: GradientBoostingRegressor(**settings, target_statistics=kind).fit(X, y).score(X, y)
        for kind in ("none", "pairs")
    }

    assert score["pairs"] > score["none"] + 0.2


def test_interaction_sets_hold_for_statistics_too() -> None:
    X, y = table_with_towns()
    model = GradientBoostingRegressor(random_state=0, interaction_cst="no_interactions").fit(X, y)

    columns = {0: 0, 1: 1, 2: 0}  # feature 2 is the statistic of column 0
    used = [
        {columns[feature] for feature in model.forest_.tree(i).feature.tolist() if feature >= 0}
        for i in range(len(model.forest_))
    ]
    assert {0} in used
    assert all(len(columns_of_tree) <= 1 for columns_of_tree in used)


def test_mixed_growth_needs_two_boosters() -> None:
    X, y = table_with_towns(100)
    with pytest.raises(InvalidParameter, match=r"growth='mixed'.*only one booster.*n_folds to 2"):
        GradientBoostingRegressor(n_estimators=5, growth="mixed").fit(X, y)


def test_more_bags_than_rows_is_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"Cannot divide 5 row\(s\) among 6 boosters.*n_folds to at most 5"
    ):
        GradientBoostingRegressor(n_estimators=5, n_folds=6).fit(np.ones((5, 1)), np.arange(5.0))


def test_an_error_in_one_booster_ends_the_fit() -> None:
    class Broken:
        rounds: list[Any] = []
        exhausted_after = None

        def grow_round(self) -> None:
            raise RuntimeError("no")

    group: Any = BoosterGroup([Broken(), Broken()])  # type: ignore[list-item]
    with pytest.raises(RuntimeError, match="no"):
        Trainer([group], 2).grow(10, lambda _: False)


def test_messy_tables_are_taken_as_they_are() -> None:
    X, y = make_messy(500, random_state=0)
    model = GradientBoostingClassifier(random_state=0).fit(X, y)

    assert model.score(X, y) > 0.6
    assert np.isfinite(model.oof_proba_).all()
