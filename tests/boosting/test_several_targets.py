"""Several targets at once: shared trees, an answer for each."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_regression
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

import coterie
from coterie import GradientBoostingRegressor
from coterie._typing import AnyArray
from coterie.errors import CoterieError, InvalidInput, InvalidParameter
from coterie.losses import CustomLoss, Expectile, Huber, Squared, Tweedie, loss_for_numbers
from coterie.losses.quantile import weighted_quantile
from coterie.losses.squared_error import SquaredOfSeveral
from tests.helpers.estimators import fingerprint
from tests.helpers.exported import onnx_answers, treelite_answers
from tests.naive.shared_tree import damped

SETTINGS: dict[str, Any] = {"n_estimators": 30, "random_state": 0}


@pytest.fixture(scope="module")
def table() -> tuple[AnyArray, AnyArray]:
    X, Y = make_regression(600, 8, n_targets=3, noise=5.0, random_state=0)
    X[::5, 0] = np.nan
    return X, Y


def splits_of(tree: Any) -> list[tuple[int, float]]:
    return list(zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True))


def test_targets_share_the_splits_and_not_the_answers(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS).fit(X, Y)

    assert model.predict(X).shape == (600, 3)
    assert len(model.forest_) == 90
    for first in range(0, 90, 3):
        trees = [model.forest_.tree(first + k) for k in range(3)]
        assert [model.forest_.first_output(first + k) for k in range(3)] == [0, 1, 2]
        assert splits_of(trees[0]) == splits_of(trees[1]) == splits_of(trees[2])
        assert not np.array_equal(trees[0].value, trees[1].value)


def test_each_target_is_learned_almost_as_well_as_alone(table: Any) -> None:
    X, Y = table
    together = GradientBoostingRegressor(**SETTINGS).fit(X[:400], Y[:400]).score(X[400:], Y[400:])
    alone = [GradientBoostingRegressor(**SETTINGS).fit(X[:400], y[:400]).score(X[400:], y[400:]) for y in Y.T]

    assert together > np.mean(alone) - 0.1
    assert together > 0.5


def test_the_same_target_twice_is_the_model_of_one() -> None:
    X, y = make_regression(400, 5, random_state=1)
    twice = GradientBoostingRegressor(**SETTINGS).fit(X, np.column_stack([y, y])).predict(X)
    once = GradientBoostingRegressor(**SETTINGS).fit(X, y).predict(X)

    np.testing.assert_array_equal(twice[:, 0], twice[:, 1])
    assert np.corrcoef(twice[:, 0], once)[0, 1] > 0.999


def test_no_target_dominates_because_its_numbers_are_large(table: Any) -> None:
    X, Y = table
    small = GradientBoostingRegressor(**SETTINGS).fit(X, Y)
    large = GradientBoostingRegressor(**SETTINGS).fit(X, Y * [1.0, 2.0**20, 2.0**-30])

    np.testing.assert_array_equal(large.predict(X), small.predict(X) * [1.0, 2.0**20, 2.0**-30])


def test_a_constant_target_stays_constant(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS).fit(X, np.column_stack([Y[:, 0], np.full(600, 7.0)]))

    np.testing.assert_array_equal(model.predict(X)[:, 1], 7.0)
    assert np.ptp(model.predict(X)[:, 0]) > 0


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"subsample": 0.5, "sampling_method": "uniform"},
        {"subsample": 0.5, "sampling_method": "gradient_based"},
        {"sampling_method": "bayesian"},
        {"n_folds": 3},
        {"early_stopping": True},
        {"growth": "level", "leaf_penalty": 0.5},
        {"max_features": 0.5, "split_noise": 1.0},
        {"path_smoothing": 20.0, "max_step": 0.4, "l1_regularization": 1.0},
        {"interaction_cst": [[0, 1], [2, 3, 4], [5, 6, 7]]},
        {"init": LinearRegression()},
    ],
    ids=lambda choice: "-".join(choice) or "plain",
)
def test_threads_do_not_change_a_model_of_several_targets(choice: dict[str, Any], table: Any) -> None:
    X, Y = table
    X = np.nan_to_num(X) if "init" in choice else X
    models = [
        GradientBoostingRegressor(**SETTINGS, **choice, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2, 3, 8)
    ]

    assert models[0].score(X, Y) > 0.6
    assert len({fingerprint(model) for model in models}) == 1


def test_a_weight_of_two_is_a_row_twice() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, size=(300, 4)).astype(float)
    Y = rng.integers(0, 50, size=(300, 2)) + X[:, :2]
    weight = rng.integers(0, 3, 300)
    settings = {**SETTINGS, "min_samples_leaf": 1, "max_leaf_nodes": 4, "n_estimators": 5}
    weighed = GradientBoostingRegressor(**settings).fit(X, Y, sample_weight=weight)
    repeated = GradientBoostingRegressor(**settings).fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)
    )

    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), rtol=1e-3)


def test_categories_and_missing_values_serve_all_targets() -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(["Cork", "Oslo", "Rome", "Lima", "Bern"], 800)
    size = np.where(rng.random(800) < 0.2, np.nan, rng.normal(size=800))
    first = (town == "Oslo") * 2.0 + np.isnan(size)
    second = (town == "Lima") * 3.0 - (town == "Oslo")
    table = {"town": town, "size": size}
    both = np.column_stack([first, second])
    model = GradientBoostingRegressor(n_estimators=60, random_state=0).fit(table, both)

    assert model.score(table, both) > 0.99


def test_the_recipe_learns_several_targets(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(random_state=0, n_folds=2).fit(X[:400], Y[:400])

    assert model.score(X[400:], Y[400:]) > 0.7
    assert len(model.forest_) == 3 * model.rounds_.sum()
    assert model.oof_prediction_.shape == (400, 3)
    assert np.isfinite(model.oof_prediction_).all()


def test_offsets_are_one_for_each_target(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS).fit(X, Y, offset=Y)

    np.testing.assert_allclose(model.predict(X, offset=Y), Y, atol=1e-9)
    with pytest.raises(InvalidInput, match="offset has the shape"):
        model.predict(X, offset=Y[:, :2])


def test_a_model_of_several_targets_survives_a_pickle(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS, loss=Squared()).fit(X, Y)

    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_warm_start_continues_several_targets_to_the_bit(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(n_estimators=12, warm_start=True, random_state=0).fit(X, Y)
    model.set_params(n_estimators=30).fit(X, Y)

    assert fingerprint(model) == fingerprint(GradientBoostingRegressor(**SETTINGS).fit(X, Y))


def test_a_float32_survives_the_units_of_a_target(table: Any) -> None:
    """Values of trees are float32 answers times a unit; a warm start divides them again and must lose nothing."""
    units = SquaredOfSeveral(3).bind(table[1], None, 1).joint_units
    answers = np.random.default_rng(0).normal(size=(10_000, 1)).astype(np.float32).astype(np.float64)

    np.testing.assert_array_equal(answers * units / units, np.repeat(answers, 3, axis=1))
    assert (np.frexp(units)[0] * 2**24 % 1 == 0).all()


def test_an_eval_set_of_several_targets_says_when_to_stop(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(n_estimators=400, random_state=0, n_iter_no_change=5)
    model.fit(X[:400], Y[:400], eval_set=(X[400:], Y[400:]))
    stages = [((stage - Y[400:]) / Y[:400].std(axis=0)) ** 2 for stage in model.staged_predict(X[400:])]

    assert 10 < model.n_estimators_ < 400
    np.testing.assert_allclose(
        model.validation_losses_[: model.n_estimators_], [stage.mean() / 2 for stage in stages], rtol=1e-6
    )
    with pytest.raises(InvalidInput, match=r"eval_set: y has the shape \(200, 2\); expected 3 columns"):
        model.fit(X[:400], Y[:400], eval_set=(X[400:], Y[400:, :2]))


def test_a_score_of_several_targets_may_decide(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS, scoring="r2", early_stopping=True).fit(X, Y)

    assert model.validation_scores_[-1] > 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "poisson"}, "column 0 of y: loss='poisson' needs targets that are not negative"),
        ({"loss": "quantile", "quantile": [0.1, 0.9]}, "predicts 2 numbers of each row, and y has 3 columns"),
        (
            {"monotonic_cst": [1] + [0] * 7, "multi_strategy": "shared_trees"},
            "monotonic_cst is not supported with multi_strategy='shared_trees': y has 3 columns",
        ),
        ({"multi_strategy": "multi_output_tree"}, "multi_strategy='multi_output_tree'"),
        ({"multi_strategy": "one_tree_per_class"}, "multi_strategy='one_tree_per_class'"),
    ],
)
def test_what_several_targets_cannot_do_is_refused(
    settings: dict[str, Any], message: str, table: Any
) -> None:
    X, Y = table
    with pytest.raises(CoterieError, match=message):
        GradientBoostingRegressor(**{**SETTINGS, **settings}).fit(X, Y)


def test_levels_of_one_target_have_no_trees_to_share(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(
        **SETTINGS, loss="quantile", quantile=[0.1, 0.9], multi_strategy="shared_trees"
    )
    with pytest.raises(InvalidParameter, match="these are 2 levels of one"):
        model.fit(X, Y[:, 0])


LOG_COSH = CustomLoss(
    value=lambda y, score: np.logaddexp(score - y, y - score),
    gradient=lambda y, score: np.tanh(score - y),
    hessian=lambda y, score: 1 - np.tanh(score - y) ** 2,
)
LOSSES: dict[str, dict[str, Any]] = {
    "squared_error": {"loss": "squared_error"},
    "absolute_error": {"loss": "absolute_error"},
    "huber": {"loss": "huber"},
    "quantile": {"loss": "quantile", "quantile": 0.8},
    "expectile": {"loss": Expectile(0.7)},
    "poisson": {"loss": "poisson"},
    "gamma": {"loss": "gamma"},
    "tweedie": {"loss": Tweedie(1.3)},
    "cross_entropy": {"loss": "cross_entropy"},
    "custom": {"loss": LOG_COSH},
}
STRATEGIES = ("one_tree_per_target", "shared_trees")


def targets_for(loss: str, Y: AnyArray) -> AnyArray:
    """Three targets that the loss can take, in units of their own."""
    spread = Y / Y.std(axis=0)
    if loss == "cross_entropy":
        return np.asarray(1 / (1 + np.exp(-spread)))
    if loss in ("poisson", "gamma", "tweedie"):
        return np.asarray(np.exp(spread / 2) * [1.0, 100.0, 0.01])
    return np.asarray(spread if loss == "custom" else Y * [1.0, 1000.0, 0.001])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"subsample": 0.5, "sampling_method": "uniform", "max_features": 0.6},
        {"growth": "oblivious", "max_depth": 3, "max_step": 0.5},
        {"monotonic_cst": [0, 1] + [0] * 6, "l1_regularization": 0.1, "min_gain_to_split": 0.1},
        {"warm_start": True, "dropout_rate": 0.0},
    ],
    ids=lambda choice: "-".join(choice) or "plain",
)
def test_a_tree_for_each_target_is_a_model_for_each_to_the_bit(
    loss: str, choice: dict[str, Any], table: Any
) -> None:
    X, Y = table[0], targets_for(loss, table[1])
    settings = {**SETTINGS, **LOSSES[loss], **choice, "n_estimators": 12}
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    model = GradientBoostingRegressor(**settings, multi_strategy="one_tree_per_target")
    together = model.fit(X, Y, sample_weight=weight).predict(X)
    alone = [GradientBoostingRegressor(**settings).fit(X, y, sample_weight=weight).predict(X) for y in Y.T]

    np.testing.assert_array_equal(together, np.column_stack(alone))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_loss_learns_several_targets(loss: str, strategy: str, table: Any) -> None:
    X, Y = table[0], targets_for(loss, table[1])
    settings = {**SETTINGS, **LOSSES[loss], "multi_strategy": strategy, "n_estimators": 80}
    model = GradientBoostingRegressor(**settings).fit(X[:400], Y[:400])
    predicted = model.predict(X[400:])

    assert predicted.shape == (200, 3)
    for truth, own in zip(Y[400:].T, predicted.T, strict=True):
        assert np.corrcoef(truth, own)[0, 1] > (0.6 if strategy == "shared_trees" else 0.7)
    if strategy == "shared_trees" and loss != "squared_error":
        assert len(model.forest_) == 80
        assert model.forest_.tree(0).value.shape[1] == 3


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "poisson", "custom"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "choice",
    [
        {"n_folds": 3, "growth": "mixed", "early_stopping": True},
        {"subsample": 0.5, "sampling_method": "gradient_based"},
        {"dropout_rate": 0.3},
        {"early_stopping": True, "refit": True},
        {"init": LinearRegression()},
    ],
    ids=lambda choice: "-".join(choice),
)
def test_threads_do_not_change_a_model_of_any_loss(
    loss: str, strategy: str, choice: dict[str, Any], table: Any
) -> None:
    X, Y = np.nan_to_num(table[0]), targets_for(loss, table[1])
    if "init" in choice and loss == "poisson":
        choice = {"init": DummyRegressor()}
    settings = {**SETTINGS, **LOSSES[loss], **choice, "multi_strategy": strategy, "n_estimators": 10}
    models = [GradientBoostingRegressor(**settings, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 3)]

    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "poisson", "expectile"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_warm_start_is_one_longer_fit_of_any_loss(loss: str, strategy: str, table: Any) -> None:
    X, Y = table[0], targets_for(loss, table[1])
    settings = {**SETTINGS, **LOSSES[loss], "multi_strategy": strategy}
    model = GradientBoostingRegressor(**settings | {"n_estimators": 6}, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=30).fit(X, Y)

    assert fingerprint(model) == fingerprint(GradientBoostingRegressor(**settings).fit(X, Y))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("loss", ["absolute_error", "huber", "expectile"])
def test_no_target_dominates_by_its_unit_in_any_loss(loss: str, strategy: str, table: Any) -> None:
    X, Y = table
    units = np.array([1.0, 2.0**20, 2.0**-30])
    settings = {**SETTINGS, **LOSSES[loss], "multi_strategy": strategy, "early_stopping": True}
    small = GradientBoostingRegressor(**settings).fit(X, Y)
    large = GradientBoostingRegressor(**settings).fit(X, Y * units)

    np.testing.assert_array_equal(large.predict(X), small.predict(X) * units)
    np.testing.assert_allclose(large.validation_losses_, small.validation_losses_, rtol=1e-12)
    assert small.validation_losses_[-1] < 1


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_losses_of_an_eval_set_are_means_over_targets(loss: str, strategy: str, table: Any) -> None:
    X, Y = table[0], targets_for(loss, table[1])
    settings = {**SETTINGS, **LOSSES[loss], "multi_strategy": strategy, "n_estimators": 12}
    model = GradientBoostingRegressor(**settings).fit(X[:400], Y[:400], eval_set=(X[400:], Y[400:]))
    if strategy == "shared_trees" and loss == "squared_error":
        return  # in units of spreads, as other tests know
    own = loss_for_numbers(model._loss_of_one())

    def losses_of(rows: slice, predicted: AnyArray) -> list[float]:
        raw = own.link(predicted) if loss != "cross_entropy" else np.log(predicted / (1 - predicted))
        own_rows = [own.bind(y, None, 1).loss for y in Y[:400].T] if isinstance(own, Huber) else [own] * 3
        return [
            float(np.mean(each.values(y, r[:, None])))
            for each, y, r in zip(own_rows, Y[rows].T, raw.T, strict=True)
        ]

    expected = np.array(losses_of(slice(400, None), model.predict(X[400:])))
    if own.is_in_units_of_the_target:
        constant = np.tile(model.baseline_, (400, 1))
        expected /= losses_of(slice(0, 400), constant)
    assert model.validation_losses_[-1] == pytest.approx(expected.mean(), rel=1e-5)


def by_leaf(model: Any, X: AnyArray) -> list[AnyArray]:
    """The rows of each leaf of a model of one tree: those of the same raw predictions."""
    raw = model._raw_scores(X, None)
    return [np.flatnonzero((raw == own).all(axis=1)) for own in np.unique(raw, axis=0)]


@pytest.mark.parametrize("loss", ["expectile", "poisson", "gamma", "absolute_error", "quantile"])
def test_the_values_of_a_shared_tree_are_those_of_the_naive_twin(loss: str, table: Any) -> None:
    X, Y = table[0], targets_for(loss, table[1])
    settings = {**SETTINGS, **LOSSES[loss], "multi_strategy": "shared_trees"}
    model = GradientBoostingRegressor(**settings | {"n_estimators": 1, "learning_rate": 1.0}).fit(X, Y)
    own = loss_for_numbers(model._loss_of_one())
    raw = model._raw_scores(X, None) - model.baseline_
    leaves = by_leaf(model, X)

    assert len(leaves) > 5
    for rows in leaves:
        for target in range(3):
            y, start = Y[rows, target], np.full(len(rows), model.baseline_[target])
            if loss in ("absolute_error", "quantile"):
                level = 0.5 if loss == "absolute_error" else 0.8
                expected = weighted_quantile(y - start, None, level)
            else:
                step = -own.gradient(y, start).sum() / own.hessian(y, start).sum()
                expected = damped(step, 1.0) if loss in ("poisson", "gamma") else step
            unit = np.abs(Y[:, target]).max()
            np.testing.assert_allclose(raw[rows, target], expected, atol=2e-6 * unit, rtol=1e-4)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_models_of_any_loss_are_explained_saved_and_exported(
    strategy: str, table: Any, tmp_path: Any
) -> None:
    X, Y = table
    for loss in ("absolute_error", "poisson"):
        target = targets_for(loss, Y)
        model = GradientBoostingRegressor(**SETTINGS, loss=loss, multi_strategy=strategy).fit(X, target)
        found = model.explain(X[:20])
        raw = found.values.sum(axis=1) + found.base_values
        np.testing.assert_allclose(
            np.exp(raw) if loss == "poisson" else raw, model.predict(X[:20]), rtol=1e-5
        )
        coterie.save(model, tmp_path / f"{loss}.coterie")
        np.testing.assert_array_equal(coterie.load(tmp_path / f"{loss}.coterie").predict(X), model.predict(X))
        np.testing.assert_allclose(onnx_answers(model, X)["prediction"], model.predict(X), rtol=1e-9)
        np.testing.assert_allclose(treelite_answers(model, X)[:, :, 0], model.predict(X), rtol=1e-4)


def test_constraints_leave_targets_apart_unless_told_otherwise(table: Any) -> None:
    X, Y = table
    cst = [1] + [0] * 7
    model = GradientBoostingRegressor(**SETTINGS, monotonic_cst=cst).fit(X, Y)
    alone = [GradientBoostingRegressor(**SETTINGS, monotonic_cst=cst).fit(X, y).predict(X) for y in Y.T]

    np.testing.assert_array_equal(model.predict(X), np.column_stack(alone))


def test_symmetric_trees_and_lines_serve_targets_of_squared_error(table: Any) -> None:
    X, Y = table
    for choice in ({"growth": "oblivious", "max_depth": 4}, {"linear_leaves": True}):
        model = GradientBoostingRegressor(**SETTINGS, **choice).fit(X, Y)
        assert model.score(X, Y) > 0.5
        assert model.forest_.n_outputs == 3


def test_a_missing_target_is_refused_with_its_column(table: Any) -> None:
    X, Y = table
    frame = pd.DataFrame(Y, columns=["power", "heat", "dust"])
    frame.loc[17, "heat"] = np.nan
    with pytest.raises(InvalidInput, match="The first one of column 'heat' of y is in row 17"):
        GradientBoostingRegressor(**SETTINGS).fit(X, frame)
