"""Nothing but the files that were named is read, and no small file fills the disk."""

import gzip
import lzma
import os
from pathlib import Path

import pytest

import coterie
from coterie.data.table_files import plain_copies
from coterie.data.table_files.data_table import open_table
from coterie.errors import InvalidInput, InvalidParameter


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_a_small_file_that_becomes_a_huge_one_is_refused(
    compress: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_copies, "FREE_BYTES", 1 << 16)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(compress(b"a,b\n" + b"1,1\n" * 2_000_000))  # type: ignore[operator]
    with pytest.raises(InvalidInput, match="100 times its size") as caught:
        coterie.read_table(path)
    assert "decompress it yourself" in str(caught.value)


def test_a_bomb_of_zstd_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard = pytest.importorskip("zstandard")
    monkeypatch.setattr(plain_copies, "FREE_BYTES", 1 << 16)
    path = tmp_path / "bomb.csv.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"a,b\n" + b"1,1\n" * 2_000_000))
    with pytest.raises(InvalidInput, match="100 times its size"):
        coterie.read_table(path)


def test_a_plain_compressed_file_of_many_rows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,1\n" * 200_000))
    assert len(coterie.read_table(path)["a"]) == 200_000


def test_addresses_are_no_files() -> None:
    for name in ("https://example.org/t.csv", "s3://bucket/t.parquet", "ftp://example.org/t.csv"):
        with pytest.raises(InvalidParameter, match="from this machine alone"):
            coterie.read_table(name)


@pytest.mark.parametrize(
    "where",
    [
        "a IN (SELECT a FROM read_csv('{other}'))",
        "a IN (SELECT 1 FROM read_text('/etc/hostname'))",
        "a IN (SELECT a FROM 'https://example.org/t.parquet')",
    ],
)
def test_a_condition_reads_no_other_files(where: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "other.csv").write_text("a\n1\n")
    condition = where.format(other=tmp_path / "other.csv")
    with pytest.raises(InvalidParameter), open_table([str(tmp_path / "t.csv")], condition) as table:
        table.columns(["a"], table.reading())


def test_extensions_are_neither_loaded_nor_installed(tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with open_table([str(tmp_path / "t.csv")]) as table:
        for command in (
            "INSTALL httpfs",
            "SET enable_external_access = true",
            f"COPY (SELECT 1) TO '{tmp_path}/x'",
        ):
            with pytest.raises(duckdb.Error):
                table.connection.execute(command)
    assert sorted(own.name for own in tmp_path.iterdir()) == ["t.csv"]


@pytest.mark.skipif(os.name == "nt", reason="not everybody may make links there")
def test_a_pattern_does_not_follow_links_out_of_its_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "a.csv").write_text("a,b\n1,2\n")
    (outside / "b.csv").write_text("a,b\n3,4\n")
    pattern = str(inside / "*.csv")
    assert coterie.read_table(pattern)["a"].tolist() == [1]
    os.symlink(outside / "b.csv", inside / "b.csv")
    with pytest.raises(InvalidInput, match="outside of its folder") as caught:
        coterie.read_table(pattern)
    assert caught.value.received == str(inside / "b.csv")
    assert coterie.read_table(inside / "b.csv")["a"].tolist() == [3], "a name in full is meant"


def test_names_with_marks_of_patterns_are_names(tmp_path: Path) -> None:
    (tmp_path / "t[1]*.csv").write_text("a,b\n1,2\n")
    (tmp_path / "t1x.csv").write_text("a,b\n3,4\n")
    assert coterie.read_table(tmp_path / "t[1]*.csv")["a"].tolist() == [1]
