"""The guide shows commands and options that exist."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from coterie.cli.app import app

ROOT = Path(__file__).parents[2]
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
GUIDE = ROOT / "docs" / "guide" / "command-line.md"


def options_of(command: str) -> set[str]:
    return {option for param in COMMANDS[command].params for option in param.opts}


@pytest.mark.skipif(not GUIDE.exists(), reason="wheels are tested without the documentation")
def test_commands_of_the_guide_have_these_options() -> None:
    lines = re.findall(r"^coterie (.+)$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) >= 5
    for line in lines:
        command, *words = shlex.split(line)
        unknown = {word for word in words if re.match(r"--?[a-z]", word)} - options_of(command)
        assert not unknown, line


@pytest.mark.skipif(not GUIDE.exists(), reason="wheels are tested without the documentation")
def test_options_and_commands_that_the_guide_names_exist() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    known = set().union(*map(options_of, COMMANDS)) | {"--help"}
    assert set(re.findall(r"`(--[a-z-]+)", text)) <= known
    assert set(re.findall(r"^\| `([a-z]+)[ `]", text, re.MULTILINE)) == set(COMMANDS)
