"""The tests of the library with the oldest and the newest versions of what it needs, each in an environment of its own.

The oldest are the lower bounds in pyproject.toml: `pandas>=2.0` is tested with the last 2.0. The newest are what pip
finds. coterie is installed from the wheel in build/wheel. Environments are kept in build/matrix and made again when
their requirements change.

    python tools/matrix.py                       both, with the wheel in build/wheel
    python tools/matrix.py oldest tests/data -x   one; other words go to pytest
"""

import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from time import perf_counter

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "matrix"
WHICH = ("oldest", "newest")
# What users install beside coterie; other requirements of the tests are tools, and always the newest.
EXTRAS = ("cli", "plot", "scan", "export")
FRAMES = ("numpy", "pandas", "polars", "pyarrow", "safetensors")
# What the oldest need themselves, of their own age: later ones deprecate what scikit-learn 1.6, typer 0.16 and
# matplotlib 3.8 call.
OLDEST_BELOW = ["scipy==1.11.*", "click==8.2.*", "pyparsing==3.1.*"]
# Everything but what reads the repository itself.
TESTS = ["tests", "--ignore=tests/architecture"]
SHOWN = (
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "skops",
    "onnx",
    "treelite",
)


def requirements(settings: dict[str, object], which: str) -> list[str]:
    """What the environment holds beside coterie, one requirement for each package."""
    project = settings["project"]
    assert isinstance(project, dict)
    extras = project["optional-dependencies"]
    used = [*project["dependencies"], *(each for extra in EXTRAS for each in extras[extra])]
    used += [each for each in extras["test"] if Requirement(each).name in FRAMES]
    if which == "oldest":
        used = [*OLDEST_BELOW, *(oldest(each) for each in used)]
    return sorted({*used, *(each for each in extras["test"] if Requirement(each).name not in names(used))})


def names(wanted: list[str]) -> set[str]:
    return {Requirement(each).name for each in wanted}


def oldest(requirement: str) -> str:
    """The series at the lower bound.

    >>> oldest("pandas>=2.0")
    'pandas==2.0.*'
    """
    wanted = Requirement(requirement)
    (lower,) = (each.version for each in wanted.specifier if each.operator == ">=")
    return f"{wanted.name}=={lower}.*"


def environment(which: str, wheel: Path) -> Path:
    """The interpreter of an environment that holds the wheel and the versions of this name."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = "\n".join(requirements(settings, which)) + "\n"
    place = FOLDER / which
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    listed = place / "requirements.txt"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    if not listed.exists() or listed.read_text(encoding="utf-8") != wanted:
        print(f"Making {place.relative_to(ROOT)} ...", flush=True)
        venv.create(place, clear=True, with_pip=True)
        tried = place / "tried.txt"
        tried.write_text(wanted, encoding="utf-8")
        subprocess.run([*pip, "-r", str(tried)], check=True)
        tried.rename(listed)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", str(wheel)], check=True)
    return python


def versions(python: Path) -> str:
    program = f"from importlib.metadata import version; print(*[f'{{n}} {{version(n)}}' for n in {SHOWN}], sep=', ')"
    done = subprocess.run([str(python), "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main(wheel: Path, which: list[str], options: list[str]) -> int:
    failed = []
    for each in which:
        python = environment(each, wheel)
        print(f"{each}: {versions(python)}", flush=True)
        began = perf_counter()
        tests = [option for option in options if option.startswith("tests")] or TESTS
        command = [
            str(python),
            "-m",
            "pytest",
            "-q",
            "--numprocesses=auto",
            "--dist=loadfile",
            "-p",
            "no:cacheprovider",
        ]
        command += [*tests, *(option for option in options if option not in tests)]
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            failed.append(each)
        print(f"{each}: {(perf_counter() - began) / 60:.1f} minutes", flush=True)
    if failed:
        print(f"Failed: {', '.join(failed)}.")
    return len(failed)


if __name__ == "__main__":
    (built,) = (ROOT / "build" / "wheel").glob("*.whl")
    words = sys.argv[1:]
    chosen = [word for word in WHICH if word in words] or list(WHICH)
    raise SystemExit(main(built, chosen, [word for word in words if word not in WHICH]))
