"""The error of a majority: by counting, by simulation, and beside what members of a model do."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from coterie import RandomForestClassifier, RandomForestRegressor
from coterie.diagnostics import diversity, independent_voters, voters
from coterie.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
Y = X[:, 0] + X[:, 1] + RNG.normal(size=400) > 0


def test_twenty_five_voters_of_the_lecture() -> None:
    assert independent_voters(25, 0.35) == pytest.approx(0.06, abs=0.001)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_a_majority_by_counting(n: int) -> None:
    expected = 0.0
    for wrong in product([False, True], repeat=n):
        chance = np.prod([0.3 if one else 0.7 for one in wrong])
        expected += chance * (1.0 if 2 * sum(wrong) > n else 0.5 if 2 * sum(wrong) == n else 0.0)

    assert independent_voters(n, 0.3) == pytest.approx(expected)


def test_correlated_voters_by_simulation() -> None:
    rng = np.random.default_rng(0)
    hard = rng.beta(0.35 * 4, 0.65 * 4, size=200_000)  # 4 = (1 - 0.2) / 0.2
    share = (rng.binomial(11, hard) > 5).mean()

    assert independent_voters(11, 0.35, correlation=0.2) == pytest.approx(share, abs=0.005)


def test_voters_between_all_alike_and_all_alone() -> None:
    found = independent_voters(25, 0.35, np.array([0, 1e-9, 0.1, 0.5, 0.9, 1]))

    assert (np.diff(found) >= -1e-6).all()
    assert found[1] == pytest.approx(found[0], abs=1e-6)
    assert found[-1] == 0.35
    assert independent_voters(5, [[0.0, 1.0]]).tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("n", "error", "correlation", "parameter"),
    [(0, 0.5, 0, "n"), (2.5, 0.5, 0, "n"), (3, 1.2, 0, "error"), (3, 0.2, -0.1, "correlation")],
)
def test_what_is_refused(n: int, error: float, correlation: float, parameter: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        independent_voters(n, error, correlation)
    assert caught.value.parameter == parameter


def test_members_beside_voters_of_theory() -> None:
    model = RandomForestClassifier(25, random_state=0).fit(X[:200], Y[:200])
    found = voters(model, X[200:], Y[200:])
    said = np.array([tree.predict(X[200:]) for tree in model.estimators_])
    n_wrong = (said != Y[200:]).sum(axis=0)

    assert found.member_error == pytest.approx((said != Y[200:]).mean())
    assert found.majority_error == pytest.approx((n_wrong > 12).mean())
    assert found.ensemble_error == pytest.approx((model.predict(X[200:]) != Y[200:]).mean())
    np.testing.assert_allclose(found.wrong, np.bincount(n_wrong, minlength=26) / 200)
    assert found.independent_error == pytest.approx(independent_voters(25, found.member_error))
    assert found.independent_error < found.correlated_error < found.member_error
    for shares in (found.wrong, found.independent, found.correlated):
        assert shares.sum() == pytest.approx(1)
        assert shares @ np.arange(26) / 25 == pytest.approx(found.member_error)
    agreement = diversity(model, X[200:], Y[200:]).interrater_agreement
    assert found.correlation == pytest.approx(agreement)
    assert repr(found).startswith("25 voters, each wrong in a share of 0.")


def test_a_list_of_models_and_numbers() -> None:
    models = [LogisticRegression().fit(X, Y), GaussianNB().fit(X, Y)]

    assert np.isnan(voters(models, X, Y).ensemble_error)
    with pytest.raises(InvalidInput) as caught:
        voters(RandomForestRegressor(3).fit(X, X[:, 0]), X, X[:, 0])
    assert (caught.value.parameter, caught.value.allowed) == ("model", "an ensemble of classifiers")
