"""Two small models and a table, made once by `coterie fit` itself."""

from pathlib import Path

import pytest

from tests.helpers.command import QUICK, done, flats, write_csv


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("data") / "flats.csv", flats())


@pytest.fixture(scope="session")
def classifier(data: Path) -> Path:
    """A model of `dear`."""
    path = data.parent / "dear.coterie"
    done("fit", data, "--target", "dear", "--drop", "flat", "--drop", "rent", "-o", path, *QUICK)
    return path


@pytest.fixture(scope="session")
def regressor(data: Path) -> Path:
    """A model of `rent`."""
    path = data.parent / "rent.coterie"
    done("fit", data, "--target", "rent", "--drop", "flat", "--drop", "dear", "-o", path, *QUICK)
    return path
