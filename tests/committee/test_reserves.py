"""Time and memory that a committee keeps in reserve, by hand. The clock is ours."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coterie.committee._committee_data import Clock, CommitteeData, Deadline, FitLimits, thinned
from coterie.committee._portfolio_run import PortfolioRun
from coterie.committee.metrics import RowTargets, SquaredErrorMetric
from coterie.committee.portfolio import Entry
from coterie.fitting.monitor import FitEvent
from coterie.members.out_of_fold import Fold

N_ROWS, N_COLUMNS, N_FOLDS = 1000, 50, 4
Y = np.zeros(N_ROWS)


def a_run(limit: float | None = 100.0, **limits: Any) -> PortfolioRun:
    folds = [
        Fold(np.setdiff1d(np.arange(N_ROWS), test), test) for test in np.split(np.arange(N_ROWS), N_FOLDS)
    ]
    data = CommitteeData(
        np.zeros((N_ROWS, 1)), Y, RowTargets(Y, np.ones(N_ROWS)), None, None, folds, N_COLUMNS
    )
    clock = Clock(lambda: 30.0, 10.0, limit)
    return PortfolioRun(
        data, FitLimits("test", **({"max_iter": 25} | limits)), clock, 0, SquaredErrorMetric()
    )


def test_the_choice_of_weights_takes_a_score_for_each_member_addition_and_fold() -> None:
    run = a_run()
    assert run.reserve == 0.0  # no score was timed

    run._score_seconds = 0.01
    run.members = [SimpleNamespace()] * 3  # type: ignore[list-item]
    # Four folds and all rows; 25 additions, of a path that holds two of three members on average.
    assert run.reserve == pytest.approx(0.01 * 5 * 25 * 2)
    assert a_run(None).reserve == 0.0


def test_a_member_that_just_fits_into_the_time_left_is_fitted() -> None:
    run = a_run(limit=60.0)
    run._score_seconds, run.members = 0.1, [SimpleNamespace()]  # type: ignore[list-item]
    left = 60.0 - 20.0 - 0.1 * 5 * 25

    assert run.clock.left == 40.0
    assert run._too_late(Entry("line", None), left) is None
    assert run._late == set()

    # Beyond the whole time nothing is timed again.
    why = run._too_late(Entry("forest", None), 41.0)
    assert why == f"it would take about 41 s, and {left:.3g} s were left"
    assert run._late == {"forest"}


def test_memory_is_that_of_a_fold_and_of_the_models_of_all() -> None:
    run = a_run()
    working = 3 * 8e-6 * 750 * N_COLUMNS  # three tables of float64
    known = Entry("known", None, megabytes=lambda shape: 2.0 * shape.n_columns)

    assert run._megabytes(Entry("unknown", None)) == pytest.approx(working * (1 + N_FOLDS))
    assert run._megabytes(known) == pytest.approx(working + N_FOLDS * 100.0)


@pytest.mark.parametrize(("share", "fits"), [(1.0, True), (1.001, True), (0.999, False)])
def test_a_member_that_needs_all_the_memory_is_fitted_and_one_that_needs_more_is_not(
    share: float, fits: bool
) -> None:
    entry = Entry("known", None, megabytes=lambda _: 3.0)
    needed = a_run()._megabytes(entry)
    why = a_run(memory=share * needed)._reason_to_skip(entry)

    assert (why is None) == fits
    assert why is None or why.startswith(f"about {needed:.3g} MB would be needed; memory_limit=")


def test_no_more_than_max_members_are_fitted() -> None:
    run = a_run(None, max_members=2)
    for n_members, why in ((0, None), (1, None), (2, "max_members=2 were fitted")):
        run.members = [SimpleNamespace()] * n_members  # type: ignore[list-item]
        assert run._reason_to_skip(Entry("line", None)) == why


@pytest.mark.parametrize(("until", "late"), [(19.9, True), (20.0, False), (20.1, False)])
def test_a_fit_stops_after_its_time_and_not_at_its_end(until: float, late: bool) -> None:
    deadline = Deadline(Clock(lambda: 30.0, 10.0, 100.0), until)

    assert deadline(FitEvent("a fit", "round", 1, 3)) == late
    assert (deadline.stop, deadline.stopped) == (int(late), late)
    assert deadline(FitEvent("a fit", "round", 2, 3)) == late
    assert deadline.stop == int(late)  # the first event that came too late


def test_a_fit_whose_last_round_came_too_late_was_not_stopped() -> None:
    deadline = Deadline(Clock(lambda: 30.0, 10.0, 100.0), 0.0)

    assert deadline(FitEvent("a fit", "tree", 3, 3))
    assert (deadline.stop, deadline.stopped) == (1, False)


@pytest.mark.parametrize(
    ("most", "sizes"), [(9, [6, 3]), (10, [6, 3]), (6, [4, 2]), (3, [2, 1]), (1, [1, 1])]
)
def test_folds_hold_out_their_share_of_the_rows_and_one_at_least(most: int, sizes: list[int]) -> None:
    folds = [Fold(np.arange(6, 9), np.arange(6)), Fold(np.arange(6), np.arange(6, 9))]
    found = thinned(folds, most, seed=0)

    assert [len(fold.test) for fold in found] == sizes
    for fold, own in zip(folds, found, strict=True):
        assert own.train is fold.train
        assert set(own.test.tolist()) <= set(fold.test.tolist())
        assert (np.diff(own.test) > 0).all()
