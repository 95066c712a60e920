"""Runs tests of the installed scikit-learn with classes of `coterie.ensemble` in place of its own.

    python -m tests.helpers.sklearn_tests sklearn.ensemble.tests.test_bagging results.json

The file that is written holds an outcome, "passed", "failed" or "skipped", for each test that made a model of ours.
Names are exchanged in `sklearn.ensemble` for good, and in the modules below it while a test module is imported, since
tests import from there as well; scikit-learn's own code was imported before and keeps its classes.
"""

import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sklearn.utils.discovery import all_estimators

from coterie.patch import patch_sklearn, replaceable


class Exchange:
    """Puts our classes in place of scikit-learn's, and notices when one of them is used."""

    def __init__(self) -> None:
        sklearn_ensemble = importlib.import_module("sklearn.ensemble")
        self.ours = replaceable()
        self._by_theirs = {id(getattr(sklearn_ensemble, name)): cls for name, cls in self.ours.items()}
        self._theirs = [
            getattr(sklearn_ensemble, name) for name in self.ours
        ]  # ids stay theirs while they live
        self.made = 0
        for cls in self.ours.values():
            self._count(cls)
        patch_sklearn(verbose=False)

    def _count(self, cls: Any) -> None:
        plain = cls._store

        def store(model: Any, given: Any) -> None:
            self.made += 1
            plain(model, given)

        cls._store = store

    @contextmanager
    def while_importing(self) -> Iterator[None]:
        changed = []
        for name, module in list(sys.modules.items()):
            if name.startswith("sklearn.ensemble.") and ".tests" not in name:
                for attribute, value in list(vars(module).items()):
                    if id(value) in self._by_theirs:
                        changed.append((module, attribute, value))
                        setattr(module, attribute, self._by_theirs[id(value)])
        try:
            yield
        finally:
            for module, attribute, value in changed:
                setattr(module, attribute, value)

    def is_inside(self, value: Any) -> bool:
        """Whether a parameter of a test is one of our classes or models, or holds one."""
        if isinstance(value, list | tuple):
            return any(map(self.is_inside, value))
        cls = value if isinstance(value, type) else type(value)
        return cls in self.ours.values()


class Outcomes:
    """A plugin of pytest: what became of each test that used a class of ours."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.found: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Any:
        if not isinstance(collector, pytest.Module):
            return (yield)
        with self._exchange.while_importing():
            return (yield)

    def pytest_runtest_logstart(self) -> None:
        self._exchange.made = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        report = yield
        name = item.nodeid.split("::", 1)[1]
        if report.failed or report.skipped:
            self.found[name] = report.outcome
        elif report.when == "teardown" and name not in self.found:
            params = getattr(getattr(item, "callspec", None), "params", {})
            if self._exchange.made or any(map(self._exchange.is_inside, params.values())):
                self.found[name] = "passed"
        return report


def main(module: str, results: str) -> None:
    """Run one module of tests, and write the outcomes."""
    all_estimators()  # imports every public module of scikit-learn
    for name in ("sklearn.inspection", "sklearn.tests.metadata_routing_common"):
        importlib.import_module(name)
    exchange = Exchange()
    outcomes = Outcomes(exchange)
    folder = Path(results).parent
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    root = Path(importlib.import_module("sklearn").__file__ or "").parent.parent
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-W",
        "ignore",
        "-c",
        str(folder / "pytest.ini"),
    ]
    pytest.main([*options, "--rootdir", str(root), "--pyargs", module], plugins=[outcomes])
    Path(results).write_text(json.dumps(outcomes.found), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # pools of workers that tests have opened may linger


if __name__ == "__main__":
    main(*sys.argv[1:])
