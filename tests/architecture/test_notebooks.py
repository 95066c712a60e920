"""Notebooks of the tutorials: what becomes a cell, and that every cell of every notebook runs."""

import ast
import doctest
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from tools import make_notebooks
from tools.make_notebooks import Cell, cells_of, main, notebook_of, tutorials

NOTEBOOKS = tutorials()


def run(cells: list[Cell]) -> list[Any]:
    """Run the cells of code in order; the last value of each."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for number, cell in enumerate(cells):
        if cell.kind == "code":
            tree = ast.parse(cell.text)
            last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, f"<cell {number}>", "exec"), names)
            shown.append(None if last is None else eval(compile(last, f"<cell {number}>", "eval"), names))
    return shown


def test_the_example_of_the_module_is_true() -> None:
    assert doctest.testmod(make_notebooks) == doctest.TestResults(failed=0, attempted=1)


def test_text_pictures_and_examples_become_cells_in_their_order() -> None:
    page = (
        "# Title\n\nSee [there](there.md) and [the web](https://example.org).\n\n"
        "```{picture} A square\n:alt: it grows\n:code: show\nx = 3\n\nx**2\n```\n\n"
        "```console\nls\n```\n\n"
        "```python\n>>> for n in (1, 2):\n...     print(n)\n1\n2\n>>> x + 1\n4\n\n```\n\n"
        "```{toctree}\nother\n```\n"
    )
    assert cells_of(page) == [
        Cell("markdown", "# Title\n\nSee there and [the web](https://example.org)."),
        Cell("code", "x = 3\n\nx**2"),
        Cell("markdown", "*A square*\n\n```console\nls\n```"),
        Cell("code", "for n in (1, 2):\n    print(n)\nx + 1"),
    ]


def test_a_file_that_a_page_includes_is_text(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import a\nfrom b import c\n\nc(a)\n", encoding="utf-8")
    page = "```{literalinclude} program.py\n:language: python\n:start-after: from b\n```\n"

    assert cells_of(page, tmp_path) == [Cell("markdown", "```python\nc(a)\n```")]


def test_every_tutorial_is_written_as_a_notebook(tmp_path: Path) -> None:
    main(tmp_path)
    main(tmp_path)  # the same files again

    assert len(NOTEBOOKS) >= 7
    for name, cells in NOTEBOOKS.items():
        notebook = json.loads((tmp_path / f"{name}.ipynb").read_text(encoding="utf-8"))
        assert notebook == notebook_of(cells)
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        assert len({cell["id"] for cell in notebook["cells"]}) == len(cells)
        assert notebook["cells"][0]["source"][0].startswith("# ")
        for cell in cells:
            assert ">>>" not in cell.text
            if cell.kind == "code":
                ast.parse(cell.text)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_cell_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = run(NOTEBOOKS[name])

    assert any(value is not None for value in shown)
    assert list(tmp_path.iterdir()) == []  # what a tutorial writes goes to a folder of its own
