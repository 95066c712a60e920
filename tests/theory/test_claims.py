"""The table of claims names tests, pictures and chapters that exist; the chapters have what each should have."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from coterie import plots
from tests.helpers.repository import ROOT

PAGES = ROOT / "docs" / "theory"
CHAPTERS = sorted(page.stem for page in PAGES.glob("*.md") if page.stem not in ("index", "claims"))
TABLES = PAGES / "claims.md"
CLAIMS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (TABLES.read_text(encoding="utf-8").splitlines() if TABLES.exists() else [])
    if line.startswith("| ") and not line.startswith("| claim ")
]

pytestmark = pytest.mark.skipif(not TABLES.exists(), reason="wheels are tested without the documentation")


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """Headings as links name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    slugs = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)
    return frozenset(slugs)


def test_every_claim_has_four_cells_and_something_that_shows_it() -> None:
    assert len(CLAIMS) > 130
    wrong = [row[0] for row in CLAIMS if len(row) != 4 or not re.search(r"`[\w/]+\.py", row[2])]
    assert not wrong


def test_every_test_and_every_picture_that_is_named_exists() -> None:
    missing = []
    for _, _, shown_by, _ in CLAIMS:
        for name in re.findall(r"`([^`]+)`", shown_by):
            if name.endswith("Display"):
                if not hasattr(plots, name):
                    missing.append(name)
                continue
            file, _, test = name.partition("::")
            if not (ROOT / "tests" / file).exists() or (test and test not in names_in(file)):
                missing.append(name)
    assert not missing


@pytest.mark.parametrize("page", [*CHAPTERS, "index", "claims"])
def test_links_between_pages_lead_somewhere(page: str) -> None:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    broken = []
    for target in re.findall(r"\]\(([^)\s:]+\.md(?:#[^)\s]+)?)\)", text):
        name, _, anchor = target.partition("#")
        other = (PAGES / name).resolve()
        if not other.exists() or (anchor and anchor not in anchors_of(other)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_code_exercises_with_answers_and_its_place_in_the_code(chapter: str) -> None:
    text = (PAGES / f"{chapter}.md").read_text(encoding="utf-8")

    parts = (
        "## The algorithm in ten lines",
        "## Exercises",
        "<details><summary>Answers</summary>",
        "## In the code",
    )
    for part in parts:
        assert part in text, part
    assert ">>> " in text
    exercises = text[text.index("## Exercises") :]
    questions, answers = exercises.split("<details>")
    assert len(re.findall(r"^\d\. ", questions, re.MULTILINE)) == len(
        re.findall(r"^\d\. ", answers, re.MULTILINE)
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_files_and_tests_that_a_chapter_names_exist(chapter: str) -> None:
    text = (PAGES / f"{chapter}.md").read_text(encoding="utf-8")
    ours = (file.name for file in (ROOT / "tests" / "theory").glob("test_*.py"))
    every_test = frozenset().union(*(names_in(f"theory/{file}") for file in ours))

    files = re.findall(r"`((?:tests|src|engine)/[\w/.]+)`", text)
    assert files or chapter == "choosing-an-ensemble"
    here = [
        file for file in files if (ROOT / Path(file).parts[0]).exists()
    ]  # wheels are tested without sources
    assert [file for file in here if not (ROOT / file).exists()] == []
    assert [name for name in re.findall(r"`(test_\w+)`", text) if name not in every_test] == []
