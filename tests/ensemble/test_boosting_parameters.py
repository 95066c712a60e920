"""scikit-learn's parameters of boosting in our terms: shares of rows and of weight become absolute."""

import pytest
from sklearn import ensemble as theirs

from coterie.ensemble.boosting_parameters import exact_settings, histogram_settings


def test_limits_are_shares_of_the_rows_that_a_tree_sees() -> None:
    given = theirs.GradientBoostingRegressor(
        n_iter_no_change=3,  # leaves out 20 of 100 rows
        validation_fraction=0.2,
        subsample=0.5,  # so that each tree sees 40
        min_samples_leaf=0.1,
        min_samples_split=7,
        ccp_alpha=0.25,
    ).get_params()
    found = exact_settings(given, n_rows=100, share_of_features=2.0, total_weight=None)
    assert (found["min_samples_leaf"], found["min_samples_split"]) == (4, 7)
    assert found["leaf_penalty"] == pytest.approx(10.0)
    assert (found["max_features"], found["early_stopping"], found["n_iter_no_change"]) == (1.0, True, 3)


def test_limits_of_weight_follow_the_weights() -> None:
    given = theirs.GradientBoostingRegressor(subsample=0.5, min_weight_fraction_leaf=0.1).get_params()
    found = exact_settings(given, n_rows=100, share_of_features=1.0, total_weight=300.0)
    assert found["min_child_weight"] == pytest.approx(15.0)
    assert not found["early_stopping"]


@pytest.mark.parametrize(("given", "share"), [(None, 0.1), (0.3, 0.3), (25, 0.125)])
def test_a_number_of_rows_to_leave_out_is_a_share_of_all(given: float | None, share: float) -> None:
    params = {**theirs.HistGradientBoostingClassifier().get_params(), "validation_fraction": given}
    found = histogram_settings(params, n_rows=200, stops=True)
    assert found["validation_fraction"] == share
    assert found["n_estimators"] == 100
