"""The reference: a page for every public class and function, by topic, made from the docstrings when Sphinx begins.

Nothing of it is committed: the pages are written to `docs/reference/generated` and again only where they change.
"""

import inspect
import re
from pathlib import Path
from typing import Any

from docstrings import (
    attribute_table,
    entries_of,
    first_section,
    parameter_entries,
    parameter_table,
    section_of,
)
from reference_examples import EXAMPLES, INTERFACES, example_of_mirror
from reference_mirror import entries_of_mirror, is_mirror
from reference_topics import Topic, found_at, has_example, makers_of, topics
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

FOLDER = "reference/generated"
_NOT_OURS = ", ".join(
    [
        "BaseEstimator",
        "ClassifierMixin",
        "RegressorMixin",
        "OutlierMixin",
        "TransformerMixin",
        "Exception",
        "tuple",
    ]
)
_ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")
# A word that ends with an underscore, not quoted: to reStructuredText a link, to us an attribute that `fit` sets.
_LEARNED = re.compile(r"(?<![`\w])([A-Za-z]\w*)_(?![\w`])")
_AS_WRITTEN = (">>>", "...", "..")  # code, and directives


def page_of(path: str, topic: Topic) -> str:
    """The page of one name: what to import, and what autodoc makes of the docstring."""
    module, _, name = path.rpartition(".")
    thing = found_at(path)
    directive = "autoclass" if inspect.isclass(thing) else "autofunction"
    lines = [f"# {name}", "", "```python", f"from {module} import {name}", "```", ""]
    lines += ["```{eval-rst}", f".. {directive}:: {path}"]
    if inspect.isclass(thing):
        lines += ["   :members:", f"   :inherited-members: {_NOT_OURS}"]
    lines += [
        "```",
        "",
        *_example(path),
        f"Part of [{topic.title}](topic-{topic.key}.md). The guide: [](/{topic.guide}.md).",
        "",
    ]
    return "\n".join(lines)


def _example(path: str) -> list[str]:
    """An example, or where one is, for names whose docstring has none."""
    if has_example(path):
        return []
    lines = [INTERFACES[path], ""] if path in INTERFACES else []
    if is_mirror(path):
        theirs = f"https://scikit-learn.org/stable/modules/generated/sklearn.ensemble.{path.rpartition('.')[2]}.html"
        lines = [
            f"Parameters and defaults are those of [scikit-learn's class]({theirs}) of the same name.",
            "",
        ]
    example = example_of_mirror(path) if is_mirror(path) else EXAMPLES.get(path)
    if example is not None:
        return [*lines, "## Example", "", "```python", example.rstrip(), "```", ""]
    made = [f"[{other.rpartition('.')[2]}](/{FOLDER}/{other}.md)" for other in makers_of(path)]
    return [f"Returned by {', '.join(made)}, where an example is.", ""]


def topic_page(topic: Topic) -> str:
    """The names of a topic with the first line of their docstrings."""
    lines = [
        f"# {topic.title}",
        "",
        f"The guide: [](/{topic.guide}.md).",
        "",
        *_names(topic),
        "",
        "```{toctree}",
        ":hidden:",
        "",
    ]
    return "\n".join([*lines, *topic.names, "```", ""])


def _names(topic: Topic) -> list[str]:
    rows = [
        f"| [{path.rpartition('.')[2]}](/{FOLDER}/{path}.md) | {_first_line(path)} |" for path in topic.names
    ]
    return ["| name | what it is |", "|---|---|", *rows]


def _first_line(path: str) -> str:
    line = (inspect.getdoc(found_at(path)) or "").split("\n\n")[0].replace("\n", " ")
    return line.replace("|", "\\|")


def write_pages(app: Sphinx) -> None:
    """All pages; one that has not changed keeps its date, so that Sphinx leaves it alone."""
    folder = Path(app.srcdir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"_topics.inc": _overview()}
    for topic in topics():
        pages[f"topic-{topic.key}.md"] = topic_page(topic)
        pages.update({f"{path}.md": page_of(path, topic) for path in topic.names})
    for old in set(folder.iterdir()) - {folder / name for name in pages}:
        old.unlink()
    for name, text in pages.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def _overview() -> str:
    lines = []
    for topic in topics():
        lines += [f"## [{topic.title}](/{FOLDER}/topic-{topic.key}.md)", "", *_names(topic), ""]
    files = [f"generated/topic-{topic.key}" for topic in topics()]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *files, "```", ""])


def as_tables(*event: Any) -> None:
    """Parameters and attributes become tables, before napoleon reads the other sections."""
    _, what, name, thing, _, lines = event
    if what not in ("class", "function", "exception"):
        return
    begin, end = section_of(lines, "Attributes")
    if end:
        table = attribute_table(list(entries_of(lines[begin + 2 : end])))
        lines[begin:end] = [".. rubric:: Attributes", "", *table]
    begin, end = section_of(lines, "Parameters")
    entries = entries_of_mirror(thing) if is_mirror(name) else parameter_entries(thing)
    if entries:
        begin, end = (begin, end) if end else (first_section(lines),) * 2
        lines[begin:end] = [".. rubric:: Parameters", "", *parameter_table(thing, entries)]


def escaped(*event: Any) -> None:
    """Names of fitted attributes are no links; attributes that the table has are not described twice."""
    lines = event[-1]
    for number, line in reversed(list(enumerate(lines))):
        text = line.lstrip()
        if text.startswith(".. attribute::"):
            lines.insert(number + 1, " " * (len(line) - len(text) + 3) + ":no-index:")
        if not text.startswith(_AS_WRITTEN):
            lines[number] = _LEARNED.sub(r"\1\\_", line)


def without_parameters(*event: Any) -> tuple[str, None] | None:
    """The signature of a class is its table of parameters."""
    return ("", None) if event[1] == "class" else None


def leave_out(*event: Any) -> bool | None:
    """Methods by which scikit-learn routes metadata are on its pages."""
    return True if _ROUTING.fullmatch(event[2]) else None


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", as_tables, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", escaped, priority=900)  # after it
    app.connect("autodoc-process-signature", without_parameters)
    app.connect("autodoc-skip-member", leave_out)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
