"""A real browser draws every chart from the file alone, and has nothing to complain about."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.reports import report_of

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=20000",
    "--window-size=1280,900",
    "--enable-logging=stderr",
    "--dump-dom",
]


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("name", ["two", "three", "numbers", "boosting", "forest", "voting"])
def test_every_chart_is_drawn(name: str, tmp_path: Path) -> None:
    found = report_of(name)
    path = tmp_path / "report.html"
    found.save(path)
    assert BROWSER is not None

    run = subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    complaints = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints
    assert re.search(r'<html[^>]* data-ready="yes"', run.stdout)
    n_charts = len(re.findall(r'data-chart="\d+"', path.read_text(encoding="utf-8")))
    assert len(re.findall(r'data-drawn="yes"', run.stdout)) == n_charts
    assert run.stdout.count('<svg xmlns="http://www.w3.org/2000/svg"') >= n_charts
