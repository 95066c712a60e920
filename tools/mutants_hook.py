"""What every Python process of a mutant run loads first: tools/mutants.py copies it as `sitecustomize.py`.

It puts a copied tree before the installed package, whose own import hook comes before PYTHONPATH, and, if
MUTANTS_DATA names a file, measures which lines of the tree each test runs. Processes that a test starts are
measured too: they find the name of the test in MUTANTS_TEST. The same module is a plugin of pytest, which is told
that there are no assertions in it: PYTEST_DONT_REWRITE.
"""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

_TREE = Path(os.environ["MUTANTS_TREE"])
_PACKAGE = os.environ["MUTANTS_PACKAGE"]
_DATA = os.environ.get("MUTANTS_DATA")


class _TreeFirst:
    """Finds the package in the tree; what the tree lacks (the compiled module) is left to other finders."""

    @staticmethod
    def find_spec(name: str, path: Any = None, _target: Any = None) -> ModuleSpec | None:
        if name == _PACKAGE:
            return PathFinder.find_spec(name, [str(_TREE / "src")])
        return PathFinder.find_spec(name, path) if name.startswith(f"{_PACKAGE}.") else None


sys.meta_path.insert(0, _TreeFirst)

if _DATA:
    import atexit
    import json

    import coverage

    _measured = coverage.Coverage(
        data_file=_DATA,
        data_suffix=True,
        config_file=False,
        source=[str(_TREE / "src" / _PACKAGE)],
        context=os.environ.get("MUTANTS_TEST"),
        messages=False,
    )
    _measured.set_option("run:core", "ctrace")
    _measured.set_option("run:disable_warnings", ["no-data-collected", "module-not-imported"])
    _measured.start()
    _outcomes: dict[str, list[Any]] = {}

    @atexit.register
    def _save() -> None:
        _measured.stop()
        _measured.save()

    def pytest_runtest_logstart(nodeid: str) -> None:
        os.environ["MUTANTS_TEST"] = nodeid.partition("[")[0]
        _measured.switch_context(os.environ["MUTANTS_TEST"])

    def pytest_runtest_logfinish() -> None:
        os.environ.pop("MUTANTS_TEST", None)
        _measured.switch_context("")

    def pytest_runtest_logreport(report: Any) -> None:
        outcome = _outcomes.setdefault(report.nodeid.partition("[")[0], [0.0, True])
        outcome[0] += report.duration
        outcome[1] &= not report.failed

    def pytest_sessionfinish() -> None:
        if "PYTEST_XDIST_WORKER" not in os.environ:
            Path(f"{_DATA}.json").write_text(json.dumps(_outcomes), encoding="utf-8")
