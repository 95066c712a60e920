"""What is raised by decompressors."""

from coterie.data.table_files.plain_copies import _zstd_error


def test_other_kinds_do_not_need_zstd():
    assert _zstd_error("gzip") is EOFError
    assert _zstd_error("zstd") is not EOFError
