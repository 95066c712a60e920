"""Parts of the command line, each on its own."""

import numpy as np
import pytest

from coterie.cli.errors import CommandError
from coterie.cli.evaluate import QualityGate, check_gates
from coterie.cli.models import _reading
from coterie.cli.training import _looks_like_id


@pytest.mark.parametrize("kinds", ["{", "[]", "{}"])
def test_notes_that_cannot_be_read_say_nothing_about_columns(kinds):
    assert _reading({"kinds": kinds}) == {}


def test_measurements_are_no_ids():
    rows = np.arange(1000)
    assert _looks_like_id(rows, 1000)
    assert not _looks_like_id(rows + 0.25, 1000)
    assert not _looks_like_id(rows, 999)


@pytest.mark.parametrize("is_loss", [True, False])
def test_a_gate_is_closed_beyond_its_bound_and_not_at_it(is_loss):
    gate = QualityGate("measure", 0.5, is_loss)
    beyond, within = (0.6, 0.4) if is_loss else (0.4, 0.6)
    check_gates([gate], {"measure": 0.5})
    check_gates([gate], {"measure": within})
    with pytest.raises(
        CommandError, match=f"measure is {beyond}, {'over' if is_loss else 'under'} 0.5"
    ) as caught:
        check_gates([gate], {"measure": beyond})
    assert caught.value.received == {"measure": beyond}


@pytest.mark.parametrize(("is_loss", "option"), [(True, "--fail-over"), (False, "--fail-under")])
def test_a_measure_that_cannot_be_computed_closes_no_gate_and_is_an_error_of_its_option(is_loss, option):
    gate = QualityGate("measure", 0.5, is_loss)
    for found in ({"measure": float("nan")}, {}):
        with pytest.raises(CommandError, match="cannot be computed from these rows") as caught:
            check_gates([gate], found)
        assert (caught.value.parameter, caught.value.received) == (option, "measure")
