"""Every picture of every page is drawn, says what is seen, and is the same when it is drawn again.

A page whose pictures take longer marks one of them with the option `:slow:`.
"""

import doctest
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from docs.extensions import picture_code
from docs.extensions.picture_code import blocks_of, svg_from, svg_of

from tests.helpers.repository import ROOT

PAGES = {
    page.relative_to(ROOT).as_posix(): blocks
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if (blocks := blocks_of(page.read_text(encoding="utf-8")))
}
CASES = [
    pytest.param(name, marks=pytest.mark.slow if any("slow" in block.options for block in blocks) else ())
    for name, blocks in PAGES.items()
]


@pytest.mark.parametrize("name", CASES)
def test_the_pictures_of_a_page_are_drawn(name: str) -> None:
    names: dict[str, Any] = {}
    for block in PAGES[name]:
        svg = svg_from(block.program, names, f"{name}, line {block.line}")
        assert ET.fromstring(svg).tag.endswith("svg")


@pytest.mark.parametrize("name", PAGES)
def test_pictures_have_a_caption_and_a_text_for_those_who_do_not_see_them(name: str) -> None:
    for block in PAGES[name]:
        assert block.caption, f"{name}, line {block.line}: no caption"
        assert block.options.get("alt"), f"{name}, line {block.line}: ':alt:' is missing"
        assert block.options.get("code", "show") in ("show", "hide")


def test_the_examples_of_the_module_are_true() -> None:
    assert doctest.testmod(picture_code) == doctest.TestResults(failed=0, attempted=5)


def test_a_warning_in_the_code_of_a_picture_is_an_error() -> None:
    with pytest.raises(UserWarning, match="doubtful"):
        svg_from("import warnings\nwarnings.warn('doubtful')\n'<svg/>'", {})


def test_what_a_picture_defines_is_there_for_the_next() -> None:
    names: dict[str, Any] = {}
    svg_from("text = 'a'\n'<svg/>'", names)
    assert svg_from("f'<svg>{text}</svg>'", names) == "<svg>a</svg>\n"


@pytest.mark.parametrize("code", ["", "x = 1", "1 + 1"])
def test_code_that_draws_nothing_is_refused(code: str) -> None:
    with pytest.raises((TypeError, ValueError), match="picture"):
        svg_from(code, {})


def test_what_notebooks_show_is_a_picture_too() -> None:
    class Shown:
        def _repr_html_(self) -> str:
            return "<svg></svg>"

    assert svg_of(Shown()) == "<svg></svg>\n"


def test_blocks_are_found_within_lists_and_between_colons() -> None:
    page = "- item\n\n  :::{picture} A\n  :alt: b\n  :slow:\n\n  for i in range(2):\n      i\n  :::\n"
    [block] = blocks_of(page)
    assert (block.caption, block.options, block.line) == ("A", {"alt": "b", "slow": ""}, 3)
    assert block.code == "for i in range(2):\n    i\n"


def test_examples_run_before_a_picture_that_asks_for_them() -> None:
    examples = "```python\n>>> side = 2\n>>> int('x')\nTraceback (most recent call last):\n    ...\nValueError\n\n```\n"
    picture = "```{picture} A\n:alt: b\n:after-examples:\n\nf'<svg>{side}</svg>'\n```\n"
    later = "```python\n>>> side = 3\n\n```\n"
    first, second, third = blocks_of(examples + picture + later + picture + picture)

    assert (first.examples, second.examples, third.examples) == ("side = 2\n", "side = 3\n", "")
    names: dict[str, Any] = {}
    assert [svg_from(block.program, names) for block in (first, second)] == [
        "<svg>2</svg>\n",
        "<svg>3</svg>\n",
    ]
