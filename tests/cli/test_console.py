"""Messages: what goes to the standard error, and progress that is made of events."""

import pickle

import pytest

from coterie.cli.command import Messages
from coterie.cli.errors import DATA, CommandError, exit_code_of
from coterie.fitting.monitor import FitEvent, active_monitors, emit


def test_progress_shows_events_of_its_step_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with Messages().progress("comparing", "model", total=2):
        emit(FitEvent("RandomForestRegressor", "tree", 8, 100))
        emit(FitEvent("CommitteeRegressor", "member", 1, 11, name="forest"))
        assert not emit(FitEvent("compare", "model", 1, 2, name="tree: one", measures={"r2": 0.5}))

    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "  tree: one, r2 0.5; about 0 s left\n"


def test_what_a_fit_prints_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with Messages().progress("fitting"):
        print("a print of somebody's own")  # noqa: T201

    assert capsys.readouterr().out == "a print of somebody's own\n"


def test_quiet_progress_monitors_nothing() -> None:
    with Messages(quiet=True).progress("fitting"):
        assert not active_monitors()


@pytest.mark.parametrize(
    ("seconds", "end"), [(60.0, "; at most 60 s left\n"), (None, "\n")], ids=["limit", "no limit"]
)
def test_the_time_that_is_left_is_shown(
    seconds: float | None, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Messages().progress("fitting", seconds=seconds):
        emit(FitEvent("CommitteeRegressor", "member", 1, name="forest", seconds=1.0))

    assert capsys.readouterr().err == f"  forest, 1.0 s{end}"


def test_an_error_keeps_its_exit_code_and_its_fields_in_another_process() -> None:
    error = pickle.loads(
        pickle.dumps(CommandError("no column 'a'.", DATA, parameter="--target", received="a"))
    )

    assert (exit_code_of(error), error.parameter, error.received, str(error)) == (
        DATA,
        "--target",
        "a",
        "no column 'a'.",
    )
