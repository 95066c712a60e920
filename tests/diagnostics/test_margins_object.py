"""The measures of a Margins object, for any numbers."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coterie.diagnostics import Margins
from coterie.diagnostics.votes import voting_margins
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.votes import VoteCount
from tests.naive.margins import naive_share

VOTES = st.integers(2, 4).flatmap(
    lambda k: arrays(np.float64, st.tuples(st.integers(1, 8), st.just(k)), elements=st.floats(0, 1e6))
)
VALUES = arrays(
    np.float64,
    st.tuples(st.integers(1, 3), st.integers(1, 12)),
    elements=st.sampled_from(np.linspace(-1, 1, 9)),
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(votes=VOTES, seed=st.integers(0, 1000))
def test_margins_lie_between_minus_one_and_one(votes: np.ndarray, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(votes.shape[1], size=len(votes))
    found = voting_margins(VoteCount(votes, np.asarray(votes.sum(axis=1))), codes)

    voted = votes.sum(axis=1) > 0
    assert np.isnan(found[~voted]).all()
    assert (np.abs(found[voted]) <= 1).all()
    right = votes[np.arange(len(votes)), codes] > np.delete(votes, 0, 1).max(axis=1)
    first = (codes == 0) & voted & (votes.sum(axis=1) > 1e-300)
    np.testing.assert_array_equal(found[first] > 0, right[first])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(values=VALUES, theta=st.sampled_from(np.linspace(-1, 1, 17).tolist()))
def test_the_distribution_counts(values: np.ndarray, theta: float) -> None:
    found = Margins(values, np.arange(1, len(values) + 1))

    assert found.error(theta) == pytest.approx([naive_share(row, theta) for row in values.tolist()])
    np.testing.assert_array_equal(found.distribution([theta, 1.0])[:, 0], found.error(theta))
    np.testing.assert_array_equal(found.distribution(1.0), 1.0)
    np.testing.assert_array_equal(found.minimum, values.min(axis=1))
    np.testing.assert_allclose(found.mean, values.mean(axis=1), atol=1e-15)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(values=VALUES, q=st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]))
def test_a_quantile_is_the_first_margin_that_reaches_its_share(values: np.ndarray, q: float) -> None:
    found = Margins(values, np.arange(1, len(values) + 1))

    for place, quantile in enumerate(found.quantile(q)):
        at_most = np.mean(values[place] <= quantile)
        below = np.mean(values[place] < quantile)
        assert at_most >= q - 1e-12
        assert below < q or quantile == values[place].min()


def test_the_repr_of_many_rounds_is_short() -> None:
    found = Margins(np.full((40, 3), 0.5), np.arange(1, 41))

    assert len(repr(found).splitlines()) == 13
    assert "100.00 %" in repr(Margins(-found.margins, found.rounds))


def test_steps_of_a_round_that_was_not_chosen() -> None:
    found = Margins(np.zeros((1, 2)), np.array([7]))

    with pytest.raises(InvalidParameter) as caught:
        found.steps(5)
    assert (caught.value.parameter, caught.value.allowed) == ("number", "one of the rounds [7]")


@pytest.mark.parametrize("q", [-0.1, 1.1, [[0.5]], np.nan])
def test_a_quantile_is_a_share(q: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Margins(np.zeros((1, 2)), np.array([7])).quantile(q)  # type: ignore[arg-type]
    assert (caught.value.parameter, caught.value.allowed) == ("q", "a number in [0, 1], or a list of them")


@pytest.mark.parametrize("theta", [np.nan, [[0.5]]])
def test_a_threshold_is_a_number(theta: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Margins(np.zeros((1, 2)), np.array([7])).distribution(theta)  # type: ignore[arg-type]
    assert (caught.value.parameter, caught.value.allowed) == ("theta", "a number or a list of numbers")


def test_without_any_known_margin_the_round_is_named() -> None:
    with pytest.raises(InvalidInput) as caught:
        Margins(np.full((1, 2), np.nan), np.array([7])).error()
    assert (caught.value.received, caught.value.hint) == (7, "Choose a later round.")


def test_margins_survive_pickling() -> None:
    found = pickle.loads(pickle.dumps(Margins(np.array([[0.5, 1.0]]), np.array([7]))))

    assert found.error(0.5).tolist() == [0.5]
