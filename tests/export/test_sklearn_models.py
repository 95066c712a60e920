"""Models of scikit-learn answer here as there, to the bit."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from packaging.version import Version
from scipy import sparse
from sklearn import ensemble, tree
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from threadpoolctl import threadpool_limits

from coterie.errors import InvalidType, ModelFileError
from coterie.export import from_sklearn, import_model


@pytest.fixture(autouse=True)
def _one_thread_for_openmp() -> Iterator[None]:
    """Threads that wait for one another take long on a busy machine."""
    with threadpool_limits(1):
        yield


RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
X[:, 1] = X[:, 1].round(1)
Y = X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=150) / 10
CLASSES = np.array(["bad", "fair", "good"])[np.digitize(Y, [0, 1])]

FORESTS = [
    tree.DecisionTreeRegressor(random_state=0),
    tree.DecisionTreeRegressor(criterion="poisson", max_depth=3, random_state=0),
    tree.ExtraTreeRegressor(random_state=0),
    ensemble.RandomForestRegressor(12, random_state=0, n_jobs=1),
    ensemble.ExtraTreesRegressor(12, random_state=0, n_jobs=1),
    tree.DecisionTreeClassifier(max_leaf_nodes=9, random_state=0),
    ensemble.RandomForestClassifier(12, class_weight="balanced", max_depth=4, random_state=0, n_jobs=1),
    ensemble.ExtraTreesClassifier(12, max_depth=4, random_state=0, n_jobs=1),
]
BOOSTING = [
    *[
        ensemble.GradientBoostingRegressor(n_estimators=12, loss=loss, subsample=0.8, random_state=0)
        for loss in ("squared_error", "absolute_error", "huber", "quantile")
    ],
    ensemble.GradientBoostingRegressor(n_estimators=5, init="zero"),
    ensemble.GradientBoostingRegressor(n_estimators=5, init=LinearRegression()),
    ensemble.GradientBoostingClassifier(n_estimators=5, random_state=0),
    ensemble.GradientBoostingClassifier(n_estimators=5, init=LogisticRegression(), random_state=0),
]
HIST = [
    ensemble.HistGradientBoostingRegressor(
        loss=loss, max_iter=8, quantile=0.3 if loss == "quantile" else None
    )
    for loss in ("squared_error", "absolute_error", "gamma", "poisson", "quantile")
] + [ensemble.HistGradientBoostingClassifier(max_iter=8)]


def named(models: list[Any]) -> dict[str, Any]:
    return {f"{place}-{type(model).__name__}": model for place, model in enumerate(models)}


MODELS = named([*FORESTS, *BOOSTING, *HIST])


def target_for(model: Any) -> np.ndarray:
    return CLASSES if is_classifier(model) else np.exp(Y / 2)


def awkward(table: np.ndarray) -> np.ndarray:
    """Values beside those of training, and very large ones."""
    above, below = np.nextafter(table, np.inf), np.nextafter(table, -np.inf)
    half_single = table.astype(np.float32) + np.spacing(table.astype(np.float32)) / 2.0
    return np.concatenate([table, above, below, half_single, 1e30 * table, 1e-40 * table])


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_the_same_to_the_bit(name: str) -> None:
    original = MODELS[name].fit(X, target_for(MODELS[name]))
    model, rows = import_model(original), awkward(X)
    if not is_classifier(original):
        np.testing.assert_array_equal(model.predict(rows), original.predict(rows))
        return
    if getattr(original, "init", None) is not None and Version(sklearn.__version__) < Version("1.8"):
        rows = rows[
            np.abs(rows).max(axis=1) < 1e6
        ]  # it cuts smaller probabilities of the first model off than we do
    np.testing.assert_array_equal(model.predict(rows), original.predict(rows))
    np.testing.assert_allclose(model.predict_proba(rows), original.predict_proba(rows), rtol=0, atol=1e-15)
    assert hasattr(model, "decision_function") == hasattr(original, "decision_function")
    if hasattr(original, "decision_function"):
        np.testing.assert_array_equal(model.decision_function(rows), original.decision_function(rows))


@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if hasattr(model, "apply")])
def test_leaves_are_the_same(name: str) -> None:
    original = MODELS[name].fit(X, target_for(MODELS[name]))
    rows = awkward(X)
    np.testing.assert_array_equal(
        import_model(original).apply(rows), original.apply(rows).reshape(len(rows), -1)
    )


@pytest.mark.parametrize(
    "original",
    [
        ensemble.GradientBoostingClassifier(n_estimators=5, loss="log_loss"),
        ensemble.GradientBoostingClassifier(n_estimators=5, loss="exponential"),
        ensemble.GradientBoostingClassifier(n_estimators=5, loss="exponential", init=LogisticRegression()),
        ensemble.HistGradientBoostingClassifier(max_iter=5),
        ensemble.RandomForestClassifier(5, random_state=0),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'loss', 'gini')}",
)
def test_two_classes_are_the_same_too(original: Any) -> None:
    original.fit(X, CLASSES == "good")
    model = from_sklearn(original)
    np.testing.assert_allclose(model.predict_proba(X), original.predict_proba(X), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(model.predict(X), original.predict(X))
    assert model.classes_.tolist() == [False, True]


def test_a_tie_goes_where_the_original_sends_it() -> None:
    even = np.zeros((4, 1)), [0, 1, 0, 1]
    for original in (
        ensemble.GradientBoostingClassifier(n_estimators=1, init="zero"),
        ensemble.HistGradientBoostingClassifier(max_iter=1),
        tree.DecisionTreeClassifier(),
    ):
        original.fit(*even)
        assert import_model(original).predict(even[0])[0] == original.predict(even[0])[0]


@pytest.mark.parametrize(
    "original",
    [
        tree.DecisionTreeRegressor(random_state=0),
        ensemble.RandomForestClassifier(9, random_state=0),
        ensemble.HistGradientBoostingRegressor(max_iter=9, min_samples_leaf=3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("gaps_in_training", [True, False])
def test_missing_values_go_the_same_way(original: Any, gaps_in_training: bool) -> None:
    rng = np.random.default_rng(1)
    gaps = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    original.fit(gaps if gaps_in_training else X, target_for(original))
    np.testing.assert_array_equal(import_model(original).predict(gaps), original.predict(gaps))


@pytest.mark.parametrize("kind", [tree.DecisionTreeRegressor, ensemble.ExtraTreesRegressor])
def test_several_numbers_at_once(kind: type) -> None:
    original = kind(random_state=0).fit(X, np.stack([Y, Y**2], axis=1))
    np.testing.assert_array_equal(import_model(original).predict(X), original.predict(X))


def cars(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "price": rng.normal(size=n_rows),
            "make": pd.Categorical(rng.choice(["Astra", "Corsa", "Zafira"], n_rows)),
            "age": rng.normal(size=n_rows),
            "colour": pd.Categorical(rng.choice([3, 10, 200], n_rows)),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "make"] = None
    return frame


def test_categories_of_a_frame_are_known_by_name() -> None:
    frame, new = cars(300, 0), cars(100, 1)
    target = frame["price"] + (frame["make"] == "Corsa") + (frame["colour"] == 10) * frame["age"]
    original = ensemble.HistGradientBoostingRegressor(max_iter=20, min_samples_leaf=5).fit(frame, target)
    model, expected = import_model(original), original.predict(new)
    np.testing.assert_array_equal(model.predict(new), expected)
    as_text = pl.DataFrame({name: new[name].tolist() for name in new}, strict=False).with_columns(
        pl.Series("make", [None if pd.isna(make) else make for make in new["make"]], dtype=pl.String)
    )
    np.testing.assert_array_equal(model.predict(as_text), expected)
    new["make"] = new["make"].cat.rename_categories({"Corsa": "Twingo"})
    np.testing.assert_array_equal(model.predict(new), original.predict(new))


def test_categories_of_a_matrix_are_known_by_number() -> None:
    codes = RNG.choice([1.0, 7.0, 30.0, 100.0], size=(200, 1))
    table = np.hstack([RNG.normal(size=(200, 1)), codes])
    original = ensemble.HistGradientBoostingRegressor(
        categorical_features=[1], max_iter=10, min_samples_leaf=5
    ).fit(table, table[:, 0] + (codes[:, 0] == 7))
    rows = np.concatenate([table[:30], [[0.0, np.nan], [0.0, 8.0], [0.0, -1.0]]])
    np.testing.assert_array_equal(import_model(original).predict(rows), original.predict(rows))


def test_names_and_sparse_matrices_are_as_in_scikit_learn() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    original = ensemble.RandomForestRegressor(5, random_state=0).fit(frame, Y)
    model = import_model(original)
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(model.predict(frame), original.predict(frame))
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.predict(frame[list("bacd")])
    thin = sparse.random(60, 4, density=0.4, random_state=0, format="csr")
    original = ensemble.ExtraTreesRegressor(5, random_state=0).fit(thin, Y[:60])
    np.testing.assert_array_equal(import_model(original).predict(thin), original.predict(thin))


def test_whole_numbers_are_rounded_once() -> None:
    numbers = RNG.integers(-(2**62), 2**62, (200, 2))
    original = tree.DecisionTreeRegressor(random_state=0).fit(numbers, numbers[:, 0] / 2**60)
    np.testing.assert_array_equal(import_model(original).apply(numbers)[:, 0], original.apply(numbers))


def test_what_cannot_be_imported_is_refused() -> None:
    with pytest.raises(ModelFileError) as caught:
        import_model(tree.DecisionTreeClassifier().fit(X, np.stack([CLASSES, CLASSES], axis=1)))
    assert (caught.value.received, caught.value.allowed) == (2, "1")
    with pytest.raises(InvalidType) as other:
        from_sklearn(LinearRegression())
    assert other.value.parameter == "model"
    with pytest.raises(NotFittedError):
        from_sklearn(tree.DecisionTreeClassifier())
