"""ARCHITECTURE.md is a map; a map that lies is worse than none."""

import pytest

from tests.helpers.repository import files, folders, listed_folders


def test_every_folder_is_on_the_map() -> None:
    missing = sorted(folders() - set(listed_folders()))
    assert not missing, f"These folders exist, and ARCHITECTURE.md does not say what they are for: {missing}."


def test_the_map_shows_no_folder_that_does_not_exist() -> None:
    gone = sorted(set(listed_folders()) - folders())
    assert not gone, f"ARCHITECTURE.md shows these folders, and they hold no file: {gone}."


def test_no_folder_is_drawn_twice() -> None:
    assert len(set(listed_folders())) == len(listed_folders())


@pytest.mark.parametrize("drawer", ["utils", "util", "common", "helpers", "misc", "core"])
def test_nothing_is_called_a_drawer(drawer: str) -> None:
    """Except for what tests share, which has a folder of its own."""
    outside = [file for file in files() if file.parts[:2] != ("tests", "helpers")]
    drawers = [str(file) for file in outside if drawer in {file.stem, *file.parent.parts}]
    assert not drawers, f"{drawer!r} does not say what is inside: {drawers}."
