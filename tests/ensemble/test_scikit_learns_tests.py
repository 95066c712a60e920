"""scikit-learn's own tests of its ensembles, with ours in their place; docs/develop/scikit-learn.md has what fails."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.oracles import needs_scikit_learn
from tests.helpers.repository import ROOT

PAGE = ROOT / "docs/develop/scikit-learn.md"
MODULES = (
    "tests.test_bagging",
    "tests.test_common",
    "tests.test_forest",
    "tests.test_gradient_boosting",
    "tests.test_iforest",
    "tests.test_stacking",
    "tests.test_voting",
    "tests.test_weight_boosting",
    "_hist_gradient_boosting.tests.test_gradient_boosting",
    "_hist_gradient_boosting.tests.test_monotonic_constraints",
    "_hist_gradient_boosting.tests.test_warm_start",
)


def explained() -> set[tuple[str, str]]:
    """Modules and names of the tests that the page explains."""
    rows = re.findall(r"^\| `([\w.]+)::(\w+)` \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return set(rows)


@needs_scikit_learn("1.9", "other tests")
def test_the_page_speaks_of_tests_that_exist() -> None:
    known = explained()
    assert len(known) > 20
    for module, name in known:
        spec = importlib.util.find_spec(f"sklearn.ensemble.{module}")
        assert spec is not None
        assert spec.origin is not None
        assert f"def {name}(" in Path(spec.origin).read_text(encoding="utf-8"), name


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_what_fails_is_explained(module: str, tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    command = [
        sys.executable,
        "-m",
        "tests.helpers.sklearn_tests",
        f"sklearn.ensemble.{module}",
        str(results),
    ]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True)
    outcomes = json.loads(results.read_text(encoding="utf-8"))
    failed = {name.split("[")[0] for name, outcome in outcomes.items() if outcome == "failed"}
    known = {name for where, name in explained() if where == module}
    assert sum(outcome == "passed" for outcome in outcomes.values()) > 1
    assert failed <= known, f"not explained: {sorted(failed - known)}"
