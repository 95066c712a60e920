"""`import coterie` is quick: names are imported when they are first used."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import coterie


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_coterie_imports_no_family() -> None:
    loaded = run("import sys, coterie; print([m for m in sys.modules if m.startswith('coterie.')])")
    assert loaded == "[]"


@pytest.mark.parametrize("name", coterie.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(coterie, name).__name__ == name
    assert name in dir(coterie)


def test_packages_are_reachable_without_an_import_of_their_own() -> None:
    assert run("import coterie; print(coterie.diagnostics.margins.__name__, coterie.plots.__name__)") == (
        "margins coterie.plots"
    )


def test_packages_that_are_reachable_cost_nothing_before_they_are_used() -> None:
    program = (
        "import sys, coterie; assert {'plots', 'diagnostics'} <= set(dir(coterie));"
        "print(*[name in sys.modules for name in ('coterie.plots', 'coterie.diagnostics', 'numpy', 'sklearn')])"
    )
    assert run(program) == "False False False False"


def test_the_version_is_that_of_the_package_that_is_installed() -> None:
    assert coterie.__version__ == version("coterie")
    assert "__version__" in dir(coterie)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'GradientBoosting'"):
        _ = coterie.GradientBoosting


def test_a_checkpoint_is_written_by_a_family_that_was_imported_alone(tmp_path: object) -> None:
    program = (
        "from coterie.forests import RandomForestRegressor as F; import numpy as np; X = np.arange(20.).reshape(-1, 1);"
        f"F(4, checkpoint={str(tmp_path)!r}).fit(X, X[:, 0]); print('written')"
    )
    assert run(program) == "written"
