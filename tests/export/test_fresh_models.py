"""Where LightGBM or XGBoost is installed: models trained now answer here as there."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from coterie.export import import_model

N_ROWS = 300


def table(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "first one": np.where(rng.random(N_ROWS) < 0.2, np.nan, rng.normal(size=N_ROWS)),
            "second": np.where(rng.random(N_ROWS) < 0.4, 0.0, rng.normal(size=N_ROWS).round(1)),
            "shop": pd.Categorical(rng.integers(0, 30, N_ROWS)),
            "town": pd.Categorical(rng.choice(["Bath", "Cork", "Lund"], N_ROWS)),
        }
    )


def signal(X: pd.DataFrame) -> np.ndarray:
    shop = np.sin(X["shop"].astype(float))
    return (X["first one"].fillna(1) + X["second"] + shop + (X["town"] == "Cork")).to_numpy()


def agree(original: Any, X: Any, *, tolerance: float) -> None:
    model = import_model(original)
    answer = "predict_proba" if hasattr(original, "predict_proba") else "predict"
    ours, theirs = getattr(model, answer)(X), getattr(original, answer)(X)
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    if answer == "predict_proba":
        np.testing.assert_array_equal(model.predict(X), original.predict(X))


@pytest.mark.parametrize("boosting", ["gbdt", "dart", "rf"])
@pytest.mark.parametrize("objective", ["regression", "tweedie", "quantile", "binary", "multiclassova"])
def test_models_of_lightgbm(objective: str, boosting: str) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X = table(0)
    classes = objective in ("binary", "multiclassova")
    y = np.abs(signal(X)) if not classes else np.array(["a", "b", "c"])[np.digitize(signal(X), [0, 1])]
    y = np.where(y == "c", "b", y) if objective == "binary" else y
    kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    settings = {
        "subsample": 0.7,
        "subsample_freq": 1,
        "min_child_samples": 3,
        "cat_smooth": 1,
        "min_data_per_group": 2,
    }
    original = kind(
        n_estimators=8, objective=objective, boosting_type=boosting, n_jobs=1, verbose=-1, **settings
    ).fit(X, y)
    agree(original, X, tolerance=1e-13)
    np.testing.assert_array_equal(
        import_model(original).apply(X), original.predict(X, pred_leaf=True).reshape(N_ROWS, -1)
    )


def test_lightgbm_answers_with_its_best_iteration() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X = table(0)
    y = np.random.default_rng(1).normal(size=N_ROWS)
    numbers = X[["first one", "second"]]
    train = lightgbm.Dataset(numbers[:200], y[:200], params={"verbose": -1})
    stop = lightgbm.early_stopping(2, verbose=False)
    booster = lightgbm.train(
        {"verbose": -1, "num_threads": 1},
        train,
        50,
        [train.create_valid(numbers[200:], y[200:])],
        callbacks=[stop],
        keep_training_booster=True,
    )
    assert len(import_model(booster).forest_) == booster.best_iteration < booster.current_iteration()
    agree(booster, numbers, tolerance=1e-13)


@pytest.mark.parametrize("settings", [{}, {"booster": "dart", "rate_drop": 0.3}, {"num_parallel_tree": 3}])
@pytest.mark.parametrize(
    "objective", ["reg:squarederror", "count:poisson", "binary:logistic", "multi:softprob"]
)
def test_models_of_xgboost(objective: str, settings: dict[str, Any]) -> None:
    xgboost = pytest.importorskip("xgboost")
    X = table(0)
    classes = objective.startswith(("binary", "multi"))
    y = np.abs(signal(X)) if not classes else np.digitize(signal(X), [0, 1] if "multi" in objective else [0])
    kind = xgboost.XGBClassifier if classes else xgboost.XGBRegressor
    original = kind(
        n_estimators=8,
        objective=objective,
        enable_categorical=True,
        max_cat_to_onehot=2,
        n_jobs=1,
        **settings,
    ).fit(X, y)
    agree(original, X, tolerance=1e-6)
    np.testing.assert_array_equal(import_model(original).apply(X), original.apply(X))


def test_a_number_that_means_missing_to_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    X = np.where(
        np.random.default_rng(0).random((N_ROWS, 3)) < 0.3, -999.0, table(0)[["second"] * 3].to_numpy()
    )
    original = xgboost.XGBRegressor(n_estimators=8, missing=-999.0, n_jobs=1).fit(X, signal(table(0)))
    agree(original, X, tolerance=1e-6)
    np.testing.assert_array_equal(import_model(original).apply(X), original.apply(X))
