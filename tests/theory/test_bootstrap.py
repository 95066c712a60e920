"""How many rows a bootstrap leaves out, and what can be learned from them."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from coterie import BaggingRegressor, RandomForestRegressor
from coterie.diagnostics import bootstrap


@pytest.mark.parametrize(("n", "m"), [(3, 3), (4, 2), (3, 5)])
def test_a_row_is_left_out_of_m_draws_as_often_as_the_formula_says(n: int, m: int) -> None:
    """By counting all n^m bags: the row is absent from (n - 1)^m of them, and alone in one."""
    bags = list(product(range(n), repeat=m))

    absent = Fraction(sum(0 not in bag for bag in bags), len(bags))
    assert absent == (1 - Fraction(1, n)) ** m
    assert Fraction(sum(set(bag) == {0} for bag in bags), len(bags)) == Fraction(1, n) ** m


def test_the_share_of_rows_left_out_goes_to_one_over_e() -> None:
    shares = np.array([(1 - 1 / n) ** n for n in (10, 100, 1_000, 1_000_000)])

    assert (np.diff(shares) > 0).all()
    assert shares[-1] == pytest.approx(np.exp(-1), abs=1e-6)
    assert shares.round(3).tolist() == [0.349, 0.366, 0.368, 0.368]


def test_bags_of_a_fit_leave_out_37_per_cent_of_the_rows() -> None:
    X = np.arange(1000.0)[:, None]
    model = BaggingRegressor(n_estimators=50, random_state=0).fit(X, X[:, 0])
    seen = [len(np.unique(rows)) / 1000 for rows in model.estimators_samples_]

    assert np.mean(seen) == pytest.approx(1 - np.exp(-1), abs=0.005)


def test_the_error_out_of_bag_is_about_the_error_on_new_rows_and_rather_above_it() -> None:
    """It is the error of fewer members, fitted to fewer rows, so it is not below that of the whole forest."""
    found = []
    for seed in range(40):
        X, y = make_friedman1(1100, noise=1, random_state=seed)
        forest = RandomForestRegressor(100, random_state=seed).fit(X[:100], y[:100])
        out_of_bag = np.nanmean((forest.oob_prediction_ - y[:100]) ** 2)
        new = ((forest.predict(X[100:]) - y[100:]) ** 2).mean()
        training = ((forest.predict(X[:100]) - y[:100]) ** 2).mean()
        found.append((out_of_bag, new, training))
    out_of_bag, new, training = np.mean(found, axis=0)

    assert new < out_of_bag < 1.1 * new
    assert training < 0.2 * new


def test_with_many_members_those_that_are_left_out_are_not_missed() -> None:
    """The members out of bag are 37 % of all, and half as many again change their error little."""
    X, y = make_friedman1(200, noise=1, random_state=0)
    errors = RandomForestRegressor(600, random_state=0).fit(X, y).oob_errors_

    assert abs(errors[599] - errors[399]) < 0.01 * errors[599]
    assert errors[9] > 1.2 * errors[599]


def test_the_632_estimate_lies_between_the_training_error_and_the_error_out_of_bag() -> None:
    X, y = make_friedman1(120, noise=1, random_state=0)
    found = bootstrap(RandomForestRegressor(20, random_state=0), X, y, n_repeats=20, random_state=0)

    assert found.apparent < found.error_632 < found.error_632_plus < found.leave_one_out
    assert found.error_632 == pytest.approx(0.368 * found.apparent + 0.632 * found.leave_one_out, rel=1e-3)


def test_parts_of_a_table_are_small_and_their_members_are_weak() -> None:
    """Ten bootstraps hold 63 % of the rows each, ten parts 10 %; members of parts err more."""
    X, y = make_friedman1(1200, noise=1, random_state=0)
    bags = BaggingRegressor(n_estimators=10, random_state=0).fit(X[:200], y[:200])
    parts = BaggingRegressor(n_estimators=10, bootstrap="partition", max_samples=0.1, random_state=0).fit(
        X[:200], y[:200]
    )

    def member_error(model: BaggingRegressor) -> float:
        return float(np.mean([((m.predict(X[200:]) - y[200:]) ** 2).mean() for m in model.estimators_]))

    assert sorted(np.concatenate(parts.estimators_samples_)) == list(range(200))
    assert member_error(parts) > 1.2 * member_error(bags)
    assert parts.score(X[200:], y[200:]) > 0.4


def test_rows_out_of_bag_tell_how_good_a_member_is() -> None:
    """The mean error of members on the rows that they did not draw, and on new rows."""
    X, y = make_friedman1(2200, noise=1, random_state=0)
    model = BaggingRegressor(n_estimators=100, random_state=0).fit(X[:200], y[:200])
    left_out, new = [], []
    for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        rows = np.setdiff1d(np.arange(200), drawn)
        left_out.append(((member.predict(X[rows]) - y[rows]) ** 2).mean())
        new.append(((member.predict(X[200:]) - y[200:]) ** 2).mean())

    np.testing.assert_allclose(model.oob_member_errors_, left_out)
    assert np.mean(left_out) == pytest.approx(np.mean(new), rel=0.15)
