"""A model is an ordinary object: cloned, copied, pickled, put into pipelines, fitted again."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie.errors import InvalidInput
from tests.helpers.errors import raised
from tests.helpers.estimators import (
    ESTIMATORS,
    NETWORKS,
    OF_COPIES,
    OF_MEMBERS,
    OF_PORTFOLIOS,
    WITHOUT_TARGET,
    answers,
    fingerprint,
    make,
    no_score,
    params_of,
    random_table,
    two_sizes,
)

pytestmark = pytest.mark.parametrize("estimator", ESTIMATORS)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_a_copy_answers_with_the_same_bits(estimator: type[Any], copied: Any) -> None:
    X, y = random_table(estimator)
    model = make(estimator).fit(X, y)

    twin = copied(model)

    assert np.array_equal(answers(twin, X), answers(model, X))
    assert params_of(twin) == params_of(model)
    assert fingerprint(twin) == fingerprint(model)


def test_a_pickle_of_a_model_with_categories_knows_them(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    table = {"size": X[:, 0], "town": np.array(["Oslo", "Rome", "Cork"])[np.digitize(X[:, 1], [-0.5, 0.5])]}
    model = make(estimator).fit(table, y)

    twin = pickle.loads(pickle.dumps(model))

    new = {"town": ["Rome", "Lima", None], "size": [0.0, 1.0, np.nan]}
    assert np.array_equal(answers(twin, new), answers(model, new))


def test_every_protocol_of_pickle_works(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator).fit(X, y)

    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert fingerprint(pickle.loads(pickle.dumps(model, protocol))) == fingerprint(model)


def test_a_clone_has_the_parameters_and_no_fit(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator, max_depth=3).fit(X, y)

    fresh = clone(model)

    assert params_of(fresh) == params_of(model)
    with pytest.raises(NotFittedError, match=estimator.__name__):
        answers(fresh, X)
    assert fingerprint(fresh.fit(X, y)) == fingerprint(model)


def test_set_params_takes_effect_at_the_next_fit(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    [(param, (small, large))] = two_sizes(estimator).items()
    model = make(estimator).set_params(**{param: small}).fit(X, y)
    before = fingerprint(model)

    model.set_params(**{param: large})

    assert fingerprint(model) == before
    fresh = make(estimator).set_params(**{param: large})
    assert fingerprint(model.fit(X, y)) == fingerprint(fresh.fit(X, y)) != before


def test_set_params_refuses_a_name_it_does_not_know(estimator: type[Any]) -> None:
    with pytest.raises(ValueError, match="max_dept"):
        make(estimator).set_params(max_dept=3)


def test_a_second_fit_forgets_the_first(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator).fit(X[:, :2], y)

    model.fit(X, y)

    assert model.n_features_in_ == 4
    assert fingerprint(model) == fingerprint(make(estimator).fit(X, y))


def test_a_refused_fit_can_be_put_right(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator)
    if estimator in WITHOUT_TARGET:
        with raised(InvalidInput, parameter="sample_weight", received=[len(X), len(X) - 1]):
            model.fit(X, sample_weight=np.ones(len(X) - 1))
    else:
        with raised(InvalidInput, parameter="y", received=[len(y), len(y) - 1], about="inconsistent"):
            model.fit(X, y[:-1])

    assert fingerprint(model.fit(X, y)) == fingerprint(make(estimator).fit(X, y))


def test_predict_changes_nothing(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator).fit(X, y)
    before = pickle.dumps(model)

    answers(model, X)
    answers(model, X[:1])

    assert pickle.dumps(model) == before


def test_fit_returns_the_model_and_keeps_its_parameters(estimator: type[Any]) -> None:
    model = make(estimator)
    before = model.get_params()

    assert model.fit(*random_table(estimator)) is model
    assert model.get_params() == before


def test_a_pipeline_and_a_cross_validation_take_it(estimator: type[Any]) -> None:
    X, y = random_table(estimator, 200)

    scoring = no_score if estimator in WITHOUT_TARGET else None
    scores = cross_val_score(make_pipeline(StandardScaler(), make(estimator)), X, y, cv=3, scoring=scoring)

    assert (scores > 0.3).all()


def test_rows_are_answered_one_by_one_as_together(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator).fit(X, y)

    together = answers(model, X)

    assert np.array_equal(np.concatenate([answers(model, row[None]) for row in X]), together)


def test_importances_are_shares(estimator: type[Any]) -> None:
    if not hasattr(estimator, "feature_importances_"):
        assert estimator in NETWORKS + OF_MEMBERS + OF_COPIES + OF_PORTFOLIOS + WITHOUT_TARGET
        return
    X, y = random_table(estimator, 200)
    importances = make(estimator).fit(X, y).feature_importances_

    assert importances.shape == (4,)
    assert importances.sum() == pytest.approx(1)
    assert importances.min() >= 0
    assert estimator in WITHOUT_TARGET or importances.argmax() == 0
