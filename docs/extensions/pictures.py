"""Pictures that pages draw when the documentation is built, and formulas without a script.

The directive `picture` runs its code (see `picture_code`), shows the SVG with a caption and a text for those who do
not see it, and the code below. Dark themes invert the lightness of pictures and keep their hues (`static/site.css`).

Formulas in `$...$` become MathML, which browsers draw by themselves: no script, no fonts, nothing to load, and screen
readers can read it. The alternative, MathJax, is two megabytes of script that would have to be kept here.
"""

import re
import traceback
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from picture_code import Block, blocks_of, svg_from
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)
_SIZE = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)[a-z]*"[^>]*?\bheight="([\d.]+)[a-z]*"')


class drawn(nodes.General, nodes.Element):
    """An SVG, and the name of the file that will hold it."""


class Picture(SphinxDirective):
    """Code, and the picture that it draws."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {
        "alt": directives.unchanged_required,
        "code": lambda value: directives.choice(value, ("show", "hide")),
        "name": directives.unchanged,
        "after-examples": directives.flag,  # the examples above run before the code
        "slow": directives.flag,  # for the tests: `make test-slow` runs this page
    }

    def run(self) -> list[nodes.Node]:
        if not self.options.get("alt"):
            raise self.error("a picture says what is seen: ':alt: ...'")
        names, number = self._names(), self.env.new_serialno("picture")
        code = "\n".join(self.content)
        try:
            program = self._block(number).program if "after-examples" in self.options else code
            svg = svg_from(program, names, f"{self.env.docname}, picture {number + 1}")
        except Exception as error:
            told = "".join(traceback.format_exception(error)[-3:])
            raise self.error(f"the code of a picture failed:\n{told}") from error

        image = drawn(svg=svg, alt=self.options["alt"])
        image["file"] = f"{self.env.docname.replace('/', '-')}-{number + 1}.svg"
        caption = nodes.caption(self.arguments[0], "", *self._inline(self.arguments[0]))
        figure = nodes.figure("", image, caption, classes=["picture"])
        self.set_source_info(figure)
        self.add_name(figure)
        if self.options.get("code") == "hide":
            return [figure]
        block = nodes.literal_block(code, code, language="python", classes=["picture-code"])
        self.set_source_info(block)
        return [figure, block]

    def _names(self) -> dict[str, Any]:
        """What the pictures above on this page have defined."""
        names: dict[str, Any] = self.env.temp_data.setdefault("picture names", {})
        return names

    def _block(self, number: int) -> Block:
        """The same picture as the page writes it."""
        page = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        return blocks_of(page)[number]

    def _inline(self, text: str) -> list[nodes.Node]:
        return list(self.parse_inline(text)[0])


def visit_drawn(translator: Any, node: drawn) -> None:
    """A file beside the other images, and an element that reserves its place."""
    builder = translator.builder
    folder = Path(builder.outdir, builder.imagedir)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / node["file"]).write_text(node["svg"], encoding="utf-8")
    size = _SIZE.search(node["svg"])
    place = {"width": size[1], "height": size[2]} if size else {}
    source = f"{builder.imgpath}/{node['file']}"
    translator.body.append(
        translator.starttag(node, "img", "", empty=True, src=source, alt=node["alt"], loading="lazy", **place)
    )


def visit_as_text(translator: Any, node: drawn) -> None:
    translator.add_text(f"[{node['alt']}]") if hasattr(translator, "add_text") else None
    raise nodes.SkipNode


def leave(translator: Any, node: nodes.Node) -> None:
    """Nothing is open."""


def mathml(latex: str, *, block: bool) -> str:
    """A formula as browsers draw it; as its source where the package `latex2mathml` is absent."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        logger.info("formulas are shown as their source: pip install latex2mathml", once=True)
        return f"<code>{nodes.Text(latex).astext().replace('&', '&amp;').replace('<', '&lt;')}</code>"
    return str(convert(latex, display="block" if block else "inline"))


def visit_formula(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def visit_formulas(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="formula", role="group"))
    if node.get("label"):
        number = node["number"]
        translator.body.append(f'<span class="eqno">({number})</span>')
    translator.body.append(mathml(node.astext(), block=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("gallery")
    app.add_directive("picture", Picture)
    app.add_node(drawn, html=(visit_drawn, leave), text=(visit_as_text, None))
    app.add_html_math_renderer(
        "mathml", inline_renderers=(visit_formula, None), block_renderers=(visit_formulas, None)
    )
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
