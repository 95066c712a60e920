"""The base of all displays: charts, drawn by matplotlib, as SVG, as Vega-Lite or as a page."""

import json
from collections.abc import Callable
from html import escape
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any, Self

import numpy as np

from coterie._optional import need
from coterie._params import Real, in_short, unexpected
from coterie._typing import AnyArray
from coterie.errors import InvalidInput, InvalidParameter
from coterie.plots._matplotlib import axes_of, draw_on, draw_panels, figure_size
from coterie.plots._svg import svg_of_panels
from coterie.plots.animation import DARK_STYLE, AnimationFrame, gif_of, page_of
from coterie.plots.chart import Chart
from coterie.plots.vega import MIME_TYPE, vega_of_panels

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
{style}</style></head>
<body>
{svg}<script type="application/json">{numbers}</script>
</body>
</html>
"""


class Display:
    """A plot, or several beside each other, and the numbers that they show.

    A notebook displays it, `plot` draws it with matplotlib, `to_vega` converts it for other tools, and `save` writes
    a file. Where there is a sequence, such as rounds or members, `animate` shows one step after the other. Only `plot`
    and the files .png and .gif need matplotlib: `pip install 'coterie[plot]'`.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure of matplotlib, after `plot`; `ax_` is an array where there are several plots
    """

    ax_: Any
    figure_: Any

    @property
    def data(self) -> dict[str, AnyArray]:
        """The numbers of the plot, as columns of one length."""
        raise AssertionError("each display has its own numbers")

    def chart(self) -> Chart:
        """The plot as lines and axes; of several, the last."""
        return self.panels()[-1]

    def panels(self) -> tuple[Chart, ...]:
        """The plots that are beside each other; most displays have one."""
        return (self.chart(),)

    def frames(self) -> list[AnimationFrame]:
        """What `animate` shows, one after the other; a display without a sequence has one frame."""
        panels = self.panels()
        return [AnimationFrame(chart.title, (chart,)) for chart in panels]

    def plot(self, ax: Any = None) -> Self:
        """Draw with matplotlib, on these axes or on new ones.

        Returns
        -------
        The display, with `ax_` and `figure_`, as displays of scikit-learn have them.
        """
        charts = self.panels()
        if ax is None:
            pyplot = need("matplotlib.pyplot", purpose=f"{type(self).__name__}.plot", extra="plot")
            figure = pyplot.figure(figsize=figure_size(len(charts)), layout="constrained")
            axes = axes_of(figure, len(charts))
        else:
            axes = np.ravel(ax).tolist()
            if len(axes) != len(charts):
                raise InvalidParameter.expecting(
                    f"ax holds {len(axes)} axes", f"{len(charts)}, one for each plot", "ax", ax
                )
            figure = axes[0].figure
        for own, chart in zip(axes, charts, strict=True):
            draw_on(own, chart)
        self.ax_, self.figure_ = axes[0] if len(axes) == 1 else np.array(axes, dtype=object), figure
        return self

    def to_svg(self) -> str:
        """The plot as SVG."""
        return svg_of_panels(self.panels())

    def to_vega(self) -> dict[str, Any]:
        """The plot as a Vega-Lite specification (version 5), with its data inside."""
        return vega_of_panels(self.panels())

    def to_html(self) -> str:
        """The plot as a page of its own that loads nothing, light or dark; its numbers are in it as JSON."""
        numbers = {name: _plain(column) for name, column in self.data.items()}
        safe = json.dumps(numbers).replace("<", "\\u003c")
        return _PAGE.format(
            title=escape(self.chart().title), style=DARK_STYLE, svg=self.to_svg(), numbers=safe
        )

    def animate(self, path: str | Path, *, seconds: float | None = None) -> None:
        """Write the steps of the plot as a file: .html, a page with a slider, or .gif.

        The page loads nothing. It plays once unless the reader's system asks for less motion; the slider and the space
        and arrow keys move it. A .gif needs matplotlib, which rasterises it: `pip install 'coterie[plot]'`.

        Parameters
        ----------
        path : str or path that ends in .html or .gif
        seconds : float, how long each step is seen; None: all together take about ten seconds, and each at most one
        """
        file, frames = Path(path), self.frames()
        if len(frames) < 2:
            raise InvalidInput(
                f"{type(self).__name__} has nothing to animate: it shows one plot, and not one after the other.",
                parameter="path",
                received=str(path),
                hint="save(path) writes it as .html, .svg, .png or .json.",
            )
        if seconds is None:
            seconds = min(1.0, 10 / len(frames))
        check = Real(0, None, closed="neither")
        if not check.accepts(seconds):
            raise unexpected("seconds", seconds, f"None or {check.describe()}")
        if file.suffix.lower() == ".html":
            file.write_text(page_of(frames, self.chart().title, float(seconds)), encoding="utf-8")
        elif file.suffix.lower() == ".gif":
            file.write_bytes(gif_of(frames, float(seconds), type(self).__name__))
        else:
            raise InvalidParameter.expecting(
                f"path={in_short(str(path))} ends in {file.suffix!r}", ".html or .gif", "path", path
            )

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
        need("matplotlib.figure", purpose="Saving a plot as .png", extra="plot")
        out = BytesIO()
        draw_panels(self.panels()).savefig(out, format="png", dpi=150)
        return out.getvalue()

    def _repr_html_(self) -> str:
        return self.to_svg()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME_TYPE: self.to_vega(), "image/svg+xml": self.to_svg(), "text/plain": repr(self)}


def _plain(column: AnyArray) -> list[Any]:
    """Values as JSON has them: null for what is no number."""
    return [None if isinstance(value, float) and not isfinite(value) else value for value in column.tolist()]
