"""A table on a cluster: the model of one process, bit for bit, though one of the workers is killed on the way."""

import os
import signal

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import coterie
from coterie.fitting.monitor import monitored


def table(n_rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age, town = rng.integers(18, 90, n_rows), rng.choice(["Oslo", "Rome", "Cork"], n_rows)
    spent = 2.0 * age + 30 * (town == "Rome") + rng.normal(0, 10, n_rows)
    return pd.DataFrame({"age": age, "town": town, "visits": rng.poisson(3, n_rows), "spent": spent})


def main() -> None:
    frame, features = table(20_000), ["age", "town", "visits"]
    model = coterie.GradientBoostingRegressor(n_estimators=10, max_leaf_nodes=8, random_state=0)

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with cluster, Client(cluster) as client:
        held = dd.from_pandas(frame, npartitions=4)
        processes = client.run(os.getpid)

        def kill_one(event: object) -> bool:
            """After the fifth round; `getattr`, because events of other steps have no rounds."""
            if getattr(event, "step", "") == "round" and getattr(event, "done", 0) == 5:
                os.kill(processes.popitem()[1], signal.SIGKILL)
            return False

        with monitored(kill_one):
            model.fit(held[features], held["spent"])
        predicted = model.predict(held[features])
        print(f"predictions are a {type(predicted).__name__} of {predicted.npartitions} partitions")
        predicted = predicted.compute()

    alone = coterie.GradientBoostingRegressor(n_estimators=10, max_leaf_nodes=8, random_state=0)
    alone.fit(frame[features], frame["spent"])
    print(f"every prediction is that of one process: {(predicted == alone.predict(frame[features])).all()}")


if __name__ == "__main__":
    main()
