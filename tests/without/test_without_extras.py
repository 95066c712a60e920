"""Without any one optional package, `import coterie` works, and what needs the package says the pip line.

The packages are those of the extras in the metadata of coterie, which are those of pyproject.toml. A new one needs an
entry in USES, and a new extra a row in the guide.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.helpers.extras import EXTRAS_OF_USERS, OF_CONTRIBUTORS, packages_of
from tests.helpers.hidden_packages import run_without

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "pyproject.toml"
GUIDE = ROOT / "docs" / "guide" / "installing.md"
OPTIONAL = sorted({(name, extra) for extra in EXTRAS_OF_USERS for name in packages_of(extra)})

TREE = "tree = coterie.DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0])\n"
COMMAND = "from coterie.cli.main import run\nsys.argv, sys.stderr = ['coterie', 'doctor'], sys.stdout\nrun()"
COLLECTION = (
    "class Frame:\n    __module__ = 'dask.dataframe'\n"
    "coterie.GradientBoostingRegressor().fit(Frame(), Frame())"
)
SERVICE = f"import runpy\nrunpy.run_path({str(ROOT / 'examples' / 'serving' / 'service.py')!r})"
# A use of each package, in the words of a user.
USES = {
    "dask": COLLECTION,
    "distributed": COLLECTION,
    "duckdb": COMMAND,
    "rich": COMMAND,
    "typer": COMMAND,
    "skops": (
        "import io\nfrom sklearn.linear_model import LinearRegression\n"
        "model = coterie.VotingRegressor([('line', LinearRegression())]).fit([[0.0], [1.0]], [0.0, 1.0])\n"
        "coterie.save(model, io.BytesIO())"
    ),
    "matplotlib": "coterie.plots.RoundsDisplay([0.2, 0.1], [0.3, 0.2]).plot()",
    "pyarrow": (
        "import tempfile\nwith tempfile.NamedTemporaryFile(suffix='.parquet') as file:\n"
        "    coterie.scan(file.name, target='y')"
    ),
    "openpyxl": (
        "import tempfile\nwith tempfile.NamedTemporaryFile(suffix='.xlsx') as file:\n"
        "    file.write(b'PK')\n    file.flush()\n    coterie.read_table(file.name)"
    ),
    "shap": TREE + "tree.explain([[1.0]]).to_shap()",
    "fastapi": SERVICE,
    "mlflow": TREE + "import coterie.mlflow\ncoterie.mlflow.save_model(tree, 'a folder')",
    "uvicorn": SERVICE,
    "onnx": TREE + "coterie.export.to_onnx(tree)",
    "treelite": TREE + "coterie.export.to_treelite(tree)",
}


@cache
def outcome(hidden: str, use: str) -> str:
    """What a user is told, whether by an error or by the command line."""
    program = f"""
import coterie
try:
    exec({use!r})
except coterie.errors.MissingPackage as error:
    print(error)
except SystemExit as end:
    print("ended with", end.code)
"""
    return run_without([hidden], program)


def test_every_optional_package_has_a_use_here() -> None:
    assert {name for name, _ in OPTIONAL} == set(USES)


def test_the_extras_are_those_of_the_project() -> None:
    """An installation from before a change of pyproject.toml would not know of a new extra."""
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRAS_OF_USERS) == set(extras) - OF_CONTRIBUTORS
    for extra in EXTRAS_OF_USERS:
        assert sorted(packages_of(extra)) == sorted(Requirement(each).name for each in extras[extra])


def test_the_guide_has_a_row_for_every_extra() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {extra: sorted(packages.split(", ")) for extra, packages in rows} == {
        extra: sorted(packages_of(extra)) for extra in EXTRAS_OF_USERS
    }


@pytest.mark.parametrize("extra", EXTRAS_OF_USERS)
def test_some_message_names_every_extra(extra: str) -> None:
    said = [outcome(name, USES[name]) for name in packages_of(extra)]
    assert any(f"pip install 'coterie[{extra}]'" in each for each in said), said


@pytest.mark.parametrize("name", sorted(USES))
def test_everything_can_be_imported_without_it(name: str) -> None:
    program = """
        import coterie

        for name in dir(coterie):
            getattr(coterie, name)
        print(coterie.DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).predict([[2.0]]))
    """
    assert run_without([name], program) == "[2.]"


@pytest.mark.parametrize("name", sorted(USES))
def test_what_needs_it_says_the_pip_line(name: str) -> None:
    said = outcome(name, USES[name])
    extras = [extra for package, extra in OPTIONAL if package == name]
    assert f"'{name}" in said
    assert "which is not installed" in said
    assert any(f"pip install 'coterie[{extra}]'" in said for extra in extras), said
