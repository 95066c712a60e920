"""A table in many files, read in batches: the model of the whole table, bit for bit, in a fraction of the memory."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import coterie


def write_files(folder: Path, n_files: int, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    for number in range(n_files):
        age, town = rng.integers(18, 90, n_rows), rng.choice(["Oslo", "Rome", "Cork"], n_rows)
        spent = 2.0 * age + 30 * (town == "Rome") + rng.normal(0, 10, n_rows)
        columns = {"age": age, "town": town, "visits": rng.poisson(3, n_rows), "spent": spent}
        parquet.write_table(pa.table(columns), folder / f"part-{number}.parquet")


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    write_files(folder, n_files=8, n_rows=25_000)

    scan = coterie.scan(str(folder / "*.parquet"), target="spent", batch_size=10_000, spill=folder)
    streamed = coterie.GradientBoostingRegressor(n_estimators=50, random_state=0).fit(scan)
    print(f"{streamed.n_estimators_} rounds on the columns {', '.join(streamed.feature_names_in_)}")

    whole = parquet.read_table(folder)
    features = whole.drop(["spent"])
    in_memory = coterie.GradientBoostingRegressor(n_estimators=50, random_state=0).fit(
        features, whole["spent"]
    )
    same = (streamed.predict(features) == in_memory.predict(features)).all()
    print(f"every prediction is that of a fit in memory: {same}")

    predicted = np.concatenate(list(streamed.predict(scan)))
    error = np.abs(predicted - whole["spent"].to_numpy()).mean()
    print(f"mean absolute error of predictions that came in batches: {error:.2f}")


if __name__ == "__main__":
    main()
