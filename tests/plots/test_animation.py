"""Animations: the page holds every frame, works without a network and by keys, and the GIF is read by Pillow."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import make_moons

from coterie import AdaBoostClassifier
from coterie.errors import InvalidParameter
from coterie.plots import BoundaryDisplay
from coterie.plots._svg import svg_of_panels
from tests.helpers.hidden_packages import run_without

X, Y = make_moons(60, noise=0.2, random_state=0)
LABELS = np.where(Y == 1, "</script><b>", "other")
MODEL = AdaBoostClassifier(n_estimators=10).fit(X, LABELS)
DISPLAY = BoundaryDisplay.from_estimator(MODEL, X, LABELS, rounds=[1, 2, 3, 10], resolution=12)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("animation") / "boosting.html"
    DISPLAY.animate(path)
    return path.read_text(encoding="utf-8")


def held_in(page: str) -> Any:
    return json.loads(re.search(r'id="frames">(.*?)</script>', page, re.DOTALL).group(1))  # type: ignore[union-attr]


def test_the_page_holds_each_frame_as_it_is_drawn(page: str) -> None:
    held = held_in(page)
    frames = DISPLAY.frames()

    assert held["names"] == ["after 1 round", "after 2 rounds", "after 3 rounds", "after 10 rounds"]
    for places, frame in zip(held["frames"], frames, strict=True):
        svg = "\n".join(held["lines"][place] for place in places)
        assert svg == svg_of_panels(frame.charts).rstrip()
        ET.fromstring(svg)
    assert len(set(held["lines"])) == len(held["lines"])
    assert held["seconds"] == 1.0


def test_the_page_loads_nothing_and_shows_the_last_frame_without_scripts(page: str) -> None:
    body = page.replace("http://www.w3.org/2000/svg", "")

    assert "http" not in body
    assert not re.search(r"\b(src|href|url|import)\b", body)
    assert "<title>after 10 rounds</title>" in page.split("<script")[0]
    assert "</script><b>" not in page


def test_the_page_is_for_keys_and_for_readers_who_want_less_motion(page: str) -> None:
    assert 'type="range" id="place" min="0" max="3" step="1" value="3" aria-label="frame"' in page
    assert 'window.matchMedia("(prefers-reduced-motion: reduce)")' in page
    assert "if (!still.matches) start();" in page
    for key in ("ArrowLeft", "ArrowRight", '" "'):
        assert key in page
    assert "prefers-color-scheme: dark" in page


def test_the_gif_has_the_frames_and_their_times(tmp_path: Path) -> None:
    path = tmp_path / "boosting.gif"
    DISPLAY.animate(path, seconds=0.25)
    with Image.open(path) as image:
        times, pictures = [], []
        for number in range(image.n_frames):
            image.seek(number)
            times.append(image.info["duration"])
            pictures.append(np.asarray(image.convert("RGB"), dtype=int))

    assert times == [250, 250, 250, 1000]
    assert image.info.get("loop") == 0
    assert pictures[0].shape == (420, 640, 3)
    # What the frame shows is what it would be as a picture of its own, but for the 255 colours.
    apart = BoundaryDisplay.from_estimator(MODEL, X, LABELS, rounds=[10], resolution=12)
    apart.save(tmp_path / "last.png")
    with Image.open(tmp_path / "last.png") as last:
        alone = np.asarray(last.convert("RGB").resize((640, 420)), dtype=int)
    assert np.abs(pictures[-1] - alone).mean() < 6
    assert np.abs(pictures[0] - alone).mean() > np.abs(pictures[-1] - alone).mean()


@pytest.mark.parametrize("seconds", [0, -1, "fast"])
def test_a_time_is_a_positive_number(seconds: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="seconds="):
        DISPLAY.animate(tmp_path / "a.html", seconds=seconds)


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"ends in '.mp4'; expected .html or .gif"):
        DISPLAY.animate(tmp_path / "a.mp4")


def test_without_matplotlib_there_are_pages_and_the_gif_says_what_to_install() -> None:
    program = """
        import tempfile
        from pathlib import Path

        from coterie.errors import MissingPackage
        from coterie.plots import BoundaryDisplay
        from coterie.trees import DecisionTreeClassifier

        X = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.5]]
        tree = DecisionTreeClassifier().fit(X, [0, 1, 1])
        display = BoundaryDisplay.from_estimators({"one": tree, "two": tree}, X, resolution=3)
        with tempfile.TemporaryDirectory() as folder:
            display.animate(Path(folder) / "a.html")
            print((Path(folder) / "a.html").stat().st_size > 1000)
            try:
                display.animate(Path(folder) / "a.gif")
            except MissingPackage as error:
                print(error, end="")
    """
    page, gif = run_without(["matplotlib"], program).splitlines()

    assert page == "True"
    assert gif == (
        "BoundaryDisplay.animate to a .gif uses 'matplotlib', which is not installed. Install it with: "
        "pip install 'coterie[plot]'"
    )
