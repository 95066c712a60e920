"""A real browser draws every chart from the file alone, has nothing to complain about, and keeps all on the page.

Chromium is driven by its own command line: a page of the test holds the report in frames of several widths, which
send back what they measure. Nothing but Chromium is needed.
"""

import json
import re
import subprocess
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import report
from tests.helpers.browser import BROWSER, COLLECTOR, flags
from tests.helpers.reports import fitted, report_of

FLAGS = flags("--window-size=1280,900")
WIDTHS = (360, 768, 1400, 1920)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine, so no page was looked at"),
]

# What each frame sends when its charts are drawn. The policy of the report forbids this script, so it is taken out.
PROBE = """
<script>
(async () => {
  const root = document.documentElement;
  while (root.dataset.ready !== "yes") await new Promise((done) => setTimeout(done, 50));
  const inScroller = (own) => own.closest(".scroll, pre, nav") !== null;
  const wide = [...document.querySelectorAll("body *")].filter((own) =>
    !inScroller(own) && !own.closest("svg") && !own.classList.contains("skip")
    && own.getBoundingClientRect().right > root.clientWidth + 1);
  const table = [...document.querySelectorAll("table[data-sortable]")].find((own) => own.tBodies[0].rows.length > 3);
  const keys = (place) => [...table.tBodies[0].rows].map(
    (row) => row.querySelectorAll("[data-key]")[place].dataset.key);
  const button = table.querySelectorAll("thead th button")[1];
  button.click();
  const up = keys(1);
  button.click();
  const down = keys(1);
  const paper = () => getComputedStyle(document.body).backgroundColor;
  const before = paper();
  document.getElementById("theme").click();
  const after = paper();
  parent.postMessage({
    width: window.innerWidth, page: root.scrollWidth, wide: wide.map((own) => own.outerHTML.slice(0, 200)),
    up, down, sorted: table.querySelector("[aria-sort]").getAttribute("aria-sort"), before, after,
    undrawn: document.querySelectorAll('[data-chart]:not([data-drawn="yes"])').length,
  }, "*");
})();
</script>
"""


def run(path: Path, profile: Path) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    return subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={profile}", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


@cache
def page_of(name: str) -> str:
    if name != "long names":
        return str(report_of(name).html())
    rng = np.random.default_rng(0)
    X = {"a_very_long_name_of_a_column_" * 4: rng.normal(size=200), "W" * 120: rng.normal(size=200)}
    X["town"] = rng.choice(["Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 2, "Rome"], 200)
    y = np.where(next(iter(X.values())) > 0, "an extremely long label of a class " * 3, "L" * 90)
    model = coterie.RandomForestClassifier(10, random_state=0).fit(X, y)
    return str(report.build(model, X, y, title="T" * 150, seen=False).html())


@pytest.mark.parametrize("name", ["two", "three", "numbers", "boosting", "forest", "voting"])
def test_every_chart_is_drawn(name: str, tmp_path: Path) -> None:
    found = report_of(name)
    path = tmp_path / "report.html"
    found.save(path)

    done = run(path, tmp_path / "profile")

    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints
    assert re.search(r'<html[^>]* data-ready="yes"', done.stdout)
    n_charts = len(re.findall(r'data-chart="\d+"', path.read_text(encoding="utf-8")))
    assert len(re.findall(r'data-drawn="yes"', done.stdout)) == n_charts
    assert done.stdout.count('<svg xmlns="http://www.w3.org/2000/svg"') >= n_charts


@pytest.mark.parametrize("name", ["two", "three", "numbers", "boosting", "long names"])
def test_pages_fit_every_width_sort_their_tables_and_have_two_themes(name: str, tmp_path: Path) -> None:
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page_of(name))
    frames = [
        f'<iframe width="{width}" height="900" srcdoc="{escape(page.replace("</body>", PROBE + "</body>"))}"></iframe>'
        for width in WIDTHS
    ]
    path = tmp_path / "frames.html"
    path.write_text(COLLECTOR.replace("FRAMES", "".join(frames)), encoding="utf-8")

    done = run(path, tmp_path / "profile")

    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text is not None
    found: list[dict[str, Any]] = json.loads(
        text[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    )
    assert sorted(own["width"] for own in found) == list(WIDTHS)
    for own in found:
        assert own["page"] <= own["width"], own["width"]
        assert own["wide"] == [], own["width"]
        assert own["undrawn"] == 0
        assert own["sorted"] == "descending"
        known = [float(key) for key in own["up"] if re.fullmatch(r"-?[\d.e-]+", key)]
        if len(known) == len(own["up"]):
            assert known == sorted(known)
            assert [float(key) for key in own["down"]] == known[::-1]
        assert own["before"] != own["after"]


def test_the_threshold_that_costs_least_is_that_of_the_table(tmp_path: Path) -> None:
    model, X, y = fitted("two")
    found = report.build(model, X, y, commands=["coterie predict m.coterie new.csv"])
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", found.html())
    press = """
<script>
document.querySelector("[data-cost=false_negatives]").value = "10";
document.querySelector("[data-cost=false_negatives]").dispatchEvent(new Event("input"));
document.querySelector("[data-cheapest]").click();
</script>"""
    path = tmp_path / "report.html"
    path.write_text(page.replace("</body>", press + "</body>"), encoding="utf-8")

    done = run(path, tmp_path / "profile")

    section = next(own for own in found.to_dict()["sections"] if own["key"] == "thresholds")
    table = [block for block in section["blocks"] if block["kind"] == "table"][1]
    [best] = [row[2] for row in table["rows"] if row[:2] == ["1", "10"]]
    assert f'data-of="cheapest">{best}<' in done.stdout
    assert f"coterie predict m.coterie new.csv --threshold {best}<" in done.stdout
