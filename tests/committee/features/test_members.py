"""The member that generates its own features, alone and in a committee."""

from typing import Any

import numpy as np
import pytest

from coterie import CommitteeClassifier, CommitteeRegressor, GradientBoostingClassifier, load, save
from coterie.committee.features import generated_features, members
from coterie.committee.features.members import GeneratedFeaturesClassifier
from tests.committee.features.test_generated_features import colours, flats

_SMALL = {"n_estimators": 20, "learning_rate": 0.2, "early_stopping": False}


def test_gains_of_generated_columns_are_those_of_their_sources() -> None:
    X, y = colours()
    model = GeneratedFeaturesClassifier(GradientBoostingClassifier(**_SMALL), random_state=0).fit(X, y)
    assert len(model.features_.recipes_) > 0
    gains = model.feature_importances_
    assert gains.shape == (3,)
    assert gains[:2].min() > 5 * gains[2]
    np.testing.assert_allclose(gains.sum(), 1.0)


def test_the_committee_has_a_member_with_generated_features(tmp_path: Any) -> None:
    X, y = colours()
    model = CommitteeClassifier(None, portfolio=["linear", "boosting_features"], cv=3, random_state=0).fit(
        X, y
    )
    assert model.members_ == ["linear", "boosting_features"]
    assert model.weights_[1] > 0.5
    explained = model.explain({name: own[:20] for name, own in X.items()}, n_permutations=8)
    assert explained.column_names == ("red", "blue", "noise")
    assert model.feature_importances_.shape == (3,)
    save(model, tmp_path / "model.coterie")
    np.testing.assert_array_equal(load(tmp_path / "model.coterie").predict_proba(X), model.predict_proba(X))
    repeated = model.repeat(X, y)
    np.testing.assert_array_equal(repeated.predict_proba(X), model.predict_proba(X))


def test_features_are_generated_without_the_rows_that_a_fold_holds_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[Any, Any]] = []

    class Spy(generated_features.GeneratedFeatures):
        def fit_transform(self, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append((np.asarray(X["size"]).copy(), np.asarray(y).copy()))
            return super().fit_transform(X, y, *args, **kwargs)

    monkeypatch.setattr(members, "GeneratedFeatures", Spy)
    X, y = flats(200)
    CommitteeRegressor(None, portfolio=["boosting_features"], cv=4, random_state=0).fit(X, y)
    assert len(seen) == 4, "once for each fold"
    for sizes, targets in seen:
        assert len(sizes) == 150
        assert len(set(targets.tolist()) & set(y.tolist())) == 150
    times = [sum(value in sizes for sizes, _ in seen) for value in X["size"]]
    assert set(times) == {3}, "each row is held out of one fold"


def test_weights_and_groups_reach_the_member() -> None:
    X, y = flats(200)
    model = CommitteeRegressor(None, portfolio=["boosting_features"], cv=3, random_state=0)
    model.fit(X, y, np.linspace(0.5, 1.5, 200), groups=np.arange(200) // 4)
    assert model.members_ == ["boosting_features"]
