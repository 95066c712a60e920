"""A worker whose network is cut in the middle of a fit: it is noticed, and the model has the same bits."""

import faulthandler
import itertools
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("distributed")

import dask.dataframe as dd
from distributed import Client, LocalCluster

from coterie import GradientBoostingClassifier, cluster_settings
from coterie.errors import WorkerLostError
from coterie.fitting.monitor import monitored
from tests.helpers.streamed import FEATURES, differences_of_fits, mixed_table

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

FRAME = mixed_table(0, 1500)
_NUMBERS = itertools.count(os.getpid() % 200 + 1)


@dataclass(frozen=True)
class Network:
    """A network namespace, joined to this one by a pair of virtual devices."""

    name: str
    number: int

    @property
    def here(self) -> str:
        return f"10.77.{self.number}.1"

    @property
    def there(self) -> str:
        return f"10.77.{self.number}.2"

    def cut(self) -> None:
        """No packet comes through any more, and nobody is told."""
        _ip("-n", self.name, "link", "set", "there", "down")


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


@pytest.fixture
def network() -> Iterator[Network]:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root may make network namespaces")
    if shutil.which("ip") is None:
        pytest.skip("there is no `ip` here (Debian and Ubuntu: apt install iproute2)")
    number = next(_NUMBERS)  # what a test before has left goes away in its own time
    own = Network(f"coterie-{os.getpid()}-{number}", number)
    device = f"ct{os.getpid()}-{number}"
    try:
        _ip("netns", "add", own.name)
    except OSError as error:
        pytest.skip(f"no network namespaces here: {error}")
    try:
        _ip("link", "add", device, "type", "veth", "peer", "name", "there", "netns", own.name)
        _ip("addr", "add", f"{own.here}/24", "dev", device)
        _ip("link", "set", device, "up")
        _ip("-n", own.name, "addr", "add", f"{own.there}/24", "dev", "there")
        for name in ("there", "lo"):
            _ip("-n", own.name, "link", "set", name, "up")
        yield own
    finally:
        _ip("netns", "del", own.name)  # with both devices


@pytest.fixture
def client(network: Network) -> Iterator[Client]:
    """One worker here, and one on the other side of the network."""
    faulthandler.dump_traceback_later(150, exit=True)
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            host=network.here,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        options = ["--host", network.there, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        other = subprocess.Popen(
            ["ip", "netns", "exec", network.name, *worker, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            client.wait_for_workers(2, timeout=60)
            yield client
        finally:
            other.kill()
            other.wait()
            faulthandler.cancel_dump_traceback_later()


def cut_at_round(network: Network, number: int) -> Any:
    done: list[int] = []

    def monitor(event: Any) -> bool:
        if event.step == "round" and event.done == number and not done:
            done.append(number)
            network.cut()
        return False

    return monitored(monitor)


def classifier() -> Any:
    return GradientBoostingClassifier(n_estimators=8, max_leaf_nodes=8, random_state=0)


def test_a_worker_that_is_cut_off_is_replaced(client: Client, network: Network) -> None:
    held = dd.from_pandas(FRAME, npartitions=4)
    assert {address.split(":")[1] for address in client.nthreads()} == {
        f"//{network.here}",
        f"//{network.there}",
    }
    with cut_at_round(network, 3), cluster_settings(step_timeout=2.0):
        model = classifier().fit(held[FEATURES], held["label"])
    assert [address.split(":")[1] for address in client.nthreads()] == [f"//{network.here}"]
    alone = classifier().fit(FRAME[FEATURES], FRAME["label"])
    assert differences_of_fits(model, alone) == []


@pytest.mark.usefixtures("client")
def test_a_worker_that_is_cut_off_is_named_when_no_restart_is_left(network: Network) -> None:
    held = dd.from_pandas(FRAME, npartitions=4)
    with (
        cut_at_round(network, 3),
        cluster_settings(step_timeout=2.0, max_restarts=0),
        pytest.raises(WorkerLostError, match="max_restarts") as caught,
    ):
        classifier().fit(held[FEATURES], held["label"])
    assert caught.value.worker is not None
    assert network.there in caught.value.worker
