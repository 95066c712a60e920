"""Train the small models of tests/export/data with LightGBM and XGBoost, and note what they answer.

    python tools/make_import_fixtures.py

Needs lightgbm, xgboost and pandas; the tests that read the files do not. Every model is saved as its library saves it.
Beside it, a JSON file holds rows to ask it about (also rows with values at thresholds, missing values and categories it
never saw) and its answers: predictions, scores and leaves.
"""

import json
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb

FOLDER = Path(__file__).parents[1] / "tests" / "export" / "data"
TOWNS = ["Bath", "Cork", "Lund", "Oslo", "Rome"]


def table(n_rows: int, seed: int) -> pd.DataFrame:
    """Numbers with gaps, many zeros, codes of categories and text."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows).round(2)),
            "debt": np.where(rng.random(n_rows) < 0.5, 0.0, rng.normal(size=n_rows).round(2)),
            "shop": rng.integers(0, 40, n_rows).astype(float),
            "town": pd.Categorical(rng.choice(TOWNS, n_rows)),
        }
    )


def signal(X: pd.DataFrame) -> np.ndarray:
    by_town = X["town"].map(dict(zip(TOWNS, [0, 1, -1, 0, 2], strict=True))).astype(float)
    return (X["age"].fillna(1) + X["debt"] + np.sin(X["shop"]) + by_town).to_numpy()


def awkward(X: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Rows of the table whose numbers are moved a little, or replaced by what is rare."""
    rng = np.random.default_rng(seed)
    rows = X.sample(40, random_state=seed).reset_index(drop=True)
    for name in ("age", "debt", "shop"):
        values = rows[name].to_numpy(copy=True)
        which = rng.integers(0, 12, len(values))
        for number, other in enumerate(
            [np.nextafter(values, np.inf), np.nextafter(values, -np.inf), np.nan, 0.0, -1.0, 2.5, 1e-36]
        ):
            values = np.where(which == number, other, values)
        rows[name] = values
    return rows


def listed(values: Any) -> Any:
    """As JSON: lists, with None where a number is missing."""
    if isinstance(values, pd.DataFrame):
        return {name: listed(values[name].to_numpy()) for name in values}
    array = np.asarray(values)
    if array.dtype.kind == "f":
        array = array.astype(object)
        array[pd.isna(array)] = None
    return array.tolist()


def note(name: str, rows: pd.DataFrame, **answers: Any) -> None:
    content = {"rows": listed(rows), **{key: listed(value) for key, value in answers.items()}}
    (FOLDER / f"{name}.answers.json").write_text(json.dumps(content) + "\n", encoding="utf-8")


def lightgbm_models() -> None:
    X = table(500, 0)
    numbers, score = X[["age", "debt", "shop"]], signal(X)
    common = {"verbose": -1, "num_threads": 1, "num_leaves": 6, "min_data_in_leaf": 5}
    by_category = {"min_data_per_group": 2, "cat_smooth": 1}
    models = {
        "lightgbm_binary": (numbers, (score > 1).astype(int), {"objective": "binary", "sigmoid": 1.5}, []),
        "lightgbm_zero_missing": (numbers, score, {"objective": "regression", "zero_as_missing": True}, []),
        "lightgbm_multiclass": (
            X,
            np.digitize(score, [0, 2]),
            {"objective": "multiclass", "num_class": 3, **by_category},
            ["shop", "town"],
        ),
        "lightgbm_poisson": (numbers, np.exp(score / 3), {"objective": "poisson", **by_category}, ["shop"]),
        "lightgbm_forest": (
            numbers,
            (score > 1).astype(int),
            {"objective": "binary", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
            [],
        ),
        "lightgbm_linear": (numbers, score, {"objective": "regression", "linear_tree": True}, []),
    }
    for name, (table_of, y, params, categories) in models.items():
        data = lgb.Dataset(table_of, y, categorical_feature=categories, params={**common, **params})
        booster = lgb.train({**common, **params}, data, 4)
        booster.save_model(FOLDER / f"{name}.txt")
        rows = awkward(table_of, 1)
        note(name, rows, answers=booster.predict(rows), leaves=booster.predict(rows, pred_leaf=True))


def xgboost_models() -> None:
    X = table(500, 0)
    numbers, score = X[["age", "debt", "shop"]], signal(X)
    classes = np.digitize(score, [0, 2])
    common = {
        "n_estimators": 4,
        "max_depth": 3,
        "n_jobs": 1,
        "enable_categorical": True,
        "max_cat_to_onehot": 2,
    }
    models = {
        "xgboost_binary": (numbers, (score > 1).astype(int), xgb.XGBClassifier(**common)),
        "xgboost_multiclass": (
            numbers,
            classes,
            xgb.XGBClassifier(
                **{**common, "n_estimators": 2, "max_depth": 2}, num_parallel_tree=2, subsample=0.7
            ),
        ),
        "xgboost_categories": (X, score, xgb.XGBRegressor(**common, booster="dart", rate_drop=0.5)),
        "xgboost_tweedie": (numbers, np.exp(score), xgb.XGBRegressor(**common, objective="reg:tweedie")),
        "xgboost_vectors": (
            numbers,
            np.stack([score, score**2], axis=1),
            xgb.XGBRegressor(**common, multi_strategy="multi_output_tree"),
        ),
    }
    for name, (table_of, y, model) in models.items():
        model.fit(table_of, y)
        for ending in ("json", "ubj"):
            model.save_model(FOLDER / f"{name}.{ending}")
        rows = awkward(table_of, 1)
        answer = model.predict_proba if hasattr(model, "predict_proba") else model.predict
        note(name, rows, answers=answer(rows), leaves=model.apply(rows).astype(int))


def xgboost_best_iteration() -> None:
    """A model that stopped early: scikit-learn's interface answers with some of its trees, the booster with all."""
    X = table(500, 0)[["age", "debt", "shop"]]
    y = np.random.default_rng(0).random(500)
    model = xgb.XGBRegressor(n_estimators=9, max_depth=2, n_jobs=1, early_stopping_rounds=3)
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=False)
    rows = awkward(X, 1)
    model.save_model(FOLDER / "xgboost_stopped.json")
    note("xgboost_stopped", rows, answers=model.predict(rows), leaves=model.apply(rows).astype(int))
    booster = model.get_booster()
    booster.save_model(FOLDER / "xgboost_booster.json")
    data = xgb.DMatrix(rows)
    leaves = booster.predict(data, pred_leaf=True)
    note("xgboost_booster", rows, answers=booster.predict(data), leaves=leaves.astype(int))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    lightgbm_models()
    xgboost_models()
    xgboost_best_iteration()
