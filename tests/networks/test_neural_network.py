"""What the estimators promise: rows left out, rows that stand twice, tables of any kind, times at which they stop."""

import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_info, threadpool_limits

from coterie import NeuralNetworkClassifier, NeuralNetworkRegressor
from coterie.data.prepare import Encoder, read_table
from coterie.errors import InvalidParameter
from coterie.fitting.monitor import FitEvent, monitored
from coterie.networks.blas_threads import one_blas_thread
from coterie.networks.inputs import InputRows, learn_inputs
from coterie.networks.losses import softmax, squared_error
from coterie.networks.network import NetworkFunction, NetworkLayout
from coterie.networks.schedules import learning_rate
from coterie.networks.training import NetworkRows, TrainingOptions, train_networks
from tests.helpers.errors import raised

SMALL: dict[str, Any] = {"hidden_sizes": (16, 16), "max_epochs": 15, "random_state": 0}


def smooth_table(n_rows: int = 300) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n_rows, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


def test_a_smooth_function_is_learned() -> None:
    X, y = smooth_table(600)
    model = NeuralNetworkRegressor(max_epochs=80, hidden_sizes=(64, 64), random_state=0).fit(X[:500], y[:500])

    assert model.score(X[500:], y[500:]) > 0.97
    assert 1 - np.mean((model.oof_prediction_ - y[:500]) ** 2) / np.var(y[:500]) > 0.95


def test_classes_are_learned_and_probabilities_are_honest() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = NeuralNetworkClassifier(**SMALL).fit(X[:400], y[:400])

    assert model.score(X[400:], y[400:]) > 0.95
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    oof = -np.log(model.oof_proba_[np.arange(400), y[:400]]).mean()
    new = -np.log(model.predict_proba(X[400:])[np.arange(169), y[400:]]).mean()
    assert oof < 0.2
    assert new < 0.2


def test_with_fewer_networks_than_parts_some_rows_are_left_out_by_none() -> None:
    X, y = smooth_table(60)

    five, two = (NeuralNetworkRegressor(n, **SMALL).fit(X, y).oof_prediction_ for n in (5, 2))

    assert np.isfinite(five).all()
    assert np.isfinite(two).sum() == 24


def test_what_is_known_of_a_row_left_out_is_what_its_network_predicts() -> None:
    X, _ = smooth_table(60)
    y = (X[:, 0] > 0).astype(int)
    model = NeuralNetworkClassifier(**SMALL).fit(X, y)
    rows = model.inputs_.rows(model.encoder_.transform(read_table(X)), np.float64)
    of_each = [softmax(network.outputs(rows)) for network in model.estimators_]

    by = [
        next(k for k in range(5) if np.allclose(of_each[k][row], model.oof_proba_[row], atol=1e-5))
        for row in range(60)
    ]

    assert np.bincount(by).tolist() == [12] * 5
    assert all(abs(y[np.array(by) == k].sum() - y.sum() / 5) <= 1 for k in range(5)), (
        "classes are spread evenly"
    )


def test_a_target_does_not_reach_the_network_that_leaves_its_row_out() -> None:
    rng = np.random.default_rng(0)
    inputs = InputRows(
        rng.normal(size=(20, 2)).astype(np.float32), np.zeros((20, 0), np.float32), np.zeros((20, 0), int)
    )
    function = NetworkFunction(NetworkLayout(2, 0, 0, 0, np.array([8]), 1, "mish"))
    options = TrainingOptions(3, 8, 0.1, 0.1, 0.0, False)
    parts = [(np.arange(10, 20), np.arange(10)), (np.arange(10), np.arange(10, 20))]
    found = []
    for target_of_row_3 in (0.0, 100.0):
        target = np.ones((20, 1), np.float32)
        target[3] = target_of_row_3
        rows = NetworkRows(inputs, target, np.ones(20, np.float32))
        given = (function, rows, parts, np.zeros(1), squared_error(), [1, 2], options)
        trained = train_networks(*given, n_threads=1, after_epoch=lambda done, _: done == 1)
        found.append(trained.parameters)

    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert not np.array_equal(found[0][1], found[1][1])


def test_a_row_that_stands_twice_is_never_on_both_sides() -> None:
    """Labels are noise and rows stand four times: who saw a copy would predict the others."""
    rng = np.random.default_rng(3)
    X, y = np.repeat(rng.normal(size=(60, 4)), 4, axis=0), np.repeat(rng.integers(0, 2, 60), 4)
    model = NeuralNetworkClassifier(
        hidden_sizes=(64,),
        max_epochs=100,
        dropout=0.0,
        weight_decay=0.0,
        early_stopping=False,
        random_state=0,
    ).fit(X, y)

    loss = -np.log(model.oof_proba_[np.arange(240), y]).mean()
    assert loss > 0.6


def test_the_order_of_rows_does_not_matter() -> None:
    X, y = smooth_table(80)
    order = np.random.default_rng(1).permutation(80)

    one = NeuralNetworkRegressor(**SMALL).fit(X, y)
    other = NeuralNetworkRegressor(**SMALL).fit(X[order], y[order])

    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.oof_prediction_[order], other.oof_prediction_)


