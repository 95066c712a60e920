"""Ask pip-audit what is known against the packages in a folder, and say about which of them nothing was learned.

pip-audit ends well, with "No known vulnerabilities found", when the service of vulnerabilities knows none of the
packages, as behind a mirror of PyPI that has files alone. Here that is a failure.

    python tools/audit.py .venv/lib/python3.12/site-packages
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

# Not on PyPI while it is being released.
OWN = "coterie"


def audit(packages: Path) -> int:
    """Print what was found; 0 if everything was audited and nothing is known against it."""
    words = ["--path", str(packages), "--progress-spinner=off", "--format=json"]
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", *words], capture_output=True, text=True, check=False
    )
    if not done.stdout:
        print(f"NOT audited: pip-audit failed.\n{done.stderr.strip()}")
        return 1
    audited, known, unknown = findings(json.loads(done.stdout)["dependencies"])
    print(f"pip-audit: {audited} packages audited, {len(known)} known vulnerabilities", *known, sep="\n")
    if unknown:
        print(f"NOT audited: {len(unknown)} packages of which no service could tell.", *unknown, sep="\n")
    return 1 if known or unknown else 0


def findings(answers: list[dict[str, Any]]) -> tuple[int, list[str], list[str]]:
    """How many packages were audited, what is known against them, and what was left out.

    >>> findings([
    ...     {"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]},
    ...     {"name": "b", "version": "1", "vulns": []},
    ...     {"name": "c", "skip_reason": "Dependency not found on PyPI"},
    ...     {"name": "coterie", "skip_reason": "Dependency not found on PyPI"},
    ... ])
    (2, ['a 1: CVE-1, fixed in 2'], ['c: Dependency not found on PyPI'])
    """
    audited = [each for each in answers if "skip_reason" not in each]
    known = [
        f"{each['name']} {each['version']}: {found['id']}, fixed in {', '.join(found['fix_versions']) or 'no version'}"
        for each in audited
        for found in each["vulns"]
    ]
    left_out = [each for each in answers if "skip_reason" in each and each["name"] != OWN]
    return len(audited), known, [f"{each['name']}: {each['skip_reason']}" for each in left_out]


if __name__ == "__main__":
    raise SystemExit(audit(Path(sys.argv[1])))
