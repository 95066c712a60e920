"""`scan`: what can be read in batches, what each kind of source gives, and what is refused before the first tree."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.data.streaming.scan import bytes_of
from coterie.errors import InvalidInput, InvalidType, SchemaMismatch
from coterie.fitting.monitor import monitored
from tests.helpers.streamed import FEATURES, Reopened, differences_of_fits, mixed_table, pieces

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FRAME = mixed_table(4, 300)
NUMBERS = FRAME[["wide", "whole", "holes", "number"]]


def model(**given: Any) -> Any:
    return coterie.GradientBoostingRegressor(**{"n_estimators": 4, "random_state": 0} | given)


IN_MEMORY = model().fit(NUMBERS.drop(columns="number"), NUMBERS["number"])


def same(scan: Any) -> bool:
    return differences_of_fits(model().fit(scan), IN_MEMORY) == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three Parquet files."""
    for number, piece in enumerate(pieces(NUMBERS, [120, 90, 200])):
        pq.write_table(pa.Table.from_pandas(piece, preserve_index=False), tmp_path / f"part-{number}.parquet")
    return tmp_path


def test_a_pattern_a_list_and_a_path_name_files(folder: Path) -> None:
    assert same(coterie.scan(str(folder / "*.parquet"), target="number", batch_size=50))
    assert same(coterie.scan(sorted(folder.iterdir()), target="number"))
    pq.write_table(pa.Table.from_pandas(NUMBERS, preserve_index=False), folder / "whole.parquet")
    assert same(coterie.scan(folder / "whole.parquet", target="number"))


def test_files_of_csv_and_arrow_are_read(tmp_path: Path) -> None:
    table = pa.Table.from_pandas(NUMBERS, preserve_index=False)
    NUMBERS.to_csv(tmp_path / "rows.csv", index=False)
    NUMBERS.to_csv(tmp_path / "rows.tsv", index=False, sep="\t")
    with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=70)
    with pa.ipc.new_stream(tmp_path / "rows.arrows", table.schema) as writer:
        writer.write_table(table)
    for name in ("rows.csv", "rows.tsv", "rows.arrow", "rows.arrows"):
        assert same(coterie.scan(tmp_path / name, target="number", batch_size=41)), name


def test_whole_numbers_of_csv_may_have_fractions_in_later_rows(tmp_path: Path) -> None:
    rows = [f"{i},{i % 3}" for i in range(200_000)] + ["0.5,1"]
    (tmp_path / "rows.csv").write_text("x,y\n" + "\n".join(rows))
    fitted = coterie.GradientBoostingClassifier(n_estimators=1).fit(
        coterie.scan(tmp_path / "rows.csv", target="y")
    )
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.classes_.dtype.kind == "i"


def test_datasets_lazy_frames_relations_functions_and_lists_are_read(folder: Path) -> None:
    import duckdb
    import polars as pl
    from pyarrow import dataset

    pattern = str(folder / "*.parquet")
    sources = {
        "dataset": dataset.dataset(folder, format="parquet"),
        "lazy frame": pl.scan_parquet(pattern),
        "relation": duckdb.sql(f"SELECT * FROM read_parquet('{pattern}')"),
        "function": lambda: pa.Table.from_pandas(NUMBERS, preserve_index=False).to_reader(37),
        "list": pieces(NUMBERS, [77]),
        "dicts": [{name: piece[name].to_numpy() for name in piece} for piece in pieces(NUMBERS, [77])],
        "polars": [pl.from_pandas(piece) for piece in pieces(NUMBERS, [77])],
        "frame": NUMBERS,
    }
    for name, source in sources.items():
        assert same(coterie.scan(source, target="number", batch_size=64)), name


def test_batches_without_rows_are_left_out() -> None:
    frames = [NUMBERS[:0], NUMBERS[:100], NUMBERS[100:100], NUMBERS[100:], NUMBERS[:0]]
    assert same(coterie.scan(frames, target="number"))


