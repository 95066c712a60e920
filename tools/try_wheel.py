"""Install the wheel of build/wheel into an empty environment without a compiler; run the demo and its tests there.

Nothing of the repository can be imported: the tests run in a folder that holds what cibuildwheel copies, its
`test-sources`, and by its `test-command`. PATH holds the programs of the environment, and `cat`, by which joblib counts
cores.

    python tools/try_wheel.py                 demo and tests
    python tools/try_wheel.py -n 2 -k trees   the words go to pytest
"""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "wheel-tried"
PLAIN = FOLDER / "plain"
PROGRAMS = FOLDER / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
PATH = os.pathsep.join(map(str, (PROGRAMS, PLAIN)))
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cl", "cmake", "ninja")


def run(*words: object, cwd: Path) -> None:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "CMAKE", "COTERIE"))
    }
    arguments = [str(PROGRAMS / "python"), *map(str, words)]
    subprocess.run(arguments, cwd=cwd, env={**clean, "PATH": PATH}, check=True)


def install(*wanted: str) -> None:
    run(
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
        "install",
        "--only-binary=:all:",
        *wanted,
        cwd=FOLDER,
    )


def megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def site_packages() -> Path:
    (numpy,) = (FOLDER / "environment").rglob("site-packages/numpy")
    return numpy.parent


def main(options: list[str]) -> None:
    (wheel,) = (ROOT / "build" / "wheel").glob("*.whl")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
    shutil.rmtree(FOLDER, ignore_errors=True)
    sources = FOLDER / "sources"
    sources.mkdir(parents=True)
    for name in settings["test-sources"]:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, sources / name)

    PLAIN.mkdir()
    if (cat := shutil.which("cat")) is not None:
        (PLAIN / "cat").symlink_to(cat)
    venv.create(FOLDER / "environment", with_pip=True)
    found = [name for name in COMPILERS if shutil.which(name, path=PATH)]
    assert not found, f"The environment has {found}."
    empty = megabytes(FOLDER / "environment")
    install(str(wheel))
    print(f"coterie and what it needs: {megabytes(FOLDER / 'environment') - empty:.0f} MB", flush=True)
    install(f"{wheel}[cli]")
    print(f"coterie[cli]: {megabytes(FOLDER / 'environment') - empty:.0f} MB, of which coterie", end=" ")
    print(f"{megabytes(site_packages() / 'coterie'):.1f} MB", flush=True)
    run("-m", "coterie", "doctor", cwd=FOLDER)
    run(sources / "examples" / "demo.py", "5", cwd=FOLDER)

    install(f"{wheel}[{','.join(settings['test-extras'])}]")
    began = perf_counter()
    run(*settings["test-command"].split()[1:], *options, cwd=sources)
    print(f"The tests of the wheel took {(perf_counter() - began) / 60:.1f} minutes.")


if __name__ == "__main__":
    main(sys.argv[1:])
