"""The base of all displays: one chart, drawn by matplotlib, as SVG, as Vega-Lite or as a page."""

import json
from collections.abc import Callable
from html import escape
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any, Self

from coterie._optional import need
from coterie._params import in_short
from coterie._typing import AnyArray
from coterie.errors import InvalidParameter
from coterie.plots._matplotlib import draw_on
from coterie.plots._svg import svg_of
from coterie.plots.chart import Chart
from coterie.plots.vega import MIME_TYPE, vega_of

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>body {{ margin: 2em auto; max-width: 42em; }} svg {{ max-width: 100%; height: auto; }}</style></head>
<body>
{svg}<script type="application/json">{numbers}</script>
</body>
</html>
"""


class Display:
    """A plot and the numbers that it shows.

    A notebook displays it, `plot` draws it with matplotlib, `to_vega` converts it for other tools, and `save` writes
    a file. Only `plot` and PNG files need matplotlib: `pip install 'coterie[plot]'`.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure of matplotlib, after `plot`
    """

    ax_: Any
    figure_: Any

    @property
    def data(self) -> dict[str, AnyArray]:
        """The numbers of the plot, as columns of one length."""
        raise AssertionError("each display has its own numbers")

    def chart(self) -> Chart:
        """The plot as lines and axes."""
        raise AssertionError("each display has its own chart")

    def plot(self, ax: Any = None) -> Self:
        """Draw with matplotlib, on these axes or on new ones.

        Returns
        -------
        The display, with `ax_` and `figure_`, as displays of scikit-learn have them.
        """
        if ax is None:
            pyplot = need("matplotlib.pyplot", purpose=f"{type(self).__name__}.plot", extra="plot")
            _, ax = pyplot.subplots(figsize=(6.4, 4.2), layout="constrained")
        draw_on(ax, self.chart())
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_svg(self) -> str:
        """The plot as SVG."""
        return svg_of(self.chart())

    def to_vega(self) -> dict[str, Any]:
        """The plot as a Vega-Lite specification (version 5), with its data inside."""
        return vega_of(self.chart())

    def to_html(self) -> str:
        """The plot as a page of its own that loads nothing; its numbers are in it as JSON."""
        numbers = {name: _plain(column) for name, column in self.data.items()}
        safe = json.dumps(numbers).replace("<", "\\u003c")
        return _PAGE.format(title=escape(self.chart().title), svg=self.to_svg(), numbers=safe)

    def save(self, path: str | Path) -> None:
        """Write a file: .html, .svg, .png, or .json for the Vega-Lite specification.

        Only .png needs matplotlib.
        """
        file = Path(path)
        writers: dict[str, Callable[[], str | bytes]] = {
            ".html": self.to_html,
            ".svg": self.to_svg,
            ".png": self._png,
            ".json": lambda: json.dumps(self.to_vega()),
        }
        write = writers.get(file.suffix.lower())
        if write is None:
            allowed = ", ".join(writers)
            raise InvalidParameter.expecting(
                f"path={in_short(str(path))} ends in {file.suffix!r}", allowed, "path", path
            )
        content = write()
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content, encoding="utf-8")

    def _png(self) -> bytes:
        """Drawn apart from pyplot, so that no figure is left open."""
        figures = need("matplotlib.figure", purpose="Saving a plot as .png", extra="plot")
        figure = figures.Figure(figsize=(6.4, 4.2), layout="constrained")
        draw_on(figure.subplots(), self.chart())
        out = BytesIO()
        figure.savefig(out, format="png", dpi=150)
        return out.getvalue()

    def _repr_html_(self) -> str:
        return self.to_svg()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME_TYPE: self.to_vega(), "image/svg+xml": self.to_svg(), "text/plain": repr(self)}


def _plain(column: AnyArray) -> list[Any]:
    """Values as JSON has them: null for what is no number."""
    return [None if isinstance(value, float) and not isfinite(value) else value for value in column.tolist()]