def test_levels_and_missing_values_are_inputs_of_their_own() -> None:
    rng = np.random.default_rng(0)
    n = 400
    town, street = rng.choice(list("abc"), n), rng.integers(0, 30, n)
    size = rng.normal(size=n)
    size[rng.random(n) < 0.3] = np.nan
    y = 2.0 * (town == "a") + 0.5 * np.sin(street) + np.where(np.isnan(size), 3.0, size)
    table = pd.DataFrame({"town": town, "street": [f"s{k}" for k in street], "size": size})
    model = NeuralNetworkRegressor(max_epochs=120, hidden_sizes=(64, 64), random_state=0).fit(table, y)

    assert model.inputs_.n_flagged.tolist() == [3]
    assert model.inputs_.n_coded.tolist() == [30]
    assert model.inputs_.n_flags == 4  # three towns, and a missing size
    assert 1 - np.mean((model.oof_prediction_ - y) ** 2) / np.var(y) > 0.85
    unseen = table.head(2).assign(town="z", street="z")
    assert np.isfinite(model.predict(unseen)).all()


def test_numbers_are_centred_scaled_and_bent() -> None:
    encoded = Encoder().fit_transform(read_table(np.array([[0.0], [1.0], [2.0], [3.0], [1e9], [np.nan]])))
    inputs = learn_inputs(encoded, np.ones(6))

    rows = inputs.rows(encoded, np.float64)

    scaled = np.array([-1.0, 0.0, 1.0]) / 2  # the median is 2, the quartiles 1 and 3
    np.testing.assert_allclose(rows.numbers[1:4, 0], scaled / np.sqrt(1 + (scaled / 3) ** 2), atol=1e-6)
    assert 2.99 < rows.numbers[4, 0] <= 3.0
    assert rows.numbers[5, 0] == 0.0
    assert rows.flags[:, 0].tolist() == [0, 0, 0, 0, 0, 1]


def test_a_cycle_that_brings_nothing_is_the_last() -> None:
    rng = np.random.default_rng(0)
    model = NeuralNetworkRegressor(hidden_sizes=(32,), max_epochs=150, random_state=0)
    model.fit(rng.normal(size=(100, 5)), rng.normal(size=100))

    assert model.stopped_because_ == "a cycle of the learning rate brought nothing"
    assert model.n_epochs_ in (30, 70)
    assert model.best_epoch_ == 1 + int(np.argmin(model.validation_losses_))
    assert len(model.validation_losses_) == model.n_epochs_


def test_a_monitor_stops_after_an_epoch_and_the_same_stop_gives_the_same_bits() -> None:
    X, y = smooth_table(100)
    seen: list[FitEvent] = []

    def until_the_fourth(event: FitEvent) -> bool:
        seen.append(event)
        return event.done == 4

    models = []
    for _ in range(2):
        with monitored(until_the_fourth):
            models.append(NeuralNetworkRegressor(**SMALL).fit(X, y))

    assert models[0].n_epochs_ == 4
    assert seen[0].total == 15
    assert set(seen[0].measures) == {"validation loss"}
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


def test_threads_do_not_change_a_bit() -> None:
    X, y = smooth_table(700)
    settings = {**SMALL, "max_epochs": 3, "hidden_sizes": (256, 256)}
    predictions = []
    for n_jobs, n_blas in ((1, 1), (4, 2), (None, 2)):
        with threadpool_limits(n_blas, user_api="blas"):
            predictions.append(NeuralNetworkRegressor(n_jobs=n_jobs, **settings).fit(X, y).predict(X))

    assert all(np.array_equal(predictions[0], own) for own in predictions[1:])


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_the_limit_of_blas_is_restored_by_the_last_of_several_threads() -> None:
    before = blas_threads()
    first_is_in, second_is_out = threading.Event(), threading.Event()

    def first() -> None:
        with one_blas_thread():
            first_is_in.set()
            second_is_out.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    first_is_in.wait(10)
    with one_blas_thread():
        pass
    within = blas_threads()
    second_is_out.set()
    thread.join()

    assert within == [1] * len(before)
    assert blas_threads() == before


def test_label_smoothing_makes_probabilities_less_certain() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    plain, smoothed = (
        NeuralNetworkClassifier(1, label_smoothing=share, early_stopping=False, **SMALL).fit(X, y)
        for share in (0.0, 0.3)
    )

    assert smoothed.predict_proba(X).max(axis=1).mean() < plain.predict_proba(X).max(axis=1).mean() - 0.02


def test_class_weights_count_as_rows_do() -> None:
    X, _ = smooth_table(90)
    y = (X[:, 0] > 1).astype(int)
    weight = np.where(y == 1, 3.0, 1.0)

    by_class = NeuralNetworkClassifier(class_weight={0: 1, 1: 3}, **SMALL).fit(X, y)
    by_row = NeuralNetworkClassifier(**SMALL).fit(X, y, weight)

    np.testing.assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))


def test_learning_rates_rise_and_fall_four_times() -> None:
    rates = np.array([learning_rate(share) for share in np.linspace(0, 1, 2001)])
    peaks = np.flatnonzero((rates[1:-1] > rates[:-2]) & (rates[1:-1] >= rates[2:]))

    assert len(peaks) == 4
    assert rates.max() <= 1.0


@pytest.mark.parametrize("sizes", [(), (0,), 5, (3.5,), "256", None])
def test_hidden_sizes_that_make_no_layers_are_refused(sizes: Any) -> None:
    with raised(InvalidParameter, parameter="hidden_sizes"):
        NeuralNetworkRegressor(hidden_sizes=sizes).fit(np.ones((4, 1)), np.arange(4.0))
