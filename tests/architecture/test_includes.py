"""C++ includes go one way: a folder of the engine uses itself and those drawn above it on the map."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.repository import ROOT, files, listed_folders

ENGINE = Path("engine/coterie")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layers() -> list[str]:
    """Folders of the engine, lowest first."""
    paths = [Path(folder) for folder in listed_folders()]
    return [path.name for path in paths if path.parent == ENGINE]


def engine_files() -> list[Path]:
    return [file for file in files() if ENGINE in file.parents]


def includes(file: Path) -> Iterator[tuple[bool, str]]:
    """Is it one of ours (in quotes), and what is included, for every include of the file."""
    for mark, name in INCLUDE.findall((ROOT / file).read_text(encoding="utf-8")):
        yield mark == '"', name


def wrong_includes(folder: str, included: list[str]) -> list[str]:
    """Those that reach a higher folder, or anything outside engine/coterie."""
    allowed = layers()[: layers().index(folder) + 1]
    return [name for name in included if not any(name.startswith(f"coterie/{layer}/") for layer in allowed)]


@pytest.mark.parametrize("file", engine_files(), ids=str)
def test_a_file_includes_only_lower_folders(file: Path) -> None:
    wrong = wrong_includes(file.relative_to(ENGINE).parts[0], [name for ours, name in includes(file) if ours])
    assert not wrong, f"{file} includes {wrong}; it may include {' < '.join(layers())} up to its own folder."


@pytest.mark.parametrize("file", engine_files(), ids=str)
def test_the_engine_knows_nothing_of_python(file: Path) -> None:
    python = [name for _, name in includes(file) if re.match(r"(Python|nanobind|pybind11|numpy)\b", name)]
    assert not python, f"{file} includes {python}; what speaks Python belongs to bindings/."


VECTORS = {"neon": r"\barm_neon\.h\b", "avx2": r"\b_mm256_", "avx512": r"\b_mm512_"}


def vector_files() -> list[Path]:
    return [file for file in engine_files() if VECTORS.keys() & set(file.parts)]


@pytest.mark.parametrize("file", vector_files(), ids=str)
def test_a_file_with_vectors_is_empty_where_there_are_none(file: Path) -> None:
    macro = "COTERIE_HAS_NEON" if "neon" in file.parts else "COTERIE_HAS_AVX2"
    assert macro in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", VECTORS)
def test_vector_instructions_stay_in_the_folder_compiled_for_them(folder: str) -> None:
    wider = {folder} | ({"avx512"} if folder == "avx2" else set())
    users = [
        file
        for file in engine_files()
        if not wider & set(file.parts)
        and re.search(VECTORS[folder], (ROOT / file).read_text(encoding="utf-8"))
    ]
    assert not users, f"{users} use {VECTORS[folder]} outside engine/coterie/kernels/{folder}."


def test_the_rule_itself_refuses_what_it_should() -> None:
    low, high = layers()[0], layers()[-1]
    assert wrong_includes(low, [f"coterie/{low}/types.hpp"]) == []
    assert wrong_includes(high, [f"coterie/{low}/types.hpp"]) == []
    assert wrong_includes(low, [f"coterie/{high}/walk.hpp"]) == [f"coterie/{high}/walk.hpp"]
    assert wrong_includes(high, ["reference/a.hpp", "../a.hpp"]) == ["reference/a.hpp", "../a.hpp"]
