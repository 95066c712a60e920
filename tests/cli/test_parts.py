"""Parts of the command line, each on its own."""

import numpy as np
import pytest

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
