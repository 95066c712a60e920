"""Frames one after the other: as a page with a slider that loads nothing, or as a GIF.

The page holds the frames as SVG, each distinct line of them once, and a script of one screen. A GIF is rasterised by
matplotlib, which has the fonts for that, and written by Pillow, which matplotlib cannot be installed without.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any

from coterie._optional import need
from coterie.plots._matplotlib import draw_panels
from coterie.plots._svg import svg_of_panels
from coterie.plots.chart import Chart

DARK_STYLE = """\
body { margin: 2em auto; padding: 0 1em; max-width: 62em; font-family: Helvetica, Arial, sans-serif;
  color: #1d2329; background: #ffffff; color-scheme: light dark; }
svg { display: block; margin: 0 auto; max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) {
  body { color: #e6eaee; background: #14181d; }
  :not(.cells) > [fill="#ffffff"] { fill: #14181d; }
  :not(.cells) > [fill="#1d2329"], [fill="#000000"] { fill: #e6eaee; }
  [stroke="#1d2329"], [stroke="#000000"] { stroke: #e6eaee; }
  [fill="#5b6570"] { fill: #a8b2bc; }
  [stroke="#5b6570"] { stroke: #a8b2bc; }
  [stroke="#e3e7eb"] { stroke: #2d353d; }
  [fill="#d5dbe1"] { fill: #3a444e; }
}
"""

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
{style}.controls:not([hidden]) {{ display: flex; gap: 0.6em; align-items: center; flex-wrap: wrap;
  max-width: 40em; margin: 0.6em auto; }}
.controls input {{ flex: 1 1 12em; }}
.controls button {{ font: inherit; min-width: 4.5em; padding: 0.3em 0.8em; }}
:focus-visible {{ outline: 3px solid #d55e00; outline-offset: 2px; }}
output {{ min-width: 9em; }}
</style></head>
<body>
<main>
<div id="plot">
{last}</div>
<div class="controls" role="group" aria-label="frames" hidden>
<button type="button" id="play">Play</button>
<input type="range" id="place" min="0" max="{largest}" step="1" value="{largest}" aria-label="frame">
<output id="name" for="place" aria-live="off">{name}</output>
</div>
</main>
<script type="application/json" id="frames">{frames}</script>
<script>
"use strict";
const {{ lines, frames, names, seconds }} = JSON.parse(document.getElementById("frames").textContent);
const [plot, place, play, name] = ["plot", "place", "play", "name"].map((id) => document.getElementById(id));
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
let timer = null;
function show(number) {{
  place.value = number;
  plot.innerHTML = frames[number].map((line) => lines[line]).join("\\n");
  name.textContent = names[number];
  place.setAttribute("aria-valuetext", names[number]);
}}
function stop() {{
  clearInterval(timer);
  timer = null;
  play.textContent = "Play";
}}
function start() {{
  if (Number(place.value) === frames.length - 1) show(0);
  play.textContent = "Pause";
  timer = setInterval(() => {{
    show(Number(place.value) + 1);
    if (Number(place.value) === frames.length - 1) stop();
  }}, 1000 * seconds);
}}
play.addEventListener("click", () => (timer === null ? start() : stop()));
place.addEventListener("input", () => {{ stop(); show(Number(place.value)); }});
document.addEventListener("keydown", (event) => {{
  if (event.target !== document.body) return;
  const step = {{ ArrowLeft: -1, ArrowRight: 1 }}[event.key];
  if (step === undefined && event.key !== " ") return;
  event.preventDefault();
  if (step === undefined) return play.click();
  stop();
  show(Math.min(frames.length - 1, Math.max(0, Number(place.value) + step)));
}});
still.addEventListener("change", () => {{ if (still.matches) stop(); }});
document.querySelector(".controls").hidden = false;
show(frames.length - 1);
if (!still.matches) start();
</script>
</body>
</html>
"""


@dataclass(frozen=True)
class AnimationFrame:
    """What is seen at one time: a name such as "after 5 rounds", and one chart or several beside each other."""

    name: str
    charts: tuple[Chart, ...]


def page_of(frames: Sequence[AnimationFrame], title: str, seconds: float) -> str:
    """A page with a slider; it plays once, unless the reader prefers less motion.

    The last frame is in the page itself, for readers without scripts.
    """
    svgs = [svg_of_panels(frame.charts).rstrip("\n").split("\n") for frame in frames]
    known: dict[str, int] = {}
    places = [[known.setdefault(line, len(known)) for line in svg] for svg in svgs]
    held = {
        "lines": list(known),
        "frames": places,
        "names": [frame.name for frame in frames],
        "seconds": seconds,
    }
    return _PAGE.format(
        title=escape(title),
        style=DARK_STYLE,
        last="\n".join(svgs[-1]) + "\n",
        largest=len(frames) - 1,
        name=escape(frames[-1].name),
        frames=json.dumps(held).replace("<", "\\u003c"),
    )


def gif_of(frames: Sequence[AnimationFrame], seconds: float, owner: str) -> bytes:
    """A GIF that repeats; the last frame stays four times as long."""
    need("matplotlib", purpose=f"{owner}.animate to a .gif", extra="plot")
    images = need("PIL.Image", purpose=f"{owner}.animate to a .gif", extra="plot")
    pictures = [_raster(frame, images) for frame in frames]
    # One palette for all frames, so that what does not change does not flicker.
    palette = _common_palette(pictures, images)
    plain = [picture.quantize(palette=palette, dither=images.Dither.NONE) for picture in pictures]
    each = max(20, round(1000 * seconds))
    out = BytesIO()
    plain[0].save(
        out,
        format="GIF",
        save_all=True,
        append_images=plain[1:],
        duration=[each] * (len(plain) - 1) + [4 * each],
        loop=0,
        optimize=False,
    )
    return out.getvalue()


def _raster(frame: AnimationFrame, images: Any) -> Any:
    agg = need("matplotlib.backends.backend_agg", purpose="a .gif", extra="plot")
    figure = draw_panels(frame.charts)
    canvas = agg.FigureCanvasAgg(figure)
    figure.set_dpi(100)
    canvas.draw()
    size = canvas.get_width_height()
    return images.frombuffer("RGBA", size, bytes(canvas.buffer_rgba()), "raw", "RGBA", 0, 1).convert("RGB")


def _common_palette(pictures: Sequence[Any], images: Any) -> Any:
    """255 colours of the first, the middle and the last frame."""
    chosen = [pictures[place] for place in sorted({0, len(pictures) // 2, len(pictures) - 1})]
    width, height = chosen[0].size
    sheet = images.new("RGB", (width, height * len(chosen)))
    for place, picture in enumerate(chosen):
        sheet.paste(picture, (0, place * height))
    return sheet.quantize(colors=255, method=images.Quantize.MEDIANCUT, dither=images.Dither.NONE)
