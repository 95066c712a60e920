"""The index of the gallery: the first picture of each page that it lists, with the title of the page.

    ```{thumbnails}
    name-of-a-page
    name-of-another
    ```

Pages are those beside the index. Nothing is drawn twice: thumbnails are the files that the pages themselves write.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from picture_code import blocks_of
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

STYLE = "gallery.css"


class thumbnail(nodes.General, nodes.Element):
    """A page, its title, and what is seen in its first picture."""


class Thumbnails(SphinxDirective):
    """A grid of pages."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.doc2path(self.env.docname)).parent
        parent = self.env.docname.rpartition("/")[0]
        grid = nodes.container(classes=["thumbnails"])
        for name in filter(None, map(str.strip, self.content)):
            path = folder / f"{name}.md"
            if not path.is_file():
                raise self.error(f"there is no page {name!r} beside this one")
            self.env.note_dependency(str(path))
            page = path.read_text(encoding="utf-8")
            pictures = blocks_of(page)
            if not pictures:
                raise self.error(f"the page {name!r} has no picture")
            title = page.lstrip().splitlines()[0].removeprefix("#").strip()
            target = f"{parent}/{name}" if parent else name
            grid += thumbnail(target=target, title=title, alt=pictures[0].options.get("alt", ""))
        return [grid]


def visit_thumbnail(translator: Any, node: thumbnail) -> None:
    """A link with a picture and a title; the file is that of the first picture of the page."""
    builder = translator.builder
    target = builder.get_relative_uri(translator.docnames[0], node["target"])
    source = f"{builder.imgpath}/{node['target'].replace('/', '-')}-1.svg"
    translator.body.append(translator.starttag(node, "a", "", CLASS="thumbnail", href=target))
    translator.body.append(
        translator.starttag({}, "img", "", empty=True, src=source, alt=node["alt"], loading="lazy")
    )
    translator.body.append(f"<span>{translator.encode(node['title'])}</span></a>\n")
    raise nodes.SkipNode


def visit_as_text(translator: Any, node: thumbnail) -> None:
    if hasattr(translator, "add_text"):
        translator.add_text(node["title"])
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("thumbnails", Thumbnails)
    app.add_node(thumbnail, html=(visit_thumbnail, None), text=(visit_as_text, None))
    app.add_css_file(STYLE)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
