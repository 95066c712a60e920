"""One cluster of Dask for all tests that want processes."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="package")
def cluster_client() -> Iterator[Any]:
    """Three processes that the tests of this folder share; killed ones are started again.

    The scheduler is a thread of this process, and no other test is measured beside it.
    """
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    with (
        # Workers may take long to come back on a busy machine.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "300s"}),
        distributed.LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            memory_limit="4GB",
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(cluster_client: Any) -> Iterator[Any]:
    """The client of the cluster, as the default one; whoever hangs says where, and ends."""
    import faulthandler

    faulthandler.dump_traceback_later(300, exit=True)  # long, for busy machines
    cluster_client.wait_for_workers(2, timeout=60)  # one may be on its way back
    with cluster_client.as_current():
        yield cluster_client
    faulthandler.cancel_dump_traceback_later()
