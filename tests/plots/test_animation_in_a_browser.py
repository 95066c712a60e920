"""A real browser plays an animation once, is moved by keys and the slider, and waits where less motion is preferred."""

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import make_moons

from coterie import AdaBoostClassifier
from coterie.plots import BoundaryDisplay
from tests.helpers.browser import BROWSER, flags

FLAGS = flags()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine, so no page was looked at"),
]

PROBE = """
<pre id="found"></pre>
<script>
(async () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const now = () => [document.querySelector("#plot svg title").textContent, name.textContent, play.textContent];
  const key = (own) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: own, bubbles: true }));
  const found = { first: now() };
  await wait(3000);
  found.later = now();
  key("ArrowLeft");
  found.left = now();
  key(" ");
  found.playing = now();
  key(" ");
  found.paused = now();
  await wait(3000);
  found.still = now();
  place.value = 1;
  place.dispatchEvent(new Event("input"));
  found.slid = now();
  found.shown = getComputedStyle(document.querySelector(".controls")).display;
  found.label = place.getAttribute("aria-valuetext");
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>
"""


def measured(page: str, folder: Path, *flags: str) -> dict[str, Any]:
    assert BROWSER is not None
    path = folder / "page.html"
    path.write_text(page.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    done = subprocess.run(
        [BROWSER, *FLAGS, *flags, f"--user-data-dir={folder / 'profile'}", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "CONSOLE" not in done.stderr, done.stderr
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None
    return dict(json.loads(unescape(found.group(1))))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    X, y = make_moons(60, noise=0.2, random_state=0)
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, rounds=[1, 2, 5, 10], resolution=8)
    path = tmp_path_factory.mktemp("animation") / "boosting.html"
    display.animate(path, seconds=0.2)
    return path.read_text(encoding="utf-8")


def test_it_plays_once_and_keys_move_it(page: str, tmp_path: Path) -> None:
    found = measured(page, tmp_path)

    assert found["first"] == ["after 1 round", "after 1 round", "Pause"]
    assert found["later"] == ["after 10 rounds", "after 10 rounds", "Play"]
    assert found["left"] == ["after 5 rounds", "after 5 rounds", "Play"]
    assert found["playing"][2] == "Pause"
    assert found["paused"][2] == "Play"
    assert found["still"] == found["paused"]
    assert found["slid"] == ["after 2 rounds", "after 2 rounds", "Play"]
    assert (found["shown"], found["label"]) == ("flex", "after 2 rounds")


def test_it_waits_for_readers_who_want_less_motion(page: str, tmp_path: Path) -> None:
    found = measured(page, tmp_path, "--force-prefers-reduced-motion")

    assert found["first"] == found["later"] == ["after 10 rounds", "after 10 rounds", "Play"]
    assert found["playing"][2] == "Pause"
