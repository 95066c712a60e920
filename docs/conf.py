"""Settings of the documentation: Markdown pages, pictures that they draw, and a reference made from the docstrings."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

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
