"""Output codes that users give, and code sizes, that cannot work."""

import numpy as np
import pytest

from coterie.combining._code_matrix import as_code, code_matrix
from coterie.errors import InvalidParameter


def test_a_class_that_a_member_ignores_is_not_told_apart_by_it():
    with pytest.raises(InvalidParameter, match="apart"):
        as_code([[1, 1], [1, 0], [-1, -1]], np.array(["ash", "elm", "fir"]))


def test_more_members_than_anyone_could_fit_are_refused():
    with pytest.raises(InvalidParameter) as refused:
        code_matrix("dense", 6, 1e6, 0)
    assert refused.value.parameter == "code_size"
    assert refused.value.received == 1e6
