"""Settings of the documentation: Markdown pages, pictures that they draw, and a reference made from the docstrings."""

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "coterie"
author = "the coterie developers"
release = version_of("coterie")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "pictures",
    "reference",
]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# The empty line that ends an example for the tests is none for readers.
_LAST_LINE = re.compile(r"\n\n(?=```$)", re.MULTILINE)

html_theme = "furo"
html_title = f"coterie {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "extensions" / "search-order.js")
html_math_renderer = "mathml"

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_numpy_docstring = True

# Docstrings of scikit-learn refer to its own pages, and use words twice.
suppress_warnings = ["ref.python", "ref.ref", "ref.term"]


def without_last_lines(*event: Any) -> None:
    """The text of a page, which is the only item of the last argument."""
    source = event[-1]
    source[0] = _LAST_LINE.sub("\n", source[0])


def setup(app: Sphinx) -> None:
    app.connect("source-read", without_last_lines)
