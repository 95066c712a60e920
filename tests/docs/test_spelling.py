"""One English: pages and docstrings are spelled as in Britain, except in code, in names and in titles of papers."""

import inspect
import re
from pathlib import Path

import pytest
from docs.extensions.reference_topics import every_public_name, found_at

from tests.helpers.repository import ROOT

PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if "generated" not in page.parts and page.name != "notices.md"
]
NAMES = [name for name in every_public_name() if not name.startswith("coterie.ensemble.")]

# Stems of American spellings. Words with an s or a z in their stem anyway, such as size or horizon, are not among them.
_IZE = (
    "categor|character|discret|emphas|favor|final|formal|general|harmon|initial|linear|maxim|memor|minim|modern|neutral|"
    "normal|optim|organ|parallel|penal|prior|quant|random|real|recogn|regular|serial|special|standard|summar|symbol|"
    "tabular|util|vector|visual"
)
AMERICAN = re.compile(
    rf"\b(\w*(?:{_IZE})iz(?:e[ds]?|ers?|ing|ations?)|analyz\w+|behaviors?|cancel(?:ed|ing)|catalogs?|centers?|centered|"
    r"colors?|colored|defense|favor\w*|fulfill|gr[ae]y-?scale|gray\w*|honor\w*|judgment|label(?:ed|ing)|licenses?|"
    r"model(?:ed|ing)|neighbors?|skeptic\w*|travel(?:ed|ing))\b",
    re.IGNORECASE,
)
# Blocks and spans of code, targets of links, titles in italics (also over a line end) or in quotes.
_NOT_PROSE = re.compile(
    r"^(`{3,}|:{3,}).*?^\1|`[^`]*`|\]\([^)]*\)|(?<!\*)\*[^*\n]+(?:\n[^*\n]+)?\*(?!\*)|\"[^\"]*\"|<[^>]*>",
    re.MULTILINE | re.DOTALL,
)


def american_words(text: str) -> list[str]:
    found = [match[0] for match in AMERICAN.finditer(_NOT_PROSE.sub(" ", text))]
    return [
        word for word in found if "_" not in word and not word.isupper()
    ]  # names of parameters and of files


def prose_of(docstring: str) -> str:
    """A docstring without its examples and without its references, which are titles."""
    text = re.sub(r"^\w+( : .*)$", r"\1", docstring.split("References\n------")[0], flags=re.MULTILINE)
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith((">>>", "...")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_is_spelled_as_the_others(page: Path) -> None:
    assert american_words(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_is_spelled_as_the_pages(name: str) -> None:
    assert american_words(prose_of(inspect.getdoc(found_at(name)) or "")) == []


def test_american_words_are_found_in_prose_alone() -> None:
    page = "A normalized color of `center`.\n\n```python\ncolor = 1\n```\n\n*Stacked generalization* and size, prize.\n"
    assert american_words(page) == ["normalized", "color"]
