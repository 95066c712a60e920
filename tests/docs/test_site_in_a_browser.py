"""The documentation is built without a warning; a real browser shows it: widths, themes, contrast, keyboard, search.

Chromium is driven by its own command line, as in `tests/report/test_in_a_browser.py`. Nothing is loaded from a network.
"""

import json
import os
import re
import subprocess
import sys
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browser import BROWSER, COLLECTOR, flags
from tests.helpers.repository import ROOT

FLAGS = flags("--window-size=1500,900")
WIDTHS = (360, 1400)
THEMES = ("light", "dark")
PAGES = (
    "index",
    "coming-from/lightgbm",
    "guide/gradient_boosting",
    "guide/margins",
    "guide/models",
    "how-to/feature-importance",
    "how-to/your-own-csv",
    "reference/index",
    "reference/generated/coterie.GradientBoostingClassifier",
    "reference/generated/coterie.diagnostics.importance",
    "theory/margins",
    "tutorials/first-model",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine, so no page was looked at"),
    pytest.mark.skipif(find_spec("sphinx") is None, reason="no Sphinx, so no page was built"),
]

# What each page measures of itself and sends to the page that frames it.
PROBE = """
<script>
addEventListener("load", async () => {
  const [name, theme] = location.hash.slice(1).split("+");
  document.body.dataset.theme = theme;
  document.documentElement.style.setProperty("--transition", "none");
  await new Promise((done) => setTimeout(done, 700));
  const root = document.documentElement;
  const numbers = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const paper = (own) => {
    for (let node = own; node; node = node.parentElement) {
      const found = numbers(getComputedStyle(node).backgroundColor);
      if (found.length === 3 || found[3] > 0.5) return found;
    }
    return theme === "dark" ? [19, 20, 22] : [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("article *, .sidebar-tree *, .toc-tree *")].filter((own) =>
    [...own.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
    && own.getClientRects().length && !own.closest("svg, .headerlink, math"));
  const faint = texts.map((own) => {
    const style = getComputedStyle(own);
    const [a, b] = [luminance(numbers(style.color)), luminance(paper(own))].sort((p, q) => q - p);
    const large = parseFloat(style.fontSize) >= 24;
    const text = own.textContent.trim().slice(0, 40);
    return { ratio: (a + 0.05) / (b + 0.05), least: large ? 3 : 4.5, text, colour: style.color };
  }).filter((own) => own.ratio < own.least);
  const reachable = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), summary")].filter((own) =>
    own.getClientRects().length && !own.closest("[hidden], [aria-hidden=true]"));
  const nameless = reachable.filter((own) => !(own.textContent.trim() || own.getAttribute("aria-label") || own.title
    || own.placeholder || own.value || own.querySelector("img[alt], title") || (own.labels && own.labels.length)));
  const wide = [...document.querySelectorAll("article *")].filter((own) =>
    own.getBoundingClientRect().right > root.clientWidth + 1
    && !own.closest("pre, .table-wrapper, .formula, .picture, table, .highlight, math, .sig"));
  const images = [...document.querySelectorAll("article img")];
  parent.postMessage({
    name, theme, width: innerWidth, page: root.scrollWidth, reachable: reachable.length,
    wide: wide.map((own) => own.outerHTML.slice(0, 120)).slice(0, 5), faint: faint.slice(0, 5),
    nameless: nameless.map((own) => own.outerHTML.slice(0, 120)),
    silent: images.filter((own) => !own.alt).length,
    ordered: [...document.querySelectorAll("[tabindex]")].filter((own) => own.tabIndex > 0).length,
  }, "*");
});
</script>
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, built with every warning an error; links and anchors within the pages are checked by that."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def dom_of(address: str, profile: Path) -> tuple[str, list[str]]:
    """The page after its scripts have run, and what the console says."""
    assert BROWSER is not None
    done = subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={profile}", address],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_every_width_and_can_be_read_in_both_themes(
    name: str, site: Path, tmp_path: Path
) -> None:
    page = site / f"{name}.html"
    probed = page.with_name(f"probed-{page.name}")
    probed.write_text(
        page.read_text(encoding="utf-8").replace("</body>", PROBE + "</body>"), encoding="utf-8"
    )
    frames = [
        f'<iframe width="{width}" height="800" src="{probed.as_uri()}#{name}+{theme}"></iframe>'
        for width in WIDTHS
        for theme in THEMES
    ]
    path = tmp_path / "frames.html"
    path.write_text(COLLECTOR.replace("FRAMES", "".join(frames)), encoding="utf-8")

    dom, complaints = dom_of(path.as_uri(), tmp_path / "profile")

    text = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert text is not None
    found: list[dict[str, Any]] = json.loads(unescape(text[1]))
    assert not complaints
    assert len(found) == len(WIDTHS) * len(THEMES)
    for own in found:
        where = f"{name}, {own['width']} pixels, {own['theme']}"
        assert own["page"] <= own["width"], where
        assert own["wide"] == [], where
        assert own["faint"] == [], where
        assert own["nameless"] == [], where
        assert own["silent"] == 0, where
        assert own["ordered"] == 0, where
        assert own["reachable"] > 10, where


# What people type, and a page that must be among the first three.
SEARCHES = {
    "api": "guide/serving",
    "big data": "how-to/big-data",
    "calibration": "how-to/probabilities",
    "categorical": "how-to/categorical-features",
    "class weight": "how-to/imbalanced-classes",
    "cross validation": "how-to/cross-validation",
    "CUDA": "how-to/gpu",
    "deployment": "guide/serving",
    "early stopping": "how-to/early-stopping",
    "feature importance": "how-to/feature-importance",
    "gpu": "how-to/gpu",
    "grid search": "how-to/tuning",
    "hyperparameter tuning": "how-to/tuning",
    "hyperparameters": "how-to/tuning",
    "imbalanced": "how-to/imbalanced-classes",
    "install windows": "guide/installing",
    "missing values": "how-to/missing-values",
    "NaN": "how-to/missing-values",
    "onnx": "guide/export",
    "optuna": "how-to/tuning",
    "out of memory": "how-to/big-data",
    "overfitting": "how-to/overfitting",
    "pickle": "guide/model-files",
    "prediction interval": "guide/intervals",
    "probability": "how-to/probabilities",
    "quantile regression": "tutorials/intervals",
    "random seed": "how-to/reproducibility",
    "RandomForestClassifier": "reference/generated/coterie.RandomForestClassifier",
    "reproducibility": "how-to/reproducibility",
    "save model": "guide/model-files",
    "shap": "guide/explain",
    "time series": "how-to/time-series",
}
# Asks the search of the page for the pages of each query, the best first.
ANSWERS = """
<pre id="answers"></pre>
<script>
addEventListener("load", () => {
  const box = document.querySelector("input[name=q]");
  const answers = {};
  for (const words of QUERIES) {
    box.value = words;
    answers[words] = Search._performSearch(...Search._parseQuery(words)).reverse().map(([page]) => page);
  }
  document.getElementById("answers").textContent = JSON.stringify(answers);
});
</script>
"""


@pytest.fixture(scope="module")
def answers(site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The pages that the search finds for each query, every page once."""
    page = site / "search.html"
    script = ANSWERS.replace("QUERIES", json.dumps([*SEARCHES, "zzyzx"]))
    probed = page.with_name("probed-search.html")
    probed.write_text(
        page.read_text(encoding="utf-8").replace("</body>", script + "</body>"), encoding="utf-8"
    )
    dom, _ = dom_of(probed.as_uri() + "?q=zzyzx", tmp_path_factory.mktemp("profile"))
    text = re.search(r'<pre id="answers">(.*?)</pre>', dom, re.DOTALL)
    assert text is not None
    found: dict[str, list[str]] = json.loads(unescape(text[1]))
    return {words: list(dict.fromkeys(pages)) for words, pages in found.items()}


@pytest.mark.parametrize("words", SEARCHES)
def test_the_search_finds_what_people_look_for(words: str, answers: dict[str, list[str]]) -> None:
    assert SEARCHES[words] in answers[words][:3]


def test_the_search_finds_nothing_for_a_word_that_no_page_has(answers: dict[str, list[str]]) -> None:
    assert answers["zzyzx"] == []


def test_a_search_shows_its_results(site: Path, tmp_path: Path) -> None:
    address = (site / "search.html").as_uri() + "?q=feature+importance"
    dom, complaints = dom_of(address, tmp_path / "profile")
    assert re.findall(r'<li class="kind-[^"]*"><a href="([^"]+)"', dom)[0].startswith(
        "how-to/feature-importance"
    )
    assert not complaints
