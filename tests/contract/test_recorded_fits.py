"""Models have the bits that they had when the hashes were recorded."""

import json

import pytest

from tests.helpers.recorded_fits import CASES, RECORDED, environment

KNOWN = json.loads(RECORDED.read_text(encoding="utf-8"))


def test_every_case_is_recorded() -> None:
    assert set(CASES) == set(KNOWN["hashes"])
    assert len(CASES) >= 60
    assert len(set(KNOWN["hashes"].values())) == len(CASES), "two fits that are the same"


@pytest.mark.skipif(
    environment() != KNOWN["environment"],
    reason="recorded with other versions or another processor, whose last bits may differ",
)
@pytest.mark.parametrize("name", CASES)
def test_a_fit_has_the_bits_it_had(name: str) -> None:
    assert CASES[name]() == KNOWN["hashes"][name]