def test_what_can_be_read_once_is_refused() -> None:
    reader = pa.Table.from_pandas(NUMBERS).to_reader()
    with pytest.raises(InvalidType, match=r"can be read only once.*opens it again"):
        coterie.scan(reader, target="number")
    with pytest.raises(InvalidType, match="generator, which can be read only once"):
        coterie.scan((frame for frame in [NUMBERS]), target="number")
    with pytest.raises(InvalidType, match=r"source=3: expected paths"):
        coterie.scan(3, target="number")


def test_names_that_stand_for_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No file matches"):
        coterie.scan(str(tmp_path / "*.parquet"))
    with pytest.raises(InvalidInput, match="There is no file"):
        coterie.scan(str(tmp_path / "a.parquet"))
    with pytest.raises(InvalidInput, match="is a folder"):
        coterie.scan(tmp_path)
    (tmp_path / "a.xlsx").write_text("")
    with pytest.raises(InvalidInput, match="ending says nothing"):
        coterie.scan(tmp_path / "a.xlsx")
    with pytest.raises(InvalidInput, match=r"pyarrow.dataset"):
        coterie.scan("s3://bucket/a.parquet")
    with pytest.raises(InvalidInput, match="'y' is named twice"):
        coterie.scan([NUMBERS], target="y", groups="y")
    with pytest.raises(InvalidInput, match="batch_size=0"):
        coterie.scan([NUMBERS], target="y", batch_size=0)
    with pytest.raises(InvalidInput, match="memory='many'"):
        coterie.scan([NUMBERS], memory="many")
    assert bytes_of("2 GB") == 2 * 10**9


def refused(frames: Any, error: type[Exception], match: str, **named: Any) -> Any:
    scan = coterie.scan(frames, **{"target": "number"} | named)
    estimator = model()
    with pytest.raises(error, match=match) as caught:
        estimator.fit(scan)
    assert not hasattr(estimator, "forest_")
    return caught.value


def test_batches_that_differ_are_refused_by_name() -> None:
    half = NUMBERS[150:]
    error = refused(
        [NUMBERS[:150], half.rename(columns={"wide": "weit"})], SchemaMismatch, r"batch 1 \(from row 150"
    )
    assert error.column == "weit"
    error = refused(
        [NUMBERS[:150], half.drop(columns="wide")], SchemaMismatch, "lacks the columns \\['wide'\\]"
    )
    assert error.column == "wide"
    refused([NUMBERS[:150], half[["whole", "wide", "holes", "number"]]], SchemaMismatch, "in another order")
    error = refused(
        [NUMBERS[:150], half.assign(wide="text")], SchemaMismatch, "batch 1.*'wide' holds labels, and numbers"
    )
    assert error.column == "wide"
    sizes = [pd.Categorical(["s", "m"], order, ordered=True) for order in (["s", "m"], ["m", "s"])]
    frames = [pd.DataFrame({"size": size, "number": [1.0, 2.0]}) for size in sizes]
    refused(frames, SchemaMismatch, "batch 1.*'size' holds ordered categories")


@pytest.mark.parametrize(
    ("change", "column", "words"),
    [
        (lambda frame: frame.rename(columns={"wide": "weit"}), "weit", "weit"),
        (lambda frame: frame.drop(columns="wide"), "wide", "lacks the columns"),
        (lambda frame: frame.assign(more=1.0), "more", "more"),
        (lambda frame: frame.assign(wide="text"), "wide", "holds labels, and numbers"),
    ],
    ids=["renamed", "missing", "more", "text"],
)
def test_files_that_differ_are_refused_by_name(folder: Path, change: Any, column: str, words: str) -> None:
    last = pa.Table.from_pandas(change(NUMBERS[:20]), preserve_index=False)
    pq.write_table(last, folder / "part-9.parquet")
    error = refused(str(folder / "*.parquet"), SchemaMismatch, f"part-9.parquet.*{words}")
    assert error.column == column


