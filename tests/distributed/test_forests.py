"""Forests on a cluster of Dask: the bits of one process, whatever happens to its workers."""

import os
import signal
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")

import dask.array as da
import dask.dataframe as dd
from distributed import Client

from coterie import (
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    cluster_settings,
)
from coterie.distributed.on_dask import forest, member
from coterie.errors import InvalidInput, InvalidType, SchemaMismatch, WorkerLostError
from coterie.fitting.monitor import monitored
from tests.helpers.errors import raised
from tests.helpers.streamed import FEATURES, differences_of_fits, mixed_table

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("client")]  # warnings of Dask

FRAME = mixed_table(0, 1200)


def collections(n_partitions: int = 4, frame: pd.DataFrame = FRAME) -> Any:
    return dd.from_pandas(frame, npartitions=n_partitions)


def check_same(on_cluster: Any, alone: Any) -> None:
    assert differences_of_fits(on_cluster, alone) == []


def test_classes_with_weights() -> None:
    given, held = {"n_estimators": 17, "random_state": 0}, collections(5)
    on_cluster = RandomForestClassifier(**given).fit(held[FEATURES], held["label"], held["weight"])
    alone = RandomForestClassifier(**given).fit(FRAME[FEATURES], FRAME["label"], FRAME["weight"])
    check_same(on_cluster, alone)
    assert on_cluster.oob_score_ == alone.oob_score_
    shares = on_cluster.predict_proba(held[FEATURES])
    assert shares.npartitions == 5
    np.testing.assert_array_equal(shares.compute().to_numpy(), alone.predict_proba(FRAME[FEATURES]))


def test_numbers_in_arrays_and_several_targets() -> None:
    X, y = FRAME[["wide", "holes", "whole"]].to_numpy(), FRAME[["number", "start"]].to_numpy()
    given = {"n_estimators": 20, "random_state": 0, "bootstrap": True, "oob_score": "r2"}
    on_cluster = ExtraTreesRegressor(**given).fit(
        da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=(500, 2))
    )
    check_same(on_cluster, ExtraTreesRegressor(**given).fit(X, y))


def test_levels_of_all_partitions_and_empty_ones() -> None:
    frame = FRAME.sort_values("town", na_position="first")
    held = collections(3, frame.reset_index(drop=True))
    held = dd.concat([held, held.map_partitions(lambda part: part[:0], meta=held._meta)])
    given = {"n_estimators": 4, "random_state": 0, "categorical_features": ["small"]}
    on_cluster = RandomForestRegressor(**given).fit(held[FEATURES], held["number"])
    check_same(on_cluster, RandomForestRegressor(**given).fit(frame[FEATURES], frame["number"]))


def test_as_many_trees_as_serve() -> None:
    held, given = collections(), {"n_estimators": "auto", "max_depth": 2, "random_state": 0}
    check_same(
        RandomForestRegressor(**given).fit(held[FEATURES], held["number"]),
        RandomForestRegressor(**given).fit(FRAME[FEATURES], FRAME["number"]),
    )


def kill(client: Client, rank: int) -> None:
    processes = client.run(os.getpid)
    os.kill(processes[sorted(processes)[rank]], signal.SIGKILL)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_worker_loses_its_tasks_alone(client: Client, rank: int) -> None:
    client.wait_for_workers(3, timeout=60)
    held, killed = collections(), []

    def monitor(event: Any) -> bool:
        if event.step == "tree" and not killed:
            killed.append(event.done)
            kill(client, rank)
        return False

    with monitored(monitor):
        on_cluster = RandomForestClassifier(60, random_state=0).fit(held[FEATURES], held["label"])
    assert killed == [8]
    check_same(on_cluster, RandomForestClassifier(60, random_state=0).fit(FRAME[FEATURES], FRAME["label"]))


