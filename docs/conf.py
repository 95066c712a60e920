"""Settings of the documentation: Markdown pages, and a reference drawn from the docstrings."""

from importlib.metadata import version as version_of

project = "coterie"
author = "the coterie developers"
release = version_of("coterie")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}

html_theme = "furo"
html_title = f"coterie {release}"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_numpy_docstring = True

# Docstrings of scikit-learn refer to its own pages; ours link to files outside of docs, and use words twice.
suppress_warnings = ["myst.xref_missing", "ref.python", "ref.ref", "ref.term"]


def leave_unindexed(*event):
    """Attributes that a docstring lists are told there; those that are properties have an entry of their own."""
    lines = event[-1]
    told = ".. attribute::"
    for number, line in reversed(list(enumerate(lines))):
        if line.lstrip().startswith(told):
            lines.insert(number + 1, " " * (len(line) - len(line.lstrip()) + 3) + ":no-index:")


def setup(app):
    app.connect("autodoc-process-docstring", leave_unindexed, priority=900)  # after napoleon
