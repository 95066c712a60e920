"""Python imports follow the data: the contract is in pyproject.toml, import-linter holds it."""

import ast
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from tests.helpers.repository import ROOT, files

PACKAGE = Path("src/coterie")
INNER_MODULES = [
    file
    for file in files()
    if PACKAGE in file.parents and file.suffix == ".py" and file != PACKAGE / "__init__.py"
]


def test_imports_follow_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert exit_code == 0, capsys.readouterr().out


@pytest.mark.parametrize("file", INNER_MODULES, ids=str)
def test_a_module_takes_only_the_engine_from_the_root(file: Path) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    taken = {
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "coterie"
        for name in node.names
    }
    assert taken <= {"_engine"}, f"{file}: import {taken - {'_engine'}} from the module that defines it."