def lose_what_was_sent(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Take from the workers what the client has sent them, before they have grown a tree, so many times."""
    sent: list[int] = []
    submit = forest.DaskRanges._submit

    def losing(self: Any, firsts: list[int]) -> None:
        submit(self, firsts)
        sent.append(len(firsts))
        if len(sent) <= times:
            self._sent.cancel(force=True)

    monkeypatch.setattr(forest.DaskRanges, "_submit", losing)
    return sent


def test_a_table_that_no_worker_has_any_more_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    held, sent = collections(), lose_what_was_sent(monkeypatch, 1)
    on_cluster = RandomForestClassifier(12, random_state=0).fit(held[FEATURES], held["label"])
    assert len(sent) == 2
    check_same(on_cluster, RandomForestClassifier(12, random_state=0).fit(FRAME[FEATURES], FRAME["label"]))


def test_a_table_that_is_lost_again_and_again_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    held, sent = collections(), lose_what_was_sent(monkeypatch, 9)
    with cluster_settings(max_restarts=1), pytest.raises(WorkerLostError, match="all were gone 2 times"):
        RandomForestClassifier(12, random_state=0).fit(held[FEATURES], held["label"])
    assert len(sent) == 2


def test_nothing_is_left_on_the_workers(client: Client) -> None:
    held = collections()
    RandomForestClassifier(8, random_state=0).fit(held[FEATURES], held["label"])

    def held_growers(dask_worker: Any = None) -> int:
        return sum(type(each).__name__ == "RangeGrower" for each in dask_worker.data.values())

    import time

    end = time.monotonic() + 10
    while any(client.run(held_growers).values()) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(client.run(held_growers).values())


def test_a_table_that_no_worker_can_hold_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.distributed.forest._BYTES_OF_A_ROW", 10**7)
    held = collections()
    with raised(InvalidInput, parameter="X") as caught:
        RandomForestClassifier(2).fit(held[FEATURES], held["label"])
    assert "has 4000000000 (4.0 GB)" in str(caught.value)
    assert caught.value.received > 1200 * 10**7
    assert any(address in str(caught.value) for address in client.nthreads())


def test_other_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    held = collections()
    monkeypatch.setattr(forest, "versions", lambda: member.versions() | {"numpy": "another"})
    with cluster_settings(max_restarts=0), pytest.raises(InvalidInput, match="Install the same versions"):
        RandomForestClassifier(2).fit(held[FEATURES], held["label"])


def changed(change: Any) -> Any:
    """Features of which the last partition is another."""

    def changed_last(part: pd.DataFrame, partition_info: Any = None) -> pd.DataFrame:
        return change(part) if partition_info is not None and partition_info["number"] == 2 else part

    X = collections(3)[FEATURES]
    return X.map_partitions(changed_last, meta=X._meta, enforce_metadata=False)


def test_wrong_partitions_are_named() -> None:
    held, model = collections(3), RandomForestRegressor(2)
    with pytest.raises(SchemaMismatch, match="partition 2") as caught:
        model.fit(changed(lambda part: part.assign(wide="text")), held["number"])
    assert caught.value.column == "wide"
    with pytest.raises(SchemaMismatch, match=r"partition 2 .* has the columns"):
        model.fit(changed(lambda part: part.drop(columns="town")), held["number"])
    with pytest.raises(InvalidInput, match=r"partition 2 .*X has 7 rows here"):
        model.fit(changed(lambda part: part[:7]), held["number"])
    with pytest.raises(InvalidInput, match="others than in the pass before"):
        model.fit(
            changed(lambda part: part.assign(wide=np.random.default_rng().normal(size=len(part)))),
            held["number"],
        )
    frame = FRAME.assign(number=FRAME["number"].where(FRAME.index < 1199))
    with pytest.raises(InvalidInput, match=r"partition 2 \(from row 800"):
        model.fit(held[FEATURES], collections(3, frame)["number"])
    with pytest.raises(InvalidType, match="collection of Dask"):
        model.fit(held[FEATURES], FRAME["number"])
