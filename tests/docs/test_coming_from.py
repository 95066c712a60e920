"""Pages for users of other libraries name parameters, methods and attributes that exist."""

import inspect
import re
from pathlib import Path

import pytest

import coterie
from coterie.losses import loss_names
from tests.helpers.repository import ROOT

PAGES = [page for page in sorted((ROOT / "docs/coming-from").glob("*.md")) if page.stem != "scikit-learn"]
CLASSES = [getattr(coterie, name) for name in coterie.__all__ if isinstance(getattr(coterie, name), type)]
CALLS = [
    *CLASSES,
    coterie.load,
    coterie.GradientBoostingRegressor.fit,
    coterie.GradientBoostingRegressor.predict,
    coterie.GradientBoostingRegressor.explain,
]
# Words of the table that belong to losses, to scikit-learn, or to the text.
OTHERS = {
    "alpha",
    "cross_validate",
    "device",
    "set_callbacks",
    "verbose",
}  # set_callbacks: of scikit-learn 1.9
NAME = re.compile(r"`([a-z]\w*)(?:=[^`]*|\([^`]*)?`")


def known_names() -> set[str]:
    """Parameters, methods and fitted attributes of what `coterie` offers."""
    names = {parameter for call in CALLS for parameter in inspect.signature(call).parameters}
    names |= {name for kind in CLASSES for name in dir(kind)}
    names |= {name for kind in CLASSES for name in getattr(kind, "FITTED", {})}
    return names | set(coterie.__all__) | OTHERS


def second_cells(page: Path) -> list[str]:
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [re.split(r"(?<!\\)\|", row)[2] for row in rows]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_names_exists(page: Path) -> None:
    named = {name for cell in second_cells(page) for name in NAME.findall(cell)}
    assert len(named) > 15
    assert named - known_names() == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_losses_of_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8").split("loss of coterie")[-1].split("\n\n")[0]
    named = {
        name
        for row in text.splitlines()
        if row.startswith("| ")
        for name in re.findall(r'`"(\w+)"`', row.split("|")[2])
    }
    assert named <= {*loss_names("regression"), *loss_names("binary"), *loss_names("multiclass")}


def test_a_name_that_does_not_exist_is_noticed() -> None:
    assert NAME.findall("`learning_rate`, `max_depht=None`, `fit(X)`, `coterie.scan`") == [
        "learning_rate",
        "max_depht",
        "fit",
    ]
    assert "max_depht" not in known_names()
