"""Build a wheel for this machine and interpreter in build/wheel, repair it and check it.

Repaired by auditwheel, on Linux: the tag says the oldest C library that it works with. Checked: the metadata, by twine;
the size; that the notices of everything inside came along; and that nothing else did.

    python tools/make_wheel.py
"""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from third_party import licence_files

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "build" / "wheel-built"
WHEELS = ROOT / "build" / "wheel"
MOST_BYTES = 6_000_000


def run(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", *map(str, arguments)], cwd=ROOT, check=True)


def build() -> Path:
    """The wheel in build/wheel, as pip would install it."""
    for folder in (BUILT, WHEELS):
        shutil.rmtree(folder, ignore_errors=True)
    settings = ["build-dir=build/wheel-objects", "cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON"]
    run(
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        BUILT,
        *(f"--config-setting={each}" for each in settings),
    )
    (built,) = BUILT.glob("*.whl")
    if sys.platform == "linux":
        run("auditwheel", "repair", "--wheel-dir", WHEELS, built)
    else:  # cibuildwheel repairs those of macOS and Windows; with the engine inside there is nothing to add
        WHEELS.mkdir(parents=True)
        shutil.copy(built, WHEELS)
    (wheel,) = WHEELS.glob("*.whl")
    return wheel


def problems(wheel: Path) -> list[str]:
    """What is wrong with a wheel, a sentence each."""
    found = []
    if (size := wheel.stat().st_size) > MOST_BYTES:
        found.append(f"The wheel has {size:,} bytes; {MOST_BYTES:,} are allowed.")
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    strange = [top for top in sorted(tops) if top != "coterie" and not top.startswith("coterie-")]
    if strange:
        found.append(f"The wheel holds more than the package: {', '.join(strange)}.")
    found += [
        f"The wheel does not hold the notice {file}."
        for file in licence_files()
        if not any(".dist-info/licenses/" in name and name.endswith(file) for name in names)
    ]
    return found


if __name__ == "__main__":
    wheel = build()
    run("twine", "check", "--strict", wheel)
    if found := problems(wheel):
        raise SystemExit("\n".join(found))
    print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 1e6:.2f} MB")
