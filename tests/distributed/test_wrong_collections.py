"""Collections that are no table: what is wrong is named, with its partition and column, before the first tree."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")

import dask.array as da
import dask.dataframe as dd
from distributed import Client, LocalCluster

from coterie import GradientBoostingRegressor
from coterie.errors import InvalidInput, SchemaMismatch
from coterie.fitting.monitor import monitored
from tests.helpers.streamed import differences_of_fits

pytestmark = pytest.mark.filterwarnings("default")  # those of Dask are its own

_RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": _RNG.normal(size=90),
        "town": pd.Categorical(_RNG.choice(["x", "y", "z"], 90)),
        "y": _RNG.normal(size=90),
    }
)


@pytest.fixture(scope="module", autouse=True)
def _client() -> Iterator[None]:
    """A worker in this process: nothing is exchanged here."""
    with (
        LocalCluster(
            n_workers=1, processes=False, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
        Client(cluster),
    ):
        yield


@pytest.fixture
def no_tree() -> Iterator[None]:
    """Nothing is grown before the error."""
    rounds: list[int] = []

    def listen(event: Any) -> bool:
        rounds.append(event.done)
        return False

    with monitored(listen):
        yield
    assert rounds == []


def with_other_last(change: Callable[[pd.DataFrame], pd.DataFrame]) -> tuple[Any, Any]:
    """Three partitions of features, of which the last one is another, and the target."""
    held = dd.from_pandas(FRAME, npartitions=3)
    X = held[["a", "town"]]

    def changed(part: pd.DataFrame, partition_info: Any = None) -> pd.DataFrame:
        is_last = partition_info is not None and partition_info["number"] == 2
        return change(part) if is_last else part

    return X.map_partitions(changed, meta=X._meta, enforce_metadata=False), held["y"]


def fitted(X: Any, y: Any) -> Any:
    return GradientBoostingRegressor(n_estimators=2, random_state=0).fit(X, y)


@pytest.mark.usefixtures("no_tree")
@pytest.mark.parametrize(
    ("change", "column", "words"),
    [
        (lambda part: part.drop(columns="town"), "town", "has the columns ['a']"),
        (lambda part: part.rename(columns={"town": "city"}), "city", "has the columns ['a', 'city']"),
        (lambda part: part.assign(more=1), "more", "has the columns ['a', 'town', 'more']"),
        (lambda part: part[["town", "a"]], "town", "has the columns ['town', 'a']"),
        (lambda part: part.assign(a=part["a"].astype(str)), "a", "holds labels, and numbers"),
        (lambda part: part.assign(town=1.5), "town", "holds numbers, and labels"),
        (lambda part: part.assign(town=part["town"].cat.as_ordered()), "town", "holds ordered categories"),
    ],
    ids=["missing", "renamed", "more", "another order", "text", "numbers", "ordered"],
)
def test_columns_and_kinds_of_the_last_partition(change: Any, column: str, words: str) -> None:
    with pytest.raises(SchemaMismatch) as caught:
        fitted(*with_other_last(change))
    assert str(caught.value).startswith("partition 2 (from row 60 of the table): ")
    assert words in str(caught.value)
    assert caught.value.column == column


@pytest.mark.usefixtures("no_tree")
@pytest.mark.parametrize("n_rows", [27, 0])
def test_other_lengths_of_features_and_target(n_rows: int) -> None:
    with pytest.raises(InvalidInput, match=f"partition 2 .*X has {n_rows} rows here, and y has 30"):
        fitted(*with_other_last(lambda part: part[:n_rows]))


@pytest.mark.usefixtures("no_tree")
@pytest.mark.parametrize(("value", "words"), [(np.nan, "missing|NaN"), (np.inf, "infinity")])
def test_a_target_that_is_no_number_in_the_last_partition(value: float, words: str) -> None:
    target = FRAME["y"].copy()
    target[89] = value
    held = dd.from_pandas(FRAME.assign(y=target), npartitions=3)
    with pytest.raises(InvalidInput, match=f"partition 2 .*({words})"):
        fitted(held[["a"]], held["y"])


@pytest.mark.usefixtures("no_tree")
@pytest.mark.parametrize("name", ["sample_weight", "offset", "groups"])
def test_what_came_with_rows_of_the_last_partition(name: str) -> None:
    wrong: Any = {"sample_weight": -1.0, "offset": np.nan, "groups": None}[name]
    kind = object if name == "groups" else float
    values = pd.Series(np.ones(90), dtype=kind)
    values[89] = wrong
    held = dd.from_pandas(FRAME.assign(own=values), npartitions=3)
    model = GradientBoostingRegressor(n_estimators=2, early_stopping=True, random_state=0)
    with pytest.raises(InvalidInput) as caught:
        model.fit(held[["a"]], held["y"], **{name: held["own"]})
    assert caught.value.parameter == name


@pytest.mark.usefixtures("no_tree")
def test_a_table_without_rows() -> None:
    held = dd.from_pandas(FRAME[:0], npartitions=1)
    with pytest.raises(InvalidInput, match="no rows"):
        fitted(held[["a"]], held["y"])


@pytest.mark.usefixtures("no_tree")
def test_a_file_that_changes_between_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from coterie.distributed.on_dask.fit import DaskCluster

    for number in range(3):
        FRAME[30 * number : 30 * number + 30].drop(columns="town").to_csv(
            tmp_path / f"{number}.csv", index=False
        )
    held = dd.read_csv(str(tmp_path / "*.csv"))
    make_blocks = DaskCluster.make_blocks

    def after_a_change(self: Any, *args: Any) -> None:
        FRAME[:30].drop(columns="town").to_csv(tmp_path / "2.csv", index=False)
        make_blocks(self, *args)

    monkeypatch.setattr(DaskCluster, "make_blocks", after_a_change)
    with pytest.raises(InvalidInput, match=r"partition 2 .*others than in the pass before"):
        fitted(held[["a"]], held["y"])


def test_categories_that_only_the_last_partition_knows_are_learned() -> None:
    last = FRAME[60:].assign(town=pd.Categorical(["new"] * 30))
    whole = pd.concat(
        [FRAME[:60].assign(town=FRAME["town"][:60].astype(object)), last.assign(town="new")]
    ).astype({"town": "category"})
    X, y = with_other_last(lambda part: part.assign(town=pd.Categorical(["new"] * len(part))))
    assert differences_of_fits(fitted(X, y), fitted(whole[["a", "town"]], whole["y"])) == []


def test_lengths_that_are_not_known_yet() -> None:
    X, y = FRAME[["a"]].to_numpy(), FRAME["y"].to_numpy()
    some, target = da.from_array(X, chunks=30), da.from_array(y, chunks=30)
    chosen = some[:, 0] > 0
    model = fitted(some[chosen], target[chosen])
    own = X[:, 0] > 0
    assert differences_of_fits(model, fitted(X[own], y[own])) == []
    with pytest.raises(InvalidInput, match=r"partition \d .*X has \d+ rows here, and y has 30"):
        fitted(some[chosen], target)
