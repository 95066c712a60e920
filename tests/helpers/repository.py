"""The repository as its own tests see it: where it is, and which files belong to it."""

import os
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def files() -> tuple[Path, ...]:
    """Every file that is not ignored by version control, relative to the root, in order.

    Our .gitignore holds nothing but names and patterns of names, so no git is needed to read it.
    """
    ignored = [".git", *(ROOT / ".gitignore").read_text(encoding="utf-8").replace("/\n", "\n").split()]

    def belongs(name: str) -> bool:
        return not any(fnmatch(name, pattern) for pattern in ignored)

    found: list[Path] = []
    for folder, inner, names in os.walk(ROOT):
        inner[:] = filter(belongs, inner)
        found += [Path(folder, name).relative_to(ROOT) for name in names if belongs(name)]
    return tuple(sorted(found))


@cache
def folders() -> frozenset[str]:
    """Every folder that holds a file, directly or deeper, written with slashes."""
    return frozenset(parent.as_posix() for file in files() for parent in file.parents if parent != Path())


@cache
def listed_folders() -> tuple[str, ...]:
    """The folders drawn in ARCHITECTURE.md, in its order.

    The drawing is the block of text after the heading "Folders": one folder a line, its name ending in a
    slash, two spaces further in than the folder that holds it.
    """
    drawing = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## Folders")[1].split("```")[1]
    listed: list[str] = []
    path: list[str] = []
    for line in drawing.splitlines():
        name = line.split()[0] if line.split() else ""
        if name.endswith("/"):
            depth = (len(line) - len(line.lstrip())) // 2
            path[depth:] = [name.rstrip("/")]
            listed.append("/".join(path))
    return tuple(listed)
