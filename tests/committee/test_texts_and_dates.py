"""Texts and dates as features: what they become, and that nothing of held-out rows is learned."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from coterie import CommitteeClassifier, CommitteeRegressor, RandomForestRegressor, load, save
from coterie.committee import TableFeatures
from coterie.committee.fold_features import FoldFeatures
from coterie.data.text_features import TextReduction
from coterie.errors import InvalidInput, InvalidParameter

GOOD, BAD = ["bright", "sunny", "quiet", "garden"], ["dark", "damp", "noisy", "broken"]


def flats(n_rows: int = 150, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Adverts whose words, and dates whose month, say what the rent is."""
    rng = np.random.default_rng(seed)
    good = rng.integers(0, 2, n_rows)
    adverts = [f"a {' '.join(rng.choice(GOOD if own else BAD, 3))} flat, {n}" for n, own in enumerate(good)]
    when = np.datetime64("2020-01-01") + rng.integers(0, 900, n_rows).astype("m8[D]")
    rent = 3.0 * good + 2.0 * (when.astype("M8[M]").astype(int) % 12 > 5) + rng.normal(0, 0.2, n_rows)
    return {"advert": np.array(adverts, dtype=object), "when": when, "x": rng.normal(size=n_rows)}, rent


def test_weights_of_terms_are_those_of_scikit_learn() -> None:
    texts = np.array([f"{a} {b}" for a in GOOD for b in [*BAD, *GOOD]], dtype=object)
    own = TextReduction.learned(texts, 3, 0)
    tfidf = TfidfVectorizer(
        ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b", min_df=2, sublinear_tf=True, smooth_idf=True
    ).fit(texts)
    assert own.words.tolist() == tfidf.get_feature_names_out().tolist()
    np.testing.assert_allclose(own.idf[: len(own.words)], tfidf.idf_)
    assert own.components.shape == (3, len(own.words) + len(own.letters))


def test_components_keep_what_varies_most() -> None:
    X, _ = flats()
    own = TextReduction.learned(X["advert"], 5, 0)
    values = own.values(X["advert"])[:, :5]
    lengths = (values**2).sum(axis=1)
    assert (lengths <= 1 + 1e-6).all(), "a projection of rows of length one"
    assert ((values**2).sum(axis=0) > 0).all()


def test_missing_and_empty_texts_have_numbers_of_their_own() -> None:
    X, _ = flats()
    own = TextReduction.learned(X["advert"], 5, 0)
    values = own.values(np.array([None, "zzz qqq", "a bright flat"], dtype=object))
    assert np.isnan(values[0]).all()
    assert (values[1, :5] == 0).all()
    assert values[1, -2:].tolist() == [7, 2], "letters and words"
    assert np.isfinite(values[2]).all()


def test_texts_without_common_words_are_zeros() -> None:
    texts = np.array(["aaa", "bbb"], dtype=object)
    assert (TextReduction.learned(texts, 4, 0).values(texts)[:, :4] == 0).all()


def test_dates_become_the_parts_that_differ() -> None:
    when = np.array(["2021-03-01T10:30", "2021-03-20T12:00", "NaT"], dtype="M8[m]")
    later = when + np.timedelta64(36, "h")
    own = TableFeatures().fit({"a": when, "b": later})
    found = own.transform({"a": when, "b": later})

    assert own.date_parts_["a"].parts == ("weekday", "hour"), "one month of one year"
    assert found["a.weekday"].tolist()[:2] == [0, 5]
    assert found["a.hour"].tolist()[:2] == [10.5, 12.0]
    assert np.isnan(found["a.hour"][2])
    assert found["b - a"].tolist()[:2] == [1.5, 1.5]
    assert list(found)[:2] == ["a", "b"], "dates stay: they are the time that has gone by"


@pytest.mark.parametrize("library", ["pandas", "polars", "dict"])
def test_frames_of_any_library_give_the_same(library: str) -> None:
    X, _ = flats()
    expected = TableFeatures().fit(X).transform(X)
    frame: Any = X if library == "dict" else pytest.importorskip(library).DataFrame(X)
    found = TableFeatures().fit(frame).transform(frame)
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(np.asarray(found[name]), values)


def test_the_transformer_is_a_step_of_a_pipeline() -> None:
    X, y = flats()
    model = make_pipeline(TableFeatures(n_components=5), RandomForestRegressor(20, random_state=0)).fit(X, y)
    assert model.score(X, y) > 0.8
    assert clone(TableFeatures(n_components=5)).n_components == 5


