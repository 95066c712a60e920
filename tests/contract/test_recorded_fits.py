"""Models have the bits that they had when the hashes were recorded."""

import json

import pytest

from tests.helpers.recorded_fits import CASES, RECORDED, processor, versions

KNOWN = json.loads(RECORDED.read_text(encoding="utf-8"))


def test_every_case_is_recorded() -> None:
    assert set(CASES) == set(KNOWN["hashes"])
    assert len(CASES) >= 60
    assert len(set(KNOWN["hashes"].values())) == len(CASES), "two fits that are the same"


def test_many_cases_hold_on_any_processor() -> None:
    assert set(KNOWN["anywhere"]) <= set(CASES)
    assert len(KNOWN["anywhere"]) >= 40


@pytest.mark.skipif(
    versions() != KNOWN["versions"], reason="recorded with other versions of numpy or scikit-learn"
)
@pytest.mark.parametrize("name", CASES)
def test_a_fit_has_the_bits_it_had(name: str) -> None:
    if name not in KNOWN["anywhere"] and processor() != KNOWN["processor"]:
        pytest.skip("recorded on another processor, where the last bits of numpy and BLAS may differ")
    assert CASES[name]() == KNOWN["hashes"][name]