def test_targets_weights_and_groups_that_cannot_be_used_are_refused_by_name(folder: Path) -> None:
    holes = NUMBERS[200:].copy()
    holes.loc[299, "number"] = np.nan
    error = refused(
        [NUMBERS[:200], holes], InvalidInput, r"batch 1 \(from row 200.*Input y contains NaN.*row 99"
    )
    assert error.parameter == "y"
    table = pa.Table.from_pandas(holes, preserve_index=False)
    pq.write_table(table, folder / "part-9.parquet")
    refused(str(folder / "*.parquet"), InvalidInput, "part-9.parquet.*contains NaN")
    refused([NUMBERS], InvalidInput, "There is no column 'salary'", target="salary")
    weighted = NUMBERS.assign(w=-1.0)
    refused([NUMBERS.assign(w=1.0), weighted], InvalidInput, "batch 1.*Negative values", sample_weight="w")
    refused([NUMBERS[:0]], InvalidInput, "has no rows")
    refused([], InvalidInput, "has no rows")
    refused([NUMBERS], InvalidInput, "scan was given none", target=None)
    refused([np.zeros((3, 2))], InvalidType, "A batch is a ndarray")


def test_what_a_scan_names_is_not_given_beside_it() -> None:
    scan = coterie.scan([NUMBERS], target="number")
    with pytest.raises(InvalidInput, match=r"y was given beside a scan.*target='...'"):
        model().fit(scan, NUMBERS["number"])
    with pytest.raises(InvalidInput, match=r"sample_weight was given beside"):
        model().fit(scan, sample_weight=np.ones(300))


def test_a_file_that_changes_between_passes_is_refused(folder: Path) -> None:
    scan = coterie.scan(str(folder / "*.parquet"), target="number")
    changed = folder / "part-1.parquet"

    def touch(event: Any) -> None:
        if event.note.startswith("reading") and event.done == 300:
            os.utime(changed, ns=(1, 1))

    with monitored(touch), pytest.raises(InvalidInput, match=r"part-1.parquet has changed since"):
        model().fit(scan)


def test_a_source_that_gives_other_rows_in_its_second_pass_is_refused() -> None:
    orders = iter([NUMBERS, NUMBERS[::-1], NUMBERS, NUMBERS[:200], NUMBERS, pd.concat([NUMBERS, NUMBERS])])
    scan = coterie.scan(lambda: [next(orders)], target="number")
    for match in (
        "in column 'number' at batch 0",
        "after 200 rows instead of 300",
        "other rows than in the pass",
    ):
        with pytest.raises(InvalidInput, match=match):
            model().fit(scan)


def test_a_plain_fit_passes_twice() -> None:
    source = Reopened(pieces(NUMBERS, [100]))
    model().fit(coterie.scan(source, target="number"))
    assert source.opened == 2


def test_columns_of_many_levels_take_one_pass_more() -> None:
    source = Reopened(pieces(FRAME, [100]))
    coterie.GradientBoostingRegressor(n_estimators=2, random_state=0).fit(
        coterie.scan(source, target="number", columns=FEATURES)
    )
    assert source.opened == 3 if FRAME["code"].nunique() > 254 else 2


def test_progress_counts_rows_and_passes() -> None:
    seen = []
    with monitored(lambda event: seen.append((event.step, event.done, event.total, event.note))):
        model(n_estimators=1).fit(coterie.scan(pieces(NUMBERS, [100]), target="number"))
    rows = [each for each in seen if each[0] == "row"]
    assert [done for _, done, _, _ in rows] == [
        100,
        100,
        200,
        300,
    ]  # how many there are is known after a pass
    assert [note.split(",")[:2] for *_, note in rows][:2] == [["reading", " pass 1"], ["binning", " pass 2"]]
    assert [total for _, _, total, _ in rows] == [None] + [300] * 3
    assert rows[1][3].endswith("s left")
    many = []
    with monitored(lambda event: many.append(event) if event.step == "row" else None):
        model(n_estimators=1).fit(coterie.scan(pieces(NUMBERS, [1]), target="number"))
    assert len(many) <= 2 + 20


