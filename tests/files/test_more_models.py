"""Models of many kinds in files: options, data and parts that the contract does not reach."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie.export import import_model
from coterie.losses import Quantile
from tests.helpers.alike import differences
from tests.helpers.mutations import loaded, stored
from tests.helpers.saved_models import FILES, noted
from tests.helpers.saved_models import answers as imported_answers

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
Y = X[:, 0] + X[:, 1] ** 2
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [0.0, 1.5])]
TOWNS = np.array([f"town {i % 30}" for i in range(150)])
STREETS = np.array([f"street {i}" for i in range(150)] * 4, dtype=object)[::4]
TABLE = {
    "size": np.where(RNG.random(150) < 0.1, np.nan, X[:, 0]),
    "town": TOWNS,
    "street": STREETS,
    "day": np.array([date(2024, 1, 1) + timedelta(days=i) for i in range(150)], dtype=object),
    "flag": X[:, 1] > 0,
}


def cases() -> dict[str, tuple[Any, Any, Any]]:
    boosting, forest = coterie.GradientBoostingRegressor, coterie.RandomForestRegressor
    return {
        "linear leaves": (boosting(n_estimators=5, linear_leaves=True), TABLE, Y),
        "statistics of pairs": (boosting(n_estimators=5, target_statistics="pairs"), TABLE, Y),
        "auto": (boosting(random_state=0), X[:60], Y[:60]),
        "several boosters, warm": (
            boosting(n_estimators=4, n_folds=2, warm_start=True, random_state=0),
            X,
            Y,
        ),
        "quantiles": (boosting(n_estimators=5, loss=Quantile((0.1, 0.5, 0.9))), X, Y),
        "dropout": (boosting(n_estimators=5, dropout_rate=0.5, random_state=0), X, Y),
        "several targets": (boosting(n_estimators=5), X, np.column_stack([Y, -Y])),
        "early stopping": (boosting(n_estimators=20, early_stopping=True, random_state=0), X, Y),
        "many classes": (coterie.GradientBoostingClassifier(n_estimators=2), X, np.arange(150) % 60),
        "classes as flags": (coterie.RandomForestClassifier(n_estimators=2), X, Y > 0),
        "one class": (coterie.RandomForestClassifier(n_estimators=2), X, np.zeros(150, int)),
        "several outputs of classes": (
            coterie.RandomForestClassifier(n_estimators=3, random_state=0),
            X,
            np.column_stack([LABELS, np.where(X[:, 2] > 0, "x", "y")]),
        ),
        "several outputs of numbers": (
            forest(n_estimators=3, random_state=0),
            TABLE,
            np.column_stack([Y, -Y]),
        ),
        "pruned by out-of-bag rows": (forest(n_estimators=5, prune="oob", random_state=0), TABLE, Y),
        "rows not kept": (forest(n_estimators=3, keep_rows=False, random_state=0), X, Y),
        "balanced bags": (
            coterie.RandomForestClassifier(n_estimators=3, class_weight="balanced"),
            TABLE,
            LABELS,
        ),
        "absolute error": (coterie.DecisionTreeRegressor(criterion="absolute_error", max_depth=3), TABLE, Y),
        "corrective votes": (
            coterie.AdaBoostClassifier(n_estimators=4, corrective="exponential"),
            TABLE,
            LABELS == "low",
        ),
        "rank mean": (
            coterie.VotingRegressor(
                [("a", coterie.DecisionTreeRegressor()), ("b", forest(n_estimators=2))], voting="rank"
            ),
            X,
            Y,
        ),
        "columns of their own": (
            coterie.VotingRegressor(
                [("a", coterie.DecisionTreeRegressor(), [0, 1]), ("b", forest(n_estimators=2))]
            ),
            X,
            Y,
        ),
        "stack with columns passed through": (
            coterie.StackingRegressor(
                [("a", coterie.DecisionTreeRegressor(max_depth=2))],
                final_estimator=coterie.DecisionTreeRegressor(max_depth=2),
                passthrough=True,
                cv=2,
            ),
            X,
            Y,
        ),
        "bags of learners that are no trees": (
            coterie.BaggingRegressor(boosting(n_estimators=2), n_estimators=2, random_state=0),
            TABLE,
            Y,
        ),
    }


@pytest.mark.parametrize("name", cases())
def test_a_model_comes_back_as_it_was(name: str) -> None:
    model, table, y = cases()[name]
    model.fit(table, y)
    data = stored(model)

    twin = loaded(data)

    assert np.array_equal(twin.predict(table), model.predict(table))
    assert differences(model, twin) == []
    assert stored(twin) == data


def test_a_pruned_forest_comes_back() -> None:
    forest = coterie.RandomForestClassifier(n_estimators=10, random_state=0).fit(X, LABELS)
    model = coterie.prune(forest, X, LABELS, to=4)
    twin = loaded(stored(model))
    assert differences(model, twin) == []
    assert twin.pruning_path_.kept == 4


def test_questions_about_rows_of_the_forest_are_answered_alike() -> None:
    model = coterie.RandomForestRegressor(n_estimators=10, random_state=0).fit(TABLE, Y)
    twin = loaded(stored(model))
    assert np.array_equal(twin.oob_prediction_, model.oob_prediction_, equal_nan=True)
    assert np.array_equal(
        twin.predict_quantiles(TABLE, [0.1, 0.9]), model.predict_quantiles(TABLE, [0.1, 0.9])
    )
    assert np.array_equal(twin.explain(X=TABLE).values, model.explain(X=TABLE).values)


def test_a_data_frame_keeps_its_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE).astype({"town": "category"})
    model = coterie.GradientBoostingRegressor(n_estimators=3).fit(frame, Y)
    twin = loaded(stored(model))
    assert np.array_equal(twin.predict(frame), model.predict(frame))
    assert list(twin.feature_names_in_) == list(frame.columns)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_an_imported_model_comes_back(file: Path) -> None:
    model = import_model(file)
    twin = loaded(stored(model))
    rows = noted(file).rows
    assert np.array_equal(imported_answers(twin, rows), imported_answers(model, rows))
    assert differences(model, twin) == []
