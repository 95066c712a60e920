"""Python imports follow the data: the contract is in pyproject.toml, import-linter holds it."""

from importlinter.cli import lint_imports

from tests.architecture.repository import ROOT


def test_imports_follow_the_data(capsys) -> None:
    exit_code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert exit_code == 0, capsys.readouterr().out
