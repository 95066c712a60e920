"""Fits on a cluster of Dask: the same bits, whatever happens to its workers."""

import asyncio
import os
import signal
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")

import dask.array as da
import dask.dataframe as dd
from distributed import Client

import coterie
from coterie import GradientBoostingClassifier, GradientBoostingRegressor, cluster_settings
from coterie.distributed.on_dask import member
from coterie.distributed.on_dask.connection import GangPlugin
from coterie.errors import InvalidInput, InvalidType, SchemaMismatch, WorkerLostError
from coterie.fitting.monitor import monitored
from tests.helpers.errors import raised
from tests.helpers.streamed import FEATURES, differences_of_fits, mixed_table

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("client")]  # warnings of Dask

FRAME = mixed_table(0, 1500)


def collections(n_partitions: int = 5, frame: pd.DataFrame = FRAME) -> Any:
    return dd.from_pandas(frame, npartitions=n_partitions)


def classifier(**others: Any) -> Any:
    given = {
        "n_estimators": 8,
        "early_stopping": True,
        "n_iter_no_change": 10,
        "max_leaf_nodes": 8,
        "random_state": 0,
    }
    return GradientBoostingClassifier(**given | others)


def check_same(on_cluster: Any, alone: Any) -> None:
    assert differences_of_fits(on_cluster, alone) == []


@pytest.mark.parametrize("n_partitions", [1, 7])
def test_the_model_is_that_of_one_process(n_partitions: int) -> None:
    held = collections(n_partitions)
    check_same(
        classifier().fit(held[FEATURES], held["label"], held["weight"]),
        classifier().fit(FRAME[FEATURES], FRAME["label"], FRAME["weight"]),
    )


def test_target_statistics() -> None:
    given = {"n_estimators": 4, "n_folds": 2, "target_statistics": "columns", "random_state": 0}
    held = collections(3)
    on_cluster = GradientBoostingRegressor(**given).fit(held[FEATURES], held["number"])
    assert on_cluster.statistics_ is not None
    check_same(on_cluster, GradientBoostingRegressor(**given).fit(FRAME[FEATURES], FRAME["number"]))


@pytest.mark.slow
def test_the_default_recipe_with_labels() -> None:
    frame, columns = FRAME[:300], ["wide", "code"]
    held = collections(3, frame)
    check_same(
        GradientBoostingRegressor(random_state=0, effort="quick").fit(held[columns], held["number"]),
        GradientBoostingRegressor(random_state=0, effort="quick").fit(frame[columns], frame["number"]),
    )


def test_arrays() -> None:
    X, y = FRAME[["wide", "holes", "whole"]].to_numpy(), FRAME["number"].to_numpy()
    model = GradientBoostingRegressor(n_estimators=6, random_state=0)
    on_cluster = model.fit(da.from_array(X, chunks=(400, 2)), da.from_array(y, chunks=400))
    check_same(on_cluster, GradientBoostingRegressor(n_estimators=6, random_state=0).fit(X, y))


def test_eval_sets_and_empty_partitions() -> None:
    other, held = mixed_table(1, 300), collections(3)
    held = dd.concat([held, held.map_partitions(lambda part: part[:0], meta=held._meta)])
    evaluated = dd.from_pandas(other, npartitions=2)
    given = {"n_estimators": 6, "n_iter_no_change": 3, "max_leaf_nodes": 8, "random_state": 0}
    on_cluster = GradientBoostingRegressor(**given).fit(
        held[FEATURES], held["number"], eval_set=(evaluated[FEATURES], evaluated["number"])
    )
    alone = GradientBoostingRegressor(**given).fit(
        FRAME[FEATURES], FRAME["number"], eval_set=(other[FEATURES], other["number"])
    )
    assert not hasattr(on_cluster, "train_losses_"), "a curve that only one process has"
    del alone.train_losses_, alone.eval_losses_
    check_same(on_cluster, alone)


def test_several_eval_sets_are_refused_on_a_cluster() -> None:
    held, sets = (
        collections(3),
        {"a": (FRAME[FEATURES], FRAME["number"]), "b": (FRAME[FEATURES], FRAME["number"])},
    )
    with raised(InvalidInput, parameter="eval_set"):
        GradientBoostingRegressor(n_estimators=2).fit(held[FEATURES], held["number"], eval_set=sets)


def at_round(number: int, do: Any) -> Any:
    """A monitor that does something once, after so many rounds."""
    done: list[int] = []

    def monitor(event: Any) -> bool:
        if event.step == "round" and event.done == number and not done:
            done.append(number)
            do()
        return False

    return monitored(monitor)


def send(client: Client, rank: int, sent: int) -> int:
    """Send a signal to the worker of a rank; its process."""
    found = client.run(os.getpid, on_error="return")  # one may be on its way out
    processes = {address: process for address, process in found.items() if isinstance(process, int)}
    process = processes[sorted(processes)[rank]]
    os.kill(process, sent)
    return process