def test_what_cannot_be_features_is_refused() -> None:
    X, _ = flats(30)
    with pytest.raises(InvalidParameter, match="text='all'"):
        TableFeatures(text="all").fit(X)
    with pytest.raises(InvalidInput, match="Did you mean 'advert'"):
        TableFeatures(text=["adverts"]).fit(X)
    with pytest.raises(InvalidInput, match="without names"):
        TableFeatures().fit(np.zeros((3, 2)))
    with pytest.raises(InvalidParameter, match="n_components=0"):
        TableFeatures(n_components=0).fit(X)
    fitted = TableFeatures().fit(X)
    with pytest.raises(InvalidInput, match="no column 'advert'"):
        fitted.transform({"when": X["when"], "x": X["x"]})
    with pytest.raises(InvalidInput, match="holds no dates"):
        fitted.transform({**X, "when": X["x"]})


def committee(**others: Any) -> CommitteeRegressor:
    return CommitteeRegressor(None, portfolio=["linear", "forest"], cv=3, random_state=0, **others)


def test_a_committee_uses_texts_and_dates() -> None:
    X, y = flats()
    with_features, without = committee().fit(X, y), committee(features=None).fit(X, y)
    assert with_features.oof_score_ > 0.5 * without.oof_score_, "squared error, negative: less than half"
    fresh, truth = flats(seed=1)
    assert with_features.score(fresh, truth) > 0.75 > without.score(fresh, truth)
    assert with_features.feature_names_in_.tolist() == ["advert", "when", "x"]


def test_a_table_without_texts_and_dates_is_fitted_as_before() -> None:
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=60), "b": rng.choice(["u", "v"], 60)}
    y = rng.normal(size=60)
    assert FoldFeatures.of("auto", X) is None
    assert committee().fit(X, y).oof_score_ == committee(features=None).fit(X, y).oof_score_


def test_nothing_is_learned_from_rows_held_out() -> None:
    """The texts of a fold's held-out rows may be anything: its models, and so its predictions, stay the same."""
    X, y = flats(90)
    thirds = np.split(np.arange(90), 3)
    folds = [(np.concatenate(thirds[:2]), thirds[2]), (np.concatenate(thirds[1:]), thirds[0])]
    folds.append((np.concatenate([thirds[0], thirds[2]]), thirds[1]))
    first = CommitteeRegressor(None, portfolio=["linear", "forest"], cv=folds, random_state=0).fit(X, y)
    changed = dict(X, advert=X["advert"].copy())
    changed["advert"][60:] = [f"other words entirely {n} here" for n in range(30)]
    second = CommitteeRegressor(None, portfolio=["linear", "forest"], cv=folds, random_state=0).fit(
        changed, y
    )

    one, other = (model.named_estimators_["forest"].models[0] for model in (first, second))
    np.testing.assert_array_equal(
        one.features.reductions_["advert"].idf, other.features.reductions_["advert"].idf
    )
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    later = [model.named_estimators_["forest"].models[1] for model in (first, second)]
    assert not np.array_equal(later[0].predict(X), later[1].predict(X)), "the other fold did learn from them"


def test_committees_with_features_are_saved_refitted_and_distilled(tmp_path: Any) -> None:
    X, rent = flats()
    y = np.where(rent > 2.5, "dear", "cheap")
    model = CommitteeClassifier(None, portfolio=["linear", "quick_boosting"], cv=3, random_state=0).fit(X, y)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.features == "auto"
    refitted = model.refit(X, y)
    assert (refitted.predict(X) == y).mean() > 0.9
    assert len(refitted.estimators_[0].models) == 1
    assert model.distil(X).predict(X).shape == (150,)


def test_every_feature_knows_the_columns_it_was_made_of() -> None:
    when = np.array(["2020-01-01", "2021-06-02", "2022-03-04"] * 20, dtype="M8[D]")
    words = np.array(["oak", "elm", "ash", "fir", "yew", "bay", "box", "gum", "fig", "nut"])
    texts = [" ".join(np.random.default_rng(seed).choice(words, 6)) for seed in range(60)]
    X = {"size": np.arange(60.0), "about": texts, "first": when, "last": when + np.arange(60)}
    features = TableFeatures(n_components=3).fit(X)
    made = features.transform(X)

    sources = dict(zip(made, features.sources(), strict=True))
    assert sources["size"] == ("size",)
    assert sources["first"] == sources["first.year"] == ("first",)
    assert sources["about.0"] == sources["about.words"] == ("about",)
    assert sorted(sources["last - first"]) == ["first", "last"]
