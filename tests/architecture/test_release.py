"""What is released: tests of the wheel have all they read, notices are complete, one version stands everywhere."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.helpers.extras import OF_CONTRIBUTORS
from tests.helpers.repository import ROOT, files

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEELS = SETTINGS["tool"]["cibuildwheel"]
TESTS_OF_THE_WHEEL = [
    file
    for file in files()
    if file.parts[0] == "tests" and file.suffix == ".py" and file.parts[1] != "architecture"
]


def paths_in_the_repository(tree: ast.AST) -> Iterator[str]:
    """First folders of paths from the root of the repository: `ROOT / "docs" / ...`, `...parents[2] / "docs"`."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and isinstance(node.right, ast.Constant)
        ):
            left = ast.unparse(node.left)
            if left == "ROOT" or re.fullmatch(r"Path\(__file__\)\.parents\[\d\]", left):
                yield str(node.right.value).split("/")[0]


@pytest.mark.parametrize("file", TESTS_OF_THE_WHEEL, ids=str)
def test_the_tests_of_a_wheel_have_what_they_read(file: Path) -> None:
    allowed = {*WHEELS["test-sources"], *(path.parts[1] for path in files() if path.parts[0] == "tests")}
    if file == Path("tests/helpers/repository.py"):  # reads the repository for tests/architecture
        return
    missing = set(paths_in_the_repository(ast.parse((ROOT / file).read_text(encoding="utf-8")))) - allowed
    assert not missing, f"{file} reads {missing}; `test-sources` of cibuildwheel does not copy it."


def test_paths_of_the_repository_are_found() -> None:
    program = "GUIDE = ROOT / 'docs/guide/x.md'\nEXAMPLE = Path(__file__).parents[2] / 'examples' / 'y.py'"
    assert sorted(paths_in_the_repository(ast.parse(program))) == ["docs", "examples"]


@pytest.mark.parametrize("name", WHEELS["test-sources"])
def test_what_is_copied_for_the_tests_of_a_wheel_exists(name: str) -> None:
    assert (ROOT / name).exists()


@pytest.mark.parametrize(
    "command", [WHEELS["test-command"], *(each["test-command"] for each in WHEELS["overrides"])]
)
def test_the_commands_for_the_tests_of_a_wheel_name_tests_that_exist(command: str) -> None:
    named = [word.removeprefix("--ignore=") for word in command.split() if "tests" in word]
    assert named
    assert all((ROOT / name).exists() for name in named)


def test_every_family_of_tests_has_a_folder_where_the_wheel_finds_it() -> None:
    assert "tests" in WHEELS["test-sources"]
    assert {"committee", "contract", "boosting", "forests"} <= {path.parts[1] for path in TESTS_OF_THE_WHEEL}


def test_the_page_of_notices_is_as_it_would_be_written() -> None:
    done = subprocess.run(
        [sys.executable, "tools/third_party.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_notice_is_among_the_licence_files_of_the_wheel() -> None:
    patterns = SETTINGS["project"]["license-files"]
    listed = {path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)}
    folders = (Path("src/coterie/report/vendor"), Path("packaging/licenses"))
    notices = {
        file.as_posix() for file in files() if file.parent in folders and file.name.endswith("LICENSE.txt")
    }
    assert listed == {"LICENSE", "THIRD_PARTY_NOTICES.md", *notices}


def test_every_script_of_others_has_its_notices() -> None:
    folder = ROOT / "src/coterie/report/vendor"
    known = json.loads((folder / "vendored.json").read_text(encoding="utf-8"))
    assert {each["file"] for each in known} == {file.name for file in folder.glob("*.js")}


def test_nanobind_is_named_in_the_version_that_is_built_in() -> None:
    (wanted,) = (each for each in SETTINGS["build-system"]["requires"] if each.startswith("nanobind"))
    compiled = json.loads((ROOT / "packaging/licenses/compiled.json").read_text(encoding="utf-8"))
    versions = {each["package"]: each["version"] for each in compiled}
    assert wanted.startswith(f"nanobind>={versions['nanobind']},")


def test_one_version_stands_everywhere() -> None:
    version = SETTINGS["project"]["version"]
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n  version: {version}\n" in recipe
    assert re.findall(r"^## \[(\d[^\]]*)\]", changelog, re.MULTILINE)[0] == version


def test_the_recipe_names_what_the_project_needs_and_can_use() -> None:
    """`make lint-release` compares all of the recipe, and is seldom run."""
    extras = SETTINGS["project"]["optional-dependencies"]
    of_users = [each for extra in set(extras) - OF_CONTRIBUTORS for each in extras[extra]]
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    for each in map(Requirement, [*SETTINGS["project"]["dependencies"], *of_users]):
        name = "matplotlib-base" if each.name == "matplotlib" else each.name
        assert f"    - {name} {each.specifier}\n" in recipe


def test_classifiers_and_workflow_name_the_same_versions_of_python() -> None:
    classified = re.findall(r":: (3\.\d+)'", str(SETTINGS["project"]["classifiers"]))
    workflow = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    tested = re.findall(r'"(3\.\d+)"', re.findall(r"^ +python: \[(.*)\]$", workflow, re.MULTILINE)[0])
    assert classified == tested


@pytest.mark.parametrize("name", ["audit", "matrix"])
def test_the_examples_of_the_tools_are_true(name: str) -> None:
    """Those that need no package of the extra `release`."""
    done = subprocess.run(
        [sys.executable, "-m", "doctest", "-v", f"tools/{name}.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "0 passed" not in done.stdout.splitlines()[-2]