@pytest.mark.parametrize("rank", [0, -1], ids=["root", "another"])
def test_a_killed_worker_loses_nothing(client: Client, rank: int) -> None:
    client.wait_for_workers(3, timeout=60)  # so that all of them are members
    held = collections()
    before = set(client.nthreads())
    with at_round(4, lambda: send(client, rank, signal.SIGKILL)), cluster_settings(max_restarts=1):
        model = classifier().fit(held[FEATURES], held["label"])
    assert set(client.nthreads()) != before
    check_same(model, classifier().fit(FRAME[FEATURES], FRAME["label"]))


def test_a_frozen_worker_is_noticed(client: Client) -> None:
    client.wait_for_workers(3, timeout=60)
    held = collections()
    frozen: list[int] = []
    with (
        at_round(3, lambda: frozen.append(send(client, 1, signal.SIGSTOP))),
        cluster_settings(step_timeout=2.0),
    ):
        model = classifier().fit(held[FEATURES], held["label"])
    os.kill(frozen[0], signal.SIGKILL)
    check_same(model, classifier().fit(FRAME[FEATURES], FRAME["label"]))


def test_too_many_lost_workers_are_an_error(client: Client) -> None:
    client.wait_for_workers(3, timeout=60)
    held = collections()
    with (
        at_round(3, lambda: send(client, 1, signal.SIGKILL)),
        cluster_settings(max_restarts=0),
        pytest.raises(WorkerLostError, match="max_restarts") as caught,
    ):
        classifier().fit(held[FEATURES], held["label"])
    assert caught.value.worker is not None
    assert caught.value.rows is not None
    assert 0 < caught.value.rows[0] < caught.value.rows[1] <= 1500


