"""Write the tutorials as notebooks: every page of docs/tutorials that has examples, to build/notebooks.

    python tools/make_notebooks.py [folder]

The pages are the source, and what is written is not kept in the repository. Text becomes cells of text; examples
(`>>>`) and the code of pictures become cells of code without their output. An example with output ends its cell,
because a notebook shows the last value of a cell alone. Links to other pages are text, as the pages are not there.
"""

import doctest
import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "tutorials"
_FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook: its kind, "markdown" or "code", and its text."""

    kind: str
    text: str


def cells_of(page: str, folder: Path = PAGES) -> list[Cell]:
    """The cells of a page in Markdown; `folder` is where the page is, for the files that it includes.

    Examples
    --------
    >>> for cell in cells_of("# Sum\\n\\n```python\\n>>> a = 1\\n>>> a + 1\\n2\\n>>> a + 2\\n3\\n\\n```\\n"):
    ...     print(cell)
    Cell(kind='markdown', text='# Sum')
    Cell(kind='code', text='a = 1\\na + 1')
    Cell(kind='code', text='a + 2')
    """
    cells, place = [], 0
    for fence in _FENCE.finditer(page):
        cells += _text_cells(page[place : fence.start()])
        cells += _cells_of_fence(fence["kind"].strip(), fence["body"], folder)
        place = fence.end()
    return _joined([*cells, *_text_cells(page[place:])])


def _text_cells(text: str) -> list[Cell]:
    text = _LINK.sub(r"\1", text).strip()
    return [Cell("markdown", text)] if text else []


def _cells_of_fence(kind: str, body: str, folder: Path) -> list[Cell]:
    if kind.startswith("{toctree}"):
        return []
    if kind.startswith("{picture}"):
        caption, code = kind.removeprefix("{picture}").strip(), _without_options(body)[1]
        return [Cell("code", code.strip()), *_text_cells(f"*{caption}*")]
    if kind.startswith("{literalinclude}"):
        options = _without_options(body)[0]
        code = (folder / kind.removeprefix("{literalinclude}").strip()).read_text(encoding="utf-8")
        if "start-after" in options:
            code = code.partition(options["start-after"])[2].partition("\n")[2]
        return [Cell("markdown", f"```{options.get('language', '')}\n{code.strip()}\n```")]
    if kind == "python" and ">>>" in body:
        return _cells_of_examples(body)
    return [Cell("markdown", f"```{kind}\n{body}```")]


def _cells_of_examples(body: str) -> list[Cell]:
    cells: list[Cell] = []
    lines: list[str] = []
    for example in doctest.DocTestParser().get_examples(body):
        lines.append(example.source.rstrip("\n"))
        if example.want and not example.source.startswith(("print(", "for ", "try:")):
            cells.append(Cell("code", "\n".join(lines)))
            lines = []
    return [*cells, Cell("code", "\n".join(lines))] if lines else cells


def _without_options(body: str) -> tuple[dict[str, str], str]:
    """The options at the head of a directive, and what comes after them."""
    lines, options = body.splitlines(), {}
    while lines and (option := _OPTION.match(lines[0])):
        options[option[1]] = option[2]
        del lines[0]
    return options, "\n".join(lines)


def _joined(cells: list[Cell]) -> list[Cell]:
    """Neighbouring cells of text as one."""
    joined: list[Cell] = []
    for cell in cells:
        if joined and cell.kind == joined[-1].kind == "markdown":
            joined[-1] = Cell("markdown", f"{joined[-1].text}\n\n{cell.text}")
        else:
            joined.append(cell)
    return joined


def notebook_of(cells: list[Cell]) -> dict[str, Any]:
    """Cells as a notebook of format 4.5."""
    written = []
    for number, cell in enumerate(cells):
        name = hashlib.sha256(f"{number} {cell.text}".encode()).hexdigest()[:8]
        entry: dict[str, Any] = {"cell_type": cell.kind, "id": name, "metadata": {}}
        entry["source"] = cell.text.splitlines(keepends=True)
        if cell.kind == "code":
            entry |= {"execution_count": None, "outputs": []}
        written.append(entry)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": written, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def tutorials() -> dict[str, list[Cell]]:
    """The cells of every tutorial by the name of its page; the page that lists them has no code."""
    pages = {
        page.stem: cells_of(page.read_text(encoding="utf-8"), page.parent)
        for page in sorted(PAGES.glob("*.md"))
    }
    return {name: cells for name, cells in pages.items() if any(cell.kind == "code" for cell in cells)}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, cells in tutorials().items():
        content = json.dumps(notebook_of(cells), ensure_ascii=False, indent=1)
        (folder / f"{name}.ipynb").write_text(content + "\n", encoding="utf-8")
        print(folder / f"{name}.ipynb")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "notebooks")
