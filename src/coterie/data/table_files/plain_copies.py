"""Files as duckdb reads them: compressed ones and those of other encodings are copied to a temporary folder first.

What a compressed file becomes is bounded: a small file that becomes a huge one is refused.
"""

import bz2
import codecs
import glob
import gzip
import lzma
import os
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from coterie._optional import need
from coterie.data.table_files.callers import Caller
from coterie.errors import InvalidInput, InvalidParameter

# Bytes that any compressed file may become; beyond them, so many times its own size.
FREE_BYTES = 1 << 28
MOST_TIMES = 100
_PART = 1 << 20
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
COMPRESSED_ENDINGS = (".gz", ".zst", ".zstd", ".bz2", ".xz")
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def check_encoding(encoding: str | None, caller: Caller) -> None:
    """Refuse an encoding that nobody knows."""
    try:
        codecs.lookup(encoding or "utf-8")
    except LookupError:
        allowed = "the name of an encoding, such as utf-8, latin-1, cp1252 or utf-16"
        given = caller.setting("encoding", str(encoding))
        raise InvalidParameter.expecting(given, allowed, "encoding", encoding) from None


def decompressed(path: str, folder: str, name: str) -> str:
    """The path of the file without its compression: its own, or that of a copy in a folder."""
    with open(path, "rb") as file:
        start = file.read(6)
    kind = next((kind for mark, kind in _COMPRESSED.items() if start.startswith(mark)), None)
    if kind is None:
        return path
    stem = Path(path).name
    while Path(stem).suffix.lower() in COMPRESSED_ENDINGS:
        stem = Path(stem).stem
    copy = _free_path(folder, stem)
    limit = max(FREE_BYTES, MOST_TIMES * os.path.getsize(path))
    try:
        with _opened(path, kind) as source, open(copy, "wb") as target:
            _copy_bounded(source, target, limit, name)
    except (EOFError, OSError, lzma.LZMAError, zlib.error, _zstd_error(kind)) as error:
        raise InvalidInput(
            f"{name} cannot be decompressed as {kind}: {error}.",
            parameter="source",
            received=name,
            hint="Copy it once more, or decompress it yourself.",
        ) from error
    return copy


def without_patterns(path: str, folder: str) -> str:
    """The path of the file under a name in which no mark is a pattern: its own, or that of a link in a folder."""
    if not glob.has_magic(path):
        return path
    link = _free_path(folder, re.sub(r"[^\w.]", "_", Path(path).name))
    try:
        os.symlink(os.path.abspath(path), link)
    except OSError:  # not everybody may make links on Windows
        shutil.copyfile(path, link)
    return link


def _free_path(folder: str, stem: str) -> str:
    """A path in a folder that no file has yet."""
    return os.path.join(folder, f"{len(os.listdir(folder))}-{stem}")


def _opened(path: str, kind: str) -> IO[bytes]:
    if kind == "zstd":
        return _opened_zstd(path)
    opened: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    return opened[kind](path, "rb")  # type: ignore[no-any-return]


def _opened_zstd(path: str) -> IO[bytes]:
    try:
        from compression import zstd  # type: ignore[import-not-found]  # Python 3.14
    except ImportError:
        zstandard = need("zstandard", purpose=f"Reading {path}")
        return zstandard.open(path, "rb")  # type: ignore[no-any-return]
    return zstd.open(path, "rb")  # type: ignore[no-any-return]


def _zstd_error(kind: str) -> type[Exception]:
    """What the decompressor of zstd raises; something else for other kinds, so that it need not be there."""
    if kind != "zstd":
        return EOFError
    try:
        from compression import zstd
    except ImportError:
        zstandard: Any = need("zstandard", purpose="Reading zstd")
        return zstandard.ZstdError  # type: ignore[no-any-return]
    return zstd.ZstdError  # type: ignore[no-any-return]


def _copy_bounded(source: IO[bytes], target: IO[bytes], limit: int, name: str) -> None:
    written = 0
    while part := source.read(_PART):
        written += len(part)
        if written > limit:
            raise InvalidInput(
                f"{name} becomes more than {limit / 1e6:,.0f} MB when it is decompressed, which is more than "
                f"{MOST_TIMES} times its size.",
                parameter="source",
                received=name,
                allowed=f"at most {limit:,} bytes",
                hint="If it is meant so, decompress it yourself and give that file.",
            )
        target.write(part)


def encoding_of(path: str) -> str | None:
    """The encoding of a file of text by its first bytes and by what UTF-8 allows; None if it is no text.

    A file that is no UTF-8 is taken for Windows-1252, which is Latin-1 with more letters.
    """
    with open(path, "rb") as file:
        start = file.read(4096)
        for mark, encoding in _BYTE_ORDER_MARKS:
            if start.startswith(mark):
                return encoding
        if b"\0" in start:
            return _encoding_of_pairs(start)
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while part := file.read(_PART):
                decoder.decode(part)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _encoding_of_pairs(start: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of English and of numbers is zero."""
    even, odd = start[::2], start[1::2]
    if odd.count(0) > 0.7 * len(odd) and even.count(0) == 0:
        return "utf-16-le"
    if even.count(0) > 0.7 * len(even) and odd.count(0) == 0:
        return "utf-16-be"
    return None


def as_utf8(path: str, encoding: str, folder: str, name: str) -> str:
    """The path of the file as UTF-8: its own, or that of a copy in a folder."""
    if codecs.lookup(encoding).name in ("utf-8", "ascii"):
        return path
    copy = _free_path(folder, Path(path).name)
    # What Windows-1252 leaves undefined is there in Latin-1.
    errors = "latin-1" if encoding == "cp1252" else "strict"
    try:
        with (
            open(path, encoding=encoding, errors=errors, newline="") as source,
            open(copy, "w", encoding="utf-8", newline="") as target,
        ):
            while part := source.read(_PART):
                target.write(part)
    except UnicodeError as error:
        raise InvalidInput(
            f"{name} is not written in {encoding}: {error}.",
            parameter="encoding",
            received=encoding,
            hint="Give another encoding, such as latin-1, cp1252, utf-16 or utf-8.",
        ) from error
    return copy


def _as_latin(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("latin-1", _as_latin)
