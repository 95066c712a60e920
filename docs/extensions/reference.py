"""The reference: a page for every public class and function, by topic, made from the docstrings when Sphinx begins.

Nothing of it is committed: the pages are written to `docs/reference/generated` and again only where they change.
"""

import inspect
import re
from pathlib import Path
from typing import Any

from docstrings import attribute_table, entries_of, parameter_table, section_of
from reference_examples import EXAMPLES, INTERFACES
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
        f"Part of [{topic.title}](topic-{topic.key}.md). The guide: [](/{topic.guide}.md).",
        "",
    ]
    return "\n".join(lines)


def _example(path: str) -> list[str]:
    """Where an example is, for names whose docstring has none."""
    if has_example(path):
        return []
    if path in EXAMPLES:
        return ["## Example", "", "```python", EXAMPLES[path].rstrip(), "```", ""]
    if path in INTERFACES:
        return [INTERFACES[path], ""]
    made = [f"[{other.rpartition('.')[2]}](/{FOLDER}/{other}.md)" for other in makers_of(path)]
    if made:
        return [f"Returned by {', '.join(made)}, where an example is.", ""]
    if path.startswith("coterie.ensemble."):
        name = path.rpartition(".")[2]
        return [
            "Parameters and defaults are those of scikit-learn, and so are their reasons: see "
            f"[its page](https://scikit-learn.org/stable/modules/generated/sklearn.ensemble.{name}.html).",
            "",
            *("## Example", "", "```python", f">>> from coterie.ensemble import {name}", "```", ""),
        ]
    return []


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
    _, what, _, thing, _, lines = event
    if what not in ("class", "function", "exception"):
        return
    for title in ("Attributes", "Parameters"):
        begin, end = section_of(lines, title)
        if not end:
            continue
        entries = list(entries_of(lines[begin + 2 : end]))
        table = parameter_table(thing, entries) if title == "Parameters" else attribute_table(entries)
        lines[begin:end] = [f".. rubric:: {title}", "", *table]


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
