"""Chromium by its command line, and a page that gathers what pages in its frames send."""

import shutil

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
COLLECTOR = """
<!doctype html><html><body><pre id="found"></pre><script>
const found = [];
addEventListener("message", (event) => {
  found.push(event.data);
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script>FRAMES</body></html>
"""


def flags(*more: str) -> list[str]:
    """A browser without a window that reaches nobody, prints its console, and at the end the page."""
    return [
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
        "--enable-logging=stderr",
        "--dump-dom",
        *more,
    ]
