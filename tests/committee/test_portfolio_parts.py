"""What members of the portfolio are fitted with, and the units in which their errors are measured."""

from dataclasses import replace

import numpy as np
import pytest

from coterie._typing import Task
from coterie.committee import weights as weights_module
from coterie.committee.candidates.configurations import names_for
from coterie.committee.metrics import RowTargets, _unit
from coterie.committee.portfolio import Shape, portfolio_of
from coterie.committee.weights import OutOfFoldPredictions


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_forests_of_folds_measure_nothing_out_of_bag(task: Task) -> None:
    entries = portfolio_of(["extra_trees", "forest"], task, Shape(1000, 250, 4))

    assert [entry.estimator.oob_score for entry in entries] == [False, False]
    assert [entry.single_fit is None for entry in entries] == [True, False]


@pytest.mark.parametrize(
    ("largest", "unit"),
    [(0.0, 1.0), (3.0, 1.0), (1e200, 2.0**664), (1e-200, 2.0**-665), (5e-324, 2.0**-1000)],
)
def test_numbers_whose_squares_are_no_floats_are_divided_by_a_power_of_two(
    largest: float, unit: float
) -> None:
    assert _unit(np.array([0.0, -largest])) == unit


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("several", [2, 8])
def test_more_rows_columns_and_classes_never_take_less_time_or_memory(task: Task, several: int) -> None:
    small = Shape(2_000, 500, 10, several)
    larger = [
        replace(small, n_train=4_000),
        replace(small, n_columns=500),
        replace(small, n_outputs=several + 2),
        Shape(10_000_000, 500, 100, several),
    ]
    for entry in portfolio_of(names_for(task), task, small):
        assert entry.seconds is not None
        assert entry.seconds(small) > 0
        assert all(entry.seconds(shape) >= entry.seconds(small) for shape in larger), entry.name
        assert entry.seconds(replace(small, n_train=4_000)) > entry.seconds(small)
        if entry.megabytes is not None:
            assert all(entry.megabytes(shape) >= entry.megabytes(small) > 0 for shape in larger), entry.name


def test_members_are_tried_on_tables_of_their_size_and_taken_anywhere_if_they_are_named() -> None:
    def tried(n_rows: int, n_columns: int = 10) -> set[str]:
        return {
            entry.name for entry in portfolio_of("auto", "regression", Shape(n_rows, n_rows // 4, n_columns))
        }

    dear = {"kernel", "gaussian_process", "network", "wide_network"}
    assert tried(40) & dear == {"kernel", "gaussian_process"}
    assert tried(1_000) >= dear
    assert tried(1_000, 300) & dear == {"kernel", "network", "wide_network"}
    assert tried(5_000) & dear == {"kernel", "network", "wide_network"}
    assert tried(50_000) & dear == {"network", "wide_network"}
    assert tried(200_000) & dear == set()
    named = portfolio_of(["gaussian_process"], "regression", Shape(200_000, 50_000, 10))
    assert [(entry.name, entry.max_rows) for entry in named] == [("gaussian_process", 3_000)]


def test_networks_of_folds_are_one_each_and_the_single_fit_leaves_every_row_out() -> None:
    for entry in portfolio_of(["network", "wide_network"], "classification", Shape(1000, 250, 4)):
        assert entry.estimator.n_estimators == 1
        assert entry.single_fit.n_estimators == 5


def test_a_temperature_is_found_from_ten_thousand_rows_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    monkeypatch.setattr(weights_module, "temperature_of", lambda proba, _: sizes.append(len(proba)) or 1.0)
    for n_rows in (9_999, 10_000, 10_001, 30_000):
        rows = RowTargets(np.zeros(n_rows, dtype=np.int64), np.ones(n_rows))
        known = np.ones(n_rows, dtype=bool)
        oof = OutOfFoldPredictions(np.full((1, n_rows, 2), 0.5), rows, known, [])
        weights_module._temperature(np.ones(1), oof, known)

    assert sizes == [9_999, 10_000, 10_000, 10_000]
