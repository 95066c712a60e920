"""Links between pages lead to pages and headings that exist, without building the documentation."""

import re
from pathlib import Path

import pytest

from tests.helpers.repository import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "generated" not in page.parts)
LINK = re.compile(r"\]\((?!\w+:)([^()#\s]*)(?:#([^()\s]+))?\)")
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1", re.MULTILINE | re.DOTALL)


def anchor_of(heading: str) -> str:
    """What GitHub and the documentation make of a heading."""
    text = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors_of(page: Path) -> set[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {anchor_of(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def broken_links(page: Path) -> list[str]:
    broken = []
    for path, anchor in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        base = DOCS if path.startswith("/") else page.parent
        target = (base / path.lstrip("/")).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors_of(target)):
            broken.append(f"{path}#{anchor}")
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `name`\n[a](page.md#one-name) [b](page.md#two) [c](gone.md) [d](https://x.org/y)\n",
        encoding="utf-8",
    )
    assert broken_links(page) == ["page.md#two", "gone.md#"]