def test_memory_that_is_too_small_is_an_error_before_bins_are_made() -> None:
    source = Reopened([NUMBERS])
    with pytest.raises(InvalidInput, match=r"takes about .* MB of memory.*spill=folder"):
        model().fit(coterie.scan(source, target="number", memory=1000))
    assert source.opened == 1
    with pytest.raises(InvalidInput, match=r"features and bins.*linear_leaves=False"):
        model(linear_leaves=True).fit(coterie.scan([NUMBERS], target="number", memory=10_000))


def test_what_needs_rows_in_memory_is_refused_by_name() -> None:
    from sklearn.linear_model import LinearRegression

    scan = coterie.scan([NUMBERS], target="number")
    with pytest.raises(ValueError, match=r"init=LinearRegression\(\).*offset="):
        model(init=LinearRegression()).fit(scan)
    with pytest.raises(ValueError, match="is a function of rows"):
        model(scoring=lambda *_: 0.0, early_stopping=True).fit(scan)
    with pytest.raises(InvalidType, match=r"reads its table whole.*scan.sample"):
        coterie.RandomForestRegressor(2).fit(scan, NUMBERS["number"])


def test_groups_offsets_and_several_targets_are_those_of_a_fit_in_memory() -> None:
    columns = ["wide", "whole", "holes"]
    frames = pieces(FRAME, [70])
    grouped = {"early_stopping": True, "scoring": "r2"}
    labelled = FRAME.assign(group=FRAME["team"].astype(str))
    scan = coterie.scan(
        pieces(labelled, [70]), target="number", columns=columns, groups="group", offset="start"
    )
    in_memory = model(**grouped).fit(
        FRAME[columns], FRAME["number"], groups=labelled["group"], offset=FRAME["start"]
    )
    assert differences_of_fits(model(**grouped).fit(scan), in_memory) == []
    both = coterie.scan(frames, target=["number", "start"], columns=columns)
    in_memory = model().fit(FRAME[columns], FRAME[["number", "start"]])
    assert differences_of_fits(model().fit(both), in_memory) == []


@pytest.mark.parametrize("kind", ["frame", "scan"])
def test_eval_sets_are_frames_or_scans(kind: str) -> None:
    train, other = FRAME[:200], FRAME[200:]
    classifier = coterie.GradientBoostingClassifier(n_estimators=30, n_iter_no_change=3, random_state=0)
    expected = classifier.fit(
        train[FEATURES],
        train["label"],
        train["weight"],
        eval_set=(other[FEATURES], other["label"], other["weight"]),
    )
    given: Any = (other[FEATURES], other["label"], other["weight"])
    if kind == "scan":
        given = coterie.scan(pieces(other, [33]), target="label", columns=FEATURES, sample_weight="weight")
    scan = coterie.scan(pieces(train, [33]), target="label", columns=FEATURES, sample_weight="weight")
    streamed = coterie.GradientBoostingClassifier(n_estimators=30, n_iter_no_change=3, random_state=0)
    assert differences_of_fits(streamed.fit(scan, eval_set=given), expected) == []


@pytest.mark.parametrize("algorithm", ["samme", "real"])
def test_adaboost_on_stumps_is_that_of_a_fit_in_memory(algorithm: Any, tmp_path: Path) -> None:
    options: Any = {"n_estimators": 6, "algorithm": algorithm, "random_state": 0}
    named = {"target": "label", "columns": FEATURES, "sample_weight": "weight"}
    in_memory = coterie.AdaBoostClassifier(**options).fit(FRAME[FEATURES], FRAME["label"], FRAME["weight"])
    for spill in (None, tmp_path):
        scan = coterie.scan(pieces(FRAME, [70]), spill=spill, **named)
        assert differences_of_fits(coterie.AdaBoostClassifier(**options).fit(scan), in_memory) == []
    grouped = coterie.scan([FRAME], groups="team", **named)
    with pytest.raises(InvalidInput, match="AdaBoostClassifier has none"):
        coterie.AdaBoostClassifier(**options).fit(grouped)


