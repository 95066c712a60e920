"""What the user gave stays as it was: bytes, types, flags, index; and where it came from changes nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tests.helpers.estimators import (
    ESTIMATORS,
    WITHOUT_TARGET,
    answers,
    fingerprint,
    make,
    random_table,
    target_for,
)

pytestmark = pytest.mark.parametrize("estimator", ESTIMATORS)


def mixed_columns(n_rows: int = 60) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    size = rng.normal(size=n_rows)
    size[::9] = np.nan
    return {
        "size": size,
        "town": rng.choice(["Cork", "Oslo", "Rome"], n_rows),
        "count": rng.integers(0, 9, n_rows),
    }


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", ">f8", "i8", "i4", "u1", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_stays_as_it_was(estimator: type[Any], dtype: str, order: Any) -> None:
    values, y = random_table(estimator)
    X = np.asarray(np.abs(values) * 3, dtype=dtype, order=order)
    weight = np.ones(len(y))
    before = (X.copy(), X.dtype, X.flags.num, y.copy(), weight.copy())

    answers(make(estimator).fit(X, y, sample_weight=weight), X)

    assert X.tobytes() == before[0].tobytes()
    assert (X.dtype, X.flags.num) == before[1:3]
    assert np.array_equal(y, before[3])
    assert np.array_equal(weight, before[4])


def test_a_data_frame_of_pandas_stays_as_it_was(estimator: type[Any]) -> None:
    frame = pd.DataFrame(mixed_columns(), index=[f"row {i}" for i in range(60)]).astype({"town": "category"})
    y = pd.Series(target_for(estimator, np.arange(60.0)), index=frame.index, name="answer")
    frame_before, y_before = frame.copy(deep=True), y.copy(deep=True)

    answers(make(estimator).fit(frame, y), frame)

    pd.testing.assert_frame_equal(frame, frame_before)
    pd.testing.assert_series_equal(y, y_before)


def test_a_data_frame_of_polars_stays_as_it_was(estimator: type[Any]) -> None:
    frame = pl.DataFrame(mixed_columns())
    before = frame.clone()

    answers(make(estimator).fit(frame, pl.Series(target_for(estimator, np.arange(60.0)))), frame)

    assert frame.equals(before)
    assert frame.schema == before.schema


def test_a_read_only_memory_map_is_enough(estimator: type[Any], tmp_path: Path) -> None:
    X, y = random_table(estimator)
    X.tofile(tmp_path / "X")
    mapped = np.memmap(tmp_path / "X", dtype="f8", mode="r", shape=X.shape)
    y.flags.writeable = False

    model = make(estimator).fit(mapped, y)

    assert np.array_equal(answers(model, mapped), answers(make(estimator).fit(X, y), X))


def test_the_memory_layout_does_not_matter(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
    expected = fingerprint(make(estimator).fit(X, y))

    for same in (
        np.asfortranarray(X),
        wide[::2, ::3],
        X[::-1][::-1],
        X.astype(">f8"),
        X.astype(object),
        X.tolist(),
    ):
        assert fingerprint(make(estimator).fit(same, y)) == expected


def test_a_column_may_have_stride_zero(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    same = np.broadcast_to(X[0], X.shape)

    assert len(set(map(str, answers(make(estimator).fit(same, y), same)))) == 1


def test_the_kind_of_table_does_not_matter(estimator: type[Any]) -> None:
    columns = mixed_columns()
    y = target_for(estimator, np.nan_to_num(columns["size"]) + columns["count"])
    tables = [columns, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]

    models = [make(estimator).fit(table, y) for table in tables]

    assert len({fingerprint(model) for model in models}) == 1
    said = [answers(model, table) for model, table in zip(models, tables, strict=True)]
    assert all(np.array_equal(each, said[0]) for each in said)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_a_sparse_table_is_its_dense_self(estimator: type[Any], kind: Any) -> None:
    X, y = random_table(estimator)
    X[np.abs(X) < 0.7] = 0
    dense = make(estimator).fit(X, y)
    thin = kind(X)
    before = thin.toarray()

    model = make(estimator).fit(thin, y)

    assert np.array_equal(answers(model, thin), answers(dense, X))
    assert np.array_equal(thin.toarray(), before)


def test_sparse_indices_may_be_long(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    thin = sparse.csr_array(X)
    thin.indices, thin.indptr = thin.indices.astype(np.int64), thin.indptr.astype(np.int64)

    assert np.array_equal(answers(make(estimator).fit(thin, y), thin), answers(make(estimator).fit(X, y), X))


def test_dates_and_nullable_numbers_are_read(estimator: type[Any]) -> None:
    days = pd.date_range("2024-01-01", periods=60).to_series().reset_index(drop=True)
    frame = pd.DataFrame(
        {"day": days.where(days.index % 7 > 0), "n": pd.array([1, None, 3] * 20, dtype="Int64")}
    )
    y = target_for(estimator, np.arange(60.0))

    model = make(estimator, max_depth=4).fit(frame, y)

    if estimator in WITHOUT_TARGET:
        assert len(np.unique(answers(model, frame), axis=0)) > 1
    else:
        assert model.score(frame, y) > 0.3
