"""A software bill of materials of the wheel in build/wheel, build/sbom.json, and what is known against anything on it.

The wheel is installed with what it needs into an environment of its own, which cyclonedx-py lists in the form of
CycloneDX 1.6. To the list comes what is inside the wheel (tools/third_party.py). pip-audit then asks for known
vulnerabilities of the packages; a package that it could not ask about is a failure too. --offline leaves it out.

    python tools/make_sbom.py
    python tools/make_sbom.py --offline
"""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from audit import audit
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from third_party import components

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / "build" / "sbom-environment"
SBOM = ROOT / "build" / "sbom.json"


def run(*words: object) -> None:
    subprocess.run([*map(str, words)], cwd=ROOT, check=True)


def install(wheel: Path) -> Path:
    """The interpreter of an environment with the wheel and what it needs, and nothing else."""
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    venv.create(ENVIRONMENT)
    python = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
        "--python",
        python,
        "install",
        wheel,
    )
    return python


def with_inside(listed: dict[str, object]) -> dict[str, object]:
    """The list with what is inside the wheel, as parts of coterie."""
    packages = listed["components"]
    assert isinstance(packages, list)
    (own,) = (each for each in packages if each["name"] == "coterie")
    own["components"] = [
        {
            "type": "library",
            "name": each["package"],
            "version": each["version"],
            "bom-ref": f"inside/{each['package']}@{each['version']}",
            "licenses": [{"license": {"name": each["licence"]}}],
            "properties": [{"name": "coterie:where", "value": each["where"]}],
            **({"hashes": [{"alg": "SHA-256", "content": each["sha256"]}]} if "sha256" in each else {}),
        }
        for each in components()
    ]
    return listed


if __name__ == "__main__":
    (built,) = (ROOT / "build" / "wheel").glob("*.whl")
    interpreter = install(built)
    run(
        sys.executable,
        "-m",
        "cyclonedx_py",
        "environment",
        "--spec-version",
        "1.6",
        "--output-file",
        SBOM,
        interpreter,
    )
    text = json.dumps(with_inside(json.loads(SBOM.read_text(encoding="utf-8"))), indent=2)
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise SystemExit(f"build/sbom.json does not fit the schema of CycloneDX: {error}")
    SBOM.write_text(text + "\n", encoding="utf-8")
    n_packages = len(json.loads(text)["components"])
    print(f"{SBOM.relative_to(ROOT)}: {n_packages} packages, {len(components())} libraries inside coterie")
    if "--offline" not in sys.argv:
        raise SystemExit(audit(next(ENVIRONMENT.rglob("site-packages"))))