def test_predictions_of_a_scan_come_in_batches_and_in_order() -> None:
    classifier = coterie.GradientBoostingClassifier(n_estimators=3, random_state=0)
    classifier.fit(FRAME[FEATURES], FRAME["label"])
    scan = coterie.scan(pieces(FRAME, [80]), target="label", columns=FEATURES)
    batches = list(classifier.predict_proba(scan))
    assert [len(batch) for batch in batches] == [80, 80, 80, 60]
    assert np.array_equal(np.concatenate(batches), classifier.predict_proba(FRAME[FEATURES]))
    assert np.array_equal(np.concatenate(list(classifier.predict(scan))), classifier.predict(FRAME[FEATURES]))
    new = coterie.scan(pieces(FRAME[FEATURES], [80]))  # rows without a target
    assert np.array_equal(np.concatenate(list(classifier.predict(new))), classifier.predict(FRAME[FEATURES]))
    forest = coterie.RandomForestRegressor(3, random_state=0).fit(FRAME[FEATURES], FRAME["number"])
    assert np.array_equal(np.concatenate(list(forest.predict(new))), forest.predict(FRAME[FEATURES]))


def test_offsets_of_a_scan_reach_predictions() -> None:
    columns = ["wide", "whole"]
    fitted = model().fit(FRAME[columns], FRAME["number"], offset=FRAME["start"])
    scan = coterie.scan(pieces(FRAME, [80]), columns=columns, offset="start")
    expected = fitted.predict(FRAME[columns], offset=FRAME["start"])
    assert np.array_equal(np.concatenate(list(fitted.predict(scan))), expected)


def test_a_batch_that_cannot_be_predicted_is_named() -> None:
    frames = [NUMBERS.drop(columns="number"), NUMBERS.drop(columns=["number", "wide"])]
    with pytest.raises(SchemaMismatch, match=r"batch 1 \(from row 300"):
        list(IN_MEMORY.predict(coterie.scan(frames)))


def test_a_sample_does_not_depend_on_batches_and_serves_reports() -> None:
    scan = coterie.scan(pieces(NUMBERS, [7, 90]), target="number")
    X, y = scan.sample(100, seed=3)
    other, _ = coterie.scan([NUMBERS], target="number").sample(100, seed=3)
    assert np.array_equal(X, other, equal_nan=True)
    assert 60 <= len(X) == len(y) <= 140
    rows = NUMBERS.loc[X.index]
    assert np.array_equal(rows["number"], y)
    assert "300 rows" in IN_MEMORY.report(scan).text()


def test_iterating_gives_frames_of_features() -> None:
    frames = list(coterie.scan(pieces(NUMBERS, [100]), target="number"))
    assert [len(frame) for frame in frames] == [100, 100, 100]
    assert list(frames[0].columns) == ["wide", "whole", "holes"]


def test_more_rows_take_more_memory() -> None:
    def asked(n_copies: int) -> int:
        with pytest.raises(InvalidInput) as caught:
            model().fit(coterie.scan([NUMBERS] * n_copies, target="number", memory=1000))
        return int(str(caught.value.allowed).split()[2])

    assert asked(3) - asked(2) == asked(2) - asked(1) > len(NUMBERS)


def test_numbers_that_are_objects_are_those_of_a_fit_in_memory() -> None:
    frame = NUMBERS.assign(number=NUMBERS["number"].astype(object))
    features = [name for name in NUMBERS if name != "number"]

    streamed = model().fit(coterie.scan([frame[:100], frame[100:]], target="number"))

    assert differences_of_fits(streamed, model().fit(frame[features], frame["number"])) == []
