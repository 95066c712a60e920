"""The gallery: every page is listed once, has one picture, is short, and stands under a topic."""

import re

import pytest
from docs.extensions.picture_code import blocks_of

from tests.helpers.repository import ROOT

GALLERY = ROOT / "docs" / "gallery"
PAGES = {
    page.stem: page.read_text(encoding="utf-8")
    for page in sorted(GALLERY.glob("*.md"))
    if page.stem != "index"
}
INDEX = (GALLERY / "index.md").read_text(encoding="utf-8")
GRIDS = re.findall(r"^```\{thumbnails\}\n(.*?)^```$", INDEX, re.MULTILINE | re.DOTALL)
LISTED = [name for grid in GRIDS for name in grid.split()]


def test_every_page_is_listed_once() -> None:
    assert sorted(LISTED) == sorted(PAGES)
    assert len(PAGES) >= 30


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_one_short_program_with_a_picture_and_a_way_on(name: str) -> None:
    page = PAGES[name]
    [picture] = blocks_of(page)
    text = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)

    assert page.startswith("# ")
    assert len(picture.code.splitlines()) <= 45
    assert re.search(r"\]\(\.\./(guide|tutorials)/|`examples/", text), (
        "a link to the guide, a tutorial or an example"
    )
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert (GALLERY / link).exists(), link
    for program in re.findall(r"`(examples/[^`]+)`", text):
        assert (ROOT / program).is_file(), program
