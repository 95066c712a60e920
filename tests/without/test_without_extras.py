"""Without any one optional package, `import coterie` works, and what needs the package says the pip line.

The packages are those of the extras in the metadata of coterie; a new one needs an entry in USES.
"""

import pytest

from tests.helpers.extras import EXTRAS_OF_USERS, packages_of
from tests.helpers.hidden_packages import run_without

OPTIONAL = sorted({(name, extra) for extra in EXTRAS_OF_USERS for name in packages_of(extra)})

TREE = "tree = coterie.DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0])\n"
COMMAND = "from coterie.cli.main import run\nsys.argv, sys.stderr = ['coterie', 'doctor'], sys.stdout\nrun()"
COLLECTION = (
    "class Frame:\n    __module__ = 'dask.dataframe'\n"
    "coterie.GradientBoostingRegressor().fit(Frame(), Frame())"
)
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
    "shap": TREE + "tree.explain([[1.0]]).to_shap()",
    "onnx": TREE + "coterie.export.to_onnx(tree)",
    "treelite": TREE + "coterie.export.to_treelite(tree)",
}


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
