"""Embeddings by random trees: what the columns are, that rows are where their leaves say, and parameters of growth."""

import io
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from scipy import sparse
from sklearn.datasets import make_circles
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline

import coterie
from coterie import RandomTreesEmbedding
from coterie.errors import InvalidParameter
from tests.helpers.errors import raised


def table(n_rows: int = 200, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n_rows, 5))


def test_columns_are_the_leaves_that_rows_reach() -> None:
    X = table()
    model = RandomTreesEmbedding(n_estimators=7, random_state=0)
    embedded = model.fit_transform(X)
    leaves = model.apply(X)

    names = model.get_feature_names_out()
    expected = np.array(
        [[f"randomtreesembedding_{tree}_{leaf}" for tree, leaf in enumerate(row)] for row in leaves]
    )

    assert isinstance(embedded, sparse.csr_matrix)
    assert embedded.shape == (200, len(names))
    assert set(embedded.data.tolist()) == {1.0}
    for row in range(200):
        assert set(names[embedded[row].indices].tolist()) == set(expected[row].tolist())
    assert (embedded.sum(axis=0) > 0).all(), "every leaf holds training rows"
    np.testing.assert_array_equal(embedded.toarray(), model.one_hot_encoder_.transform(leaves).toarray())
    np.testing.assert_array_equal(embedded.toarray(), model.transform(X).toarray())


def test_an_array_holds_the_same_numbers() -> None:
    X = table()
    thin, full = (
        RandomTreesEmbedding(n_estimators=5, random_state=0, sparse_output=own).fit_transform(X)
        for own in (True, False)
    )

    assert isinstance(full, np.ndarray)
    np.testing.assert_array_equal(thin.toarray(), full)


@pytest.mark.parametrize(
    ("settings", "n_leaves", "n_rows"),
    [
        ({"max_depth": 3}, 8, 1),
        ({"max_depth": None, "min_samples_leaf": 20}, 10, 20),
        ({"max_depth": None, "min_samples_leaf": 0.1}, 10, 20),
        ({"max_depth": None, "min_weight_fraction_leaf": 0.1}, 10, 20),
        ({"max_depth": None, "max_leaf_nodes": 6}, 6, 1),
        ({"min_impurity_decrease": 1.0}, 1, 200),
    ],
)
def test_parameters_of_growth_hold(settings: dict[str, Any], n_leaves: int, n_rows: int) -> None:
    model = RandomTreesEmbedding(n_estimators=10, random_state=0, **settings)
    embedded = model.fit_transform(table())

    assert max(map(len, model.one_hot_encoder_.categories_)) <= n_leaves
    assert embedded.sum(axis=0).min() >= n_rows


def test_leaves_are_as_many_and_as_even_as_those_of_scikit_learn() -> None:
    X = table(2000)
    ours, theirs = (
        kind(n_estimators=200, random_state=0).fit_transform(X)
        for kind in (RandomTreesEmbedding, sklearn.ensemble.RandomTreesEmbedding)
    )

    def evenness(embedded: Any) -> float:
        return float(np.square(np.asarray(embedded.sum(axis=0)) / 2000).sum() / 200)

    assert ours.shape[1] == pytest.approx(theirs.shape[1], rel=0.08)
    assert evenness(ours) == pytest.approx(evenness(theirs), rel=0.1)


def test_a_linear_model_of_the_embedding_learns_what_is_not_linear() -> None:
    X, y = make_circles(300, factor=0.5, noise=0.1, random_state=0)
    model = make_pipeline(RandomTreesEmbedding(random_state=0), LogisticRegression(max_iter=200))

    assert model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    assert LogisticRegression().fit(X[:200], y[:200]).score(X[200:], y[200:]) < 0.7


def test_categories_and_missing_values_have_leaves() -> None:
    frame = pd.DataFrame({"town": ["Oslo", "Rome", None, "Cork"] * 20, "size": [1.0, np.nan, 3.0, 4.0] * 20})
    model = RandomTreesEmbedding(n_estimators=20, random_state=0)
    embedded = model.fit_transform(frame)

    assert len(np.unique(embedded.toarray(), axis=0)) == 4
    np.testing.assert_array_equal(embedded[:4].toarray(), model.transform(frame[:4]).toarray())


def test_a_row_of_weight_two_is_the_row_twice_and_one_of_zero_is_none() -> None:
    X = table(60)
    weight = np.random.default_rng(0).integers(0, 3, size=60)
    one = RandomTreesEmbedding(n_estimators=5, random_state=0, max_leaf_nodes=9).fit(X, sample_weight=weight)
    two = RandomTreesEmbedding(n_estimators=5, random_state=0, max_leaf_nodes=9).fit(
        np.repeat(X, weight, axis=0)
    )

    np.testing.assert_array_equal(one.transform(X).toarray(), two.transform(X).toarray())


def test_a_warm_start_is_one_longer_fit() -> None:
    X = table()
    model = RandomTreesEmbedding(n_estimators=4, warm_start=True, random_state=0).fit(X)
    model.set_params(n_estimators=9).fit(X)
    whole = RandomTreesEmbedding(n_estimators=9, random_state=0).fit(X)

    np.testing.assert_array_equal(model.transform(X).toarray(), whole.transform(X).toarray())
    with raised(InvalidParameter, parameter="n_estimators"):
        model.set_params(n_estimators=3).fit(X)


def test_members_and_rows() -> None:
    X = table()
    model = RandomTreesEmbedding(n_estimators=4, random_state=0).fit(X)

    np.testing.assert_array_equal(
        np.column_stack([member.apply(X) for member in model.estimators_]), model.apply(X)
    )
    assert [own.tolist() for own in model.estimators_samples_] == [list(range(200))] * 4
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.split_counts().sum() == model.transform(X).shape[1] - 4
    assert not hasattr(model, "predict")
    assert not hasattr(model, "explain")
    paths, ends = model.decision_path(X)
    assert paths.shape == (200, ends[-1])


def test_a_file_and_a_pickle_hold_the_same_trees() -> None:
    X = table()
    model = RandomTreesEmbedding(n_estimators=4, random_state=0).fit(X)
    file = io.BytesIO()
    coterie.save(model, file)
    file.seek(0)

    for twin in (coterie.load(file), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.transform(X).toarray(), model.transform(X).toarray())


def test_a_wrong_use_says_so() -> None:
    with pytest.raises(NotFittedError):
        RandomTreesEmbedding().transform(table())
    with pytest.raises(NotFittedError):
        RandomTreesEmbedding().get_feature_names_out()
    with raised(InvalidParameter, parameter="n_estimators", received="auto"):
        RandomTreesEmbedding(n_estimators="auto").fit(table())  # type: ignore[arg-type]
    model = RandomTreesEmbedding(n_estimators=2).fit(pd.DataFrame(table(), columns=list("abcde")))
    with pytest.raises(ValueError, match="input_features is not equal"):
        model.get_feature_names_out(list("vwxyz"))


def test_a_pipeline_names_its_columns() -> None:
    model = RandomTreesEmbedding(n_estimators=2, max_depth=1, sparse_output=False, random_state=0)
    frame = model.set_output(transform="pandas").fit_transform(table())

    assert list(frame.columns) == [
        f"randomtreesembedding_{tree}_{leaf}" for tree in (0, 1) for leaf in (1, 2)
    ]
    assert make_pipeline(RandomTreesEmbedding(n_estimators=3), SGDClassifier()).fit(
        table(), table()[:, 0] > 0
    )
