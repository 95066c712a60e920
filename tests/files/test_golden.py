"""Files of every format that was ever released still load, and answer with the bits that were noted then."""

import json
from pathlib import Path

import pytest

import coterie
from coterie.files.upgrades import FORMAT, UPGRADES
from tests.files.golden.make_golden import FOLDER, answers, models
from tests.helpers.mutations import loaded, stored

FILES = sorted(FOLDER.glob("*.coterie"))


def test_there_are_files_of_every_format() -> None:
    assert {file.name.split("_")[0] for file in FILES} == {
        f"format{number}" for number in range(1, FORMAT + 1)
    }
    assert set(UPGRADES) == set(range(1, FORMAT))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_old_file_answers_with_the_same_bits(file: Path) -> None:
    format_, name = file.stem.split("_", 1)
    noted = json.loads((FOLDER / f"{format_}.json").read_text())

    assert answers(coterie.load(file)) == noted[name]
    assert coterie.inspect_file(file).format == int(format_.removeprefix("format"))


def test_an_old_file_is_saved_in_the_newest_format() -> None:
    for file in FILES:
        twin = loaded(stored(coterie.load(file)))
        assert answers(twin) == answers(coterie.load(file))


def test_the_models_of_the_files_are_still_made_in_this_way() -> None:
    noted = json.loads((FOLDER / f"format{FORMAT}.json").read_text())
    assert set(models()) == set(noted)
