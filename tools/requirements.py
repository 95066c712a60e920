"""Print what the development environment needs, one requirement per line, as pyproject.toml says it.

The build is run in that environment rather than in one of its own, so that a second build reuses the
objects of the first; hence the build requirements, and CMake and Ninja, are part of the list.

    python tools/requirements.py             what is needed to build and to run
    python tools/requirements.py test lint   the same, and these extras
"""

import sys
import tomllib
from pathlib import Path

BUILD_TOOLS = ["cmake>=3.26", "ninja"]


def requirements(pyproject: Path, extras: list[str]) -> list[str]:
    """Build tools, build requirements, dependencies, then the extras, in this order."""
    settings = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    optional = settings["project"]["optional-dependencies"]
    unknown = [extra for extra in extras if extra not in optional]
    if unknown:
        known = ", ".join(optional)
        raise SystemExit(f"There is no extra {unknown[0]!r} in {pyproject.name}; the extras are {known}.")
    always = [*BUILD_TOOLS, *settings["build-system"]["requires"], *settings["project"]["dependencies"]]
    return always + [requirement for extra in extras for requirement in optional[extra]]


if __name__ == "__main__":
    print("\n".join(requirements(Path(__file__).parents[1] / "pyproject.toml", sys.argv[1:])))
