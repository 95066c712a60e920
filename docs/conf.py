"""Settings of the documentation: Markdown pages, and a reference drawn from the docstrings."""

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "coterie"
author = "the coterie developers"
release = version_of("coterie")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "pictures"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"coterie {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_numpy_docstring = True

# Docstrings of scikit-learn refer to its own pages; ours link to files outside of docs, and use words twice.
suppress_warnings = ["myst.xref_missing", "ref.python", "ref.ref", "ref.term"]


# A word that ends with an underscore, not quoted: to reStructuredText a link, to us an attribute that `fit` sets.
LEARNED = re.compile(r"(?<![`\w])([A-Za-z]\w*)_(?![\w`])")
AS_WRITTEN = (">>>", "...", "..")  # code, and directives


def told_in_docstring(*event):
    """Attributes that a docstring lists are told there; those that are properties have an entry of their own."""
    lines = event[-1]
    for number, line in reversed(list(enumerate(lines))):
        text = line.lstrip()
        if text.startswith(".. attribute::"):
            lines.insert(number + 1, " " * (len(line) - len(text) + 3) + ":no-index:")
        if not text.startswith(AS_WRITTEN):
            lines[number] = LEARNED.sub(r"\1\\_", line)


def setup(app):
    app.connect("autodoc-process-docstring", told_in_docstring, priority=900)  # after napoleon