def test_fits_at_the_same_time_take_turns(client: Client) -> None:
    held, found = collections(), []

    def fit() -> None:
        with cluster_settings(client=client):
            found.append(
                GradientBoostingRegressor(n_estimators=4, random_state=0).fit(held[FEATURES], held["number"])
            )

    threads = [threading.Thread(target=fit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    check_same(found[0], found[1])


def test_nothing_is_left_on_the_workers(client: Client) -> None:
    held = collections()
    GradientBoostingRegressor(n_estimators=2, random_state=0).fit(held[FEATURES], held["number"])

    def gangs() -> int:
        from coterie.distributed.on_dask.connection import _GANGS

        return len(_GANGS)

    assert set(client.run(gangs).values()) == {0}


def test_other_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    held = collections()
    monkeypatch.setattr(member, "versions", lambda: {"coterie": "another"})
    with pytest.raises(InvalidInput, match="Install the same versions") as caught:
        GradientBoostingRegressor(n_estimators=2).fit(held[FEATURES], held["number"])
    assert caught.value.allowed == "another"


def test_messages_of_gangs_that_are_closed_are_dropped() -> None:
    worker = SimpleNamespace(handlers={}, address="tcp://nobody")
    GangPlugin().setup(worker)
    given = {"gang": "gone", "step": 1, "rank": 1, "kind": "sum", "words": np.ones(1, np.uint64)}
    assert worker.handlers["coterie_exchange"](**given) == {"state": "closed"}
    assert asyncio.run(worker.handlers["coterie_alive"](gang="gone")) == {"state": "closed"}
    assert asyncio.run(worker.handlers["coterie_abort"](gang="gone", reason="late")) == {"state": "ok"}


# Predictions


@pytest.mark.parametrize(
    "model",
    [
        classifier(),
        GradientBoostingRegressor(n_estimators=3),
        coterie.RandomForestClassifier(5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_predictions_are_collections(model: Any) -> None:
    classes = hasattr(model, "predict_proba")
    model.fit(FRAME[FEATURES], FRAME["label" if classes else "number"])
    frame = FRAME.set_index(np.arange(1500) * 2 + 5)
    held = dd.from_pandas(frame, npartitions=4)
    predicted = model.predict(held[FEATURES])
    assert predicted.divisions == held.divisions
    found = predicted.compute()
    np.testing.assert_array_equal(found.to_numpy(), model.predict(FRAME[FEATURES]))
    assert found.index.equals(frame.index)
    assert found.dtype == predicted.dtype
    if classes:
        shares = model.predict_proba(held[FEATURES])
        assert list(shares.columns) == list(model.classes_)
        np.testing.assert_array_equal(shares.compute().to_numpy(), model.predict_proba(FRAME[FEATURES]))


def test_predictions_of_arrays() -> None:
    X, y = FRAME[["wide", "holes"]].to_numpy(), FRAME["label"].to_numpy()
    model = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    held = da.from_array(X, chunks=(400, 1))
    shares, labels = model.predict_proba(held), model.predict(held)
    assert shares.chunks == ((400, 400, 400, 300), (3,))
    assert labels.chunks == ((400, 400, 400, 300),)
    np.testing.assert_array_equal(shares.compute(), model.predict_proba(X))
    np.testing.assert_array_equal(labels.compute(), model.predict(X))


def test_predictions_with_offsets() -> None:
    model = GradientBoostingRegressor(n_estimators=3).fit(FRAME[FEATURES], FRAME["number"])
    held = collections()
    found = model.predict(held[FEATURES], offset=held["start"]).compute()
    np.testing.assert_array_equal(found, model.predict(FRAME[FEATURES], offset=FRAME["start"]))


# Wrong input


def test_wrong_partitions_are_named() -> None:
    frame = FRAME.copy()
    frame.loc[1499, "number"] = np.nan
    held = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(InvalidInput, match=r"partition 2 \(from row 1000"):
        GradientBoostingRegressor(n_estimators=2).fit(held[FEATURES], held["number"])

    def other(part: pd.DataFrame, partition_info: Any = None) -> pd.DataFrame:
        last = partition_info is not None and partition_info["number"] == 2
        return part.assign(wide="text") if last else part

    held = collections(3)
    mixed = held[FEATURES].map_partitions(other, meta=held[FEATURES]._meta, enforce_metadata=False)
    with pytest.raises(SchemaMismatch, match="partition 2") as caught:
        GradientBoostingRegressor(n_estimators=2).fit(mixed, held["number"])
    assert caught.value.column == "wide"


def test_rows_that_change_between_passes_are_refused() -> None:
    def noisy(part: pd.DataFrame) -> pd.DataFrame:
        return part.assign(wide=np.random.default_rng().normal(size=len(part)))

    held = collections(3)
    changing = held[FEATURES].map_partitions(noisy, meta=held[FEATURES]._meta)
    with pytest.raises(InvalidInput, match="others than in the pass before"):
        GradientBoostingRegressor(n_estimators=2).fit(changing, held["number"])


def test_what_does_not_go_with_collections_is_refused() -> None:
    held, model = collections(3), GradientBoostingRegressor(n_estimators=2)
    with pytest.raises(InvalidType, match="collection of Dask"):
        model.fit(held[FEATURES], FRAME["number"])
    with pytest.raises(InvalidInput, match="partitions"):
        model.fit(held[FEATURES], held["number"].repartition(npartitions=1))
    with pytest.raises(InvalidInput, match="target"):
        model.fit(held[FEATURES])


@pytest.mark.parametrize(
    "model",
    [
        coterie.IsolationForest(),
        coterie.DecisionTreeRegressor(),
        coterie.AdaBoostRegressor(n_estimators=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_models_say_what_to_do(model: Any) -> None:
    held = collections(3)
    with pytest.raises(InvalidType, match="compute"):
        model.fit(held[["wide", "whole"]], held["number"])


def test_without_distributed_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    held = collections(2)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(coterie.errors.MissingPackage, match=r"pip install 'coterie\[dask\]'"):
        GradientBoostingRegressor(n_estimators=2).fit(held[FEATURES], held["number"])


def test_without_a_client_there_is_nothing_to_train_on(client: Client) -> None:
    held = collections(2)
    with client.as_current(), pytest.MonkeyPatch.context() as patched:
        patched.setattr("coterie.distributed.on_dask.fit.default_client", _no_client)
        with pytest.raises(InvalidInput, match="Start one"):
            GradientBoostingRegressor(n_estimators=2).fit(held[FEATURES], held["number"])


def _no_client() -> Any:
    raise ValueError("No clients found")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_kills_at_random_moments(client: Client, seed: int) -> None:
    rng = np.random.default_rng(seed)
    held = collections(6)
    killed: list[int] = []

    def kill() -> None:
        killed.append(send(client, int(rng.integers(2)), signal.SIGKILL))

    timer = threading.Timer(float(rng.uniform(0.2, 6.0)), kill)
    timer.start()
    with cluster_settings(epoch_seconds=1.0, step_timeout=5.0):
        model = classifier(n_estimators=40, max_leaf_nodes=31).fit(held[FEATURES], held["label"])
    timer.join()
    assert killed
    check_same(model, classifier(n_estimators=40, max_leaf_nodes=31).fit(FRAME[FEATURES], FRAME["label"]))


@pytest.mark.slow
def test_a_worker_that_joins_is_used(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from coterie.distributed.on_dask import gang

    monkeypatch.setattr(gang, "_WORTH", 0)
    begun: list[int] = []
    begin = gang.DaskGang._begin

    def listening(self: Any, orders: Any) -> None:
        begin(self, orders)
        begun.append(len(self._members))

    monkeypatch.setattr(gang.DaskGang, "_begin", listening)

    def join() -> None:
        client.cluster.scale(4)
        client.wait_for_workers(4, timeout=60)

    client.wait_for_workers(3, timeout=60)
    held = collections(6)
    with at_round(3, join):
        model = classifier().fit(held[FEATURES], held["label"])
    client.cluster.scale(3)
    assert (begun[0], begun[-1]) == (3, 4)
    check_same(model, classifier().fit(FRAME[FEATURES], FRAME["label"]))
