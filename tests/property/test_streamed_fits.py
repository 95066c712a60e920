"""A fit to batches has the bits of the fit to the whole table: whatever the batches, the types and the options."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coterie
from tests.helpers.streamed import FEATURES, arrow_pieces, differences_of_fits, mixed_table, pieces

SIZES = st.lists(st.integers(1, 130), min_size=1, max_size=4)
QUICK = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
CHOICES: dict[str, Any] = {
    "n_estimators": [3, "auto"],
    "subsample": ["auto", 0.6],
    "early_stopping": ["auto", False, True],
    "categorical_features": ["auto", ["whole", "small"]],
    "target_statistics": ["auto", "columns"],
    "linear_leaves": ["auto", True],
    "max_bins": [255, 9],
    "refit": [False, True],
}


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    chosen = {name: draw(st.sampled_from(values)) for name, values in CHOICES.items()}
    if chosen["n_estimators"] == "auto":
        chosen |= {"learning_rate": 0.5, "n_iter_no_change": 2, "n_folds": 2, "tol": 0.01}
    return chosen


@QUICK
@given(
    seed=st.integers(0, 999),
    n_rows=st.integers(30, 400),
    sizes=SIZES,
    chosen=options(),
    classes=st.booleans(),
    weighted=st.booleans(),
    grouped=st.booleans(),
    as_arrow=st.booleans(),
)
def test_batches_of_any_size_give_the_bits_of_the_whole_table(
    seed: int,
    n_rows: int,
    sizes: list[int],
    chosen: dict[str, Any],
    classes: bool,
    weighted: bool,
    grouped: bool,
    as_arrow: bool,
) -> None:
    frame = mixed_table(seed, n_rows)
    kind: Any = coterie.GradientBoostingClassifier if classes else coterie.GradientBoostingRegressor
    target = "label" if classes else "number"
    grouped = grouped and chosen["early_stopping"] is True
    if as_arrow:
        import pyarrow as pa

        whole: Any = pa.Table.from_pandas(frame, preserve_index=False)
        batches = arrow_pieces(frame, sizes)
        X = whole.select(FEATURES)
    else:
        batches, X = pieces(frame, sizes), frame[FEATURES]
    scan = coterie.scan(
        batches,
        target=target,
        columns=FEATURES,
        sample_weight="weight" if weighted else None,
        groups="team" if grouped else None,
    )
    streamed = kind(random_state=seed, **chosen).fit(scan)
    in_memory = kind(random_state=seed, **chosen).fit(
        X,
        frame[target].to_numpy(),
        frame["weight"].to_numpy() if weighted else None,
        groups=frame["team"].to_numpy() if grouped else None,
    )
    assert differences_of_fits(streamed, in_memory) == []


@st.composite
def number_columns(draw: st.DrawFn, n_rows: int) -> Any:
    kind = draw(st.sampled_from(["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]))
    values = draw(st.lists(st.integers(0, 100), min_size=n_rows, max_size=n_rows))
    array = np.array(values).astype(kind) if kind != "?" else np.array(values) > 50
    if "f" in kind:
        array = array / np.array(7, dtype=kind)
    missing = draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)) if draw(st.booleans()) else None
    return array, missing


@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas"])
@QUICK
@given(data=st.data(), n_rows=st.integers(5, 60), sizes=st.lists(st.integers(1, 20), min_size=1, max_size=3))
def test_numbers_of_any_type_with_holes_are_cut_as_in_the_whole_table(
    library: str, data: Any, n_rows: int, sizes: list[int]
) -> None:
    import polars as pl
    import pyarrow as pa

    made = [data.draw(number_columns(n_rows)) for _ in range(3)]
    columns = {
        f"x{i}": pa.array(values, mask=None if missing is None else np.array(missing))
        for i, (values, missing) in enumerate(made)
    }
    table = pa.table(columns | {"y": pa.array(np.arange(n_rows) % 5 * 1.0)})
    whole: Any = table
    if library == "polars":
        whole = pl.from_arrow(table)
    elif library == "pandas":
        whole = table.to_pandas()
    frames = pieces(whole, sizes)
    names = list(columns)
    settings_of_both: Any = {"n_estimators": 3, "min_samples_leaf": 1, "random_state": 0}
    streamed = coterie.GradientBoostingRegressor(**settings_of_both).fit(coterie.scan(frames, target="y"))
    X = whole.select(names) if library != "pandas" else whole[names]
    in_memory = coterie.GradientBoostingRegressor(**settings_of_both).fit(X, np.arange(n_rows) % 5 * 1.0)
    assert differences_of_fits(streamed, in_memory) == []


def test_more_rows_than_the_sample_has_are_cut_by_the_same_sample() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(150_000, 3)).astype(np.float32), columns=["a", "b", "c"])
    frame["y"] = frame["a"] + rng.normal(size=len(frame))
    frame["w"] = rng.integers(0, 3, len(frame))
    for weight in (None, "w"):
        for sizes in ([40_000], [99_999, 7, 30_000]):
            scan = coterie.scan(
                pieces(frame, sizes), target="y", columns=["a", "b", "c"], sample_weight=weight
            )
            model = coterie.GradientBoostingRegressor(n_estimators=3, random_state=1)
            streamed = model.fit(scan)
            in_memory = coterie.GradientBoostingRegressor(n_estimators=3, random_state=1).fit(
                frame[["a", "b", "c"]], frame["y"], None if weight is None else frame["w"]
            )
            assert differences_of_fits(streamed, in_memory) == []
