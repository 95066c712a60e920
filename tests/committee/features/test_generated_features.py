"""Which columns are generated, and that nothing of rows outside the fit has a part in it."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from coterie import load, save
from coterie.committee import GeneratedFeatures
from coterie.errors import InvalidInput, InvalidParameter, ModelFileError, SchemaMismatch

_N = 500


def colours(n_rows: int = _N, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Two magnitudes: the class is which of both is greater, but for one row of ten."""
    rng = np.random.default_rng(seed)
    X = {
        "red": rng.uniform(1, 9, n_rows),
        "blue": rng.uniform(1, 9, n_rows),
        "noise": rng.normal(size=n_rows),
    }
    y = np.where(rng.random(n_rows) < 0.1, X["red"] < X["blue"], X["red"] > X["blue"])
    return X, np.where(y, "warm", "cold")


def flats(n_rows: int = _N, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Rents by what a town's kind of flat costs, which no column says alone."""
    rng = np.random.default_rng(seed)
    town, kind = rng.integers(0, 6, n_rows), rng.integers(0, 4, n_rows)
    X = {
        "town": np.array(list("ABCDEF"))[town],
        "kind": np.array(list("wxyz"))[kind],
        "size": rng.normal(size=n_rows),
    }
    return X, 3.0 * ((town + kind) % 2) + 0.3 * rng.normal(size=n_rows)


def names_of(features: GeneratedFeatures) -> list[str]:
    return features.get_feature_names_out()[features.n_features_in_ :].tolist()


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f") for name in one)


def test_a_difference_that_decides_is_found() -> None:
    X, y = colours()
    features = GeneratedFeatures(random_state=0).fit(X, y)
    assert names_of(features)[0] in ("red - blue", "red / blue", "blue / red")
    assert features.sources()[3] in (("red", "blue"), ("blue", "red"))
    assert features.gains_[0] > 0.05


def test_noise_gets_no_column() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.normal(size=400)
    features = GeneratedFeatures(random_state=0).fit(X, y)
    assert features.recipes_ == []
    np.testing.assert_array_equal(features.transform(X), X)


def test_levels_that_matter_together_have_a_mean_target() -> None:
    X, y = flats()
    features = GeneratedFeatures(max_features=1, random_state=0)
    made = features.fit_transform(X, y)
    assert names_of(features) == ["mean of the target by town & kind"]
    own = made["mean of the target by town & kind"]
    assert not same({"a": own}, {"a": features.transform(X)["mean of the target by town & kind"]})
    assert abs(np.corrcoef(own, y)[0, 1]) > 0.8


def test_rows_held_out_change_nothing() -> None:
    """A spy on every fit: other targets and values outside the rows of fit leave everything as it is."""
    for X, y in (colours(), flats()):
        half = {name: values[:400] for name, values in X.items()}
        before = GeneratedFeatures(random_state=3).fit_transform(half, y[:400])
        spoiled, wrong = {name: values.copy() for name, values in X.items()}, y.copy()
        wrong[400:] = wrong[:100][::-1]
        for values in spoiled.values():
            values[400:] = values[:100][::-1]
        cut = {name: values[:400] for name, values in spoiled.items()}
        assert same(before, GeneratedFeatures(random_state=3).fit_transform(cut, wrong[:400]))


def test_new_rows_are_transformed_one_by_one() -> None:
    X, y = flats()
    features = GeneratedFeatures(random_state=0).fit(X, y)
    whole = features.transform(X)
    one = features.transform({name: values[7:8] for name, values in X.items()})
    assert same(one, {name: values[7:8] for name, values in whole.items()})


def test_the_same_seed_gives_the_same_columns() -> None:
    X, y = colours()
    one, other = (GeneratedFeatures(random_state=5).fit_transform(X, y) for _ in range(2))
    assert list(one) == list(other)
    assert same(one, other)


def test_a_table_stays_of_its_kind() -> None:
    X, y = colours()
    features = GeneratedFeatures(max_features=1, random_state=0)
    frame = pd.DataFrame(X, index=np.arange(_N)[::-1])
    out = features.fit(frame, y).transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert out.index.equals(frame.index)
    assert list(out) == features.get_feature_names_out().tolist()
    own = features.fit(pl.DataFrame(X), y).transform(pl.DataFrame(X))
    assert isinstance(own, pl.DataFrame)
    assert own.columns == list(out)
    matrix = np.column_stack(list(X.values()))
    plain = features.fit(matrix, y)
    np.testing.assert_array_equal(plain.transform(matrix), out.to_numpy())
    assert names_of(plain)[0].startswith("x")


def test_missing_values_stay_missing() -> None:
    X, y = colours()
    X["red"][::7] = np.nan
    features = GeneratedFeatures(max_features=1, random_state=0).fit(X, y)
    [name] = names_of(features)
    assert np.isnan(features.transform(X)[name][::7]).all()


def test_weights_and_groups_take_part() -> None:
    X, y = colours()
    weight = np.ones(_N)
    weight[:200] = 0.0
    spoiled = y.copy()
    spoiled[:200] = y[:200][::-1]
    one = GeneratedFeatures(random_state=0).fit(X, y, weight)
    assert names_of(one) == names_of(GeneratedFeatures(random_state=0).fit(X, spoiled, weight))
    grouped = GeneratedFeatures(random_state=0).fit(X, y, groups=np.arange(_N) // 5)
    assert names_of(grouped)


def test_a_pipeline_of_any_learner_takes_them() -> None:
    X, _ = colours()
    frame, ratio = pd.DataFrame(X), X["red"] / X["blue"]
    model = make_pipeline(GeneratedFeatures(random_state=0), LinearRegression()).fit(frame, ratio)
    assert LinearRegression().fit(frame, ratio).score(frame, ratio) < 0.8
    assert model.score(frame, ratio) > 0.99


def test_files_hold_recipes_and_no_code(tmp_path: Any) -> None:
    for X, y in (colours(), flats()):
        features = GeneratedFeatures(random_state=0).fit(X, y)
        save(features, tmp_path / "features.coterie")
        again = load(tmp_path / "features.coterie")
        assert names_of(again) == names_of(features) != []
        assert same(again.transform(X), features.transform(X))


def test_a_file_with_a_recipe_of_no_column_is_refused(tmp_path: Any) -> None:
    X, y = colours()
    features = GeneratedFeatures(random_state=0).fit(X, y)
    object.__setattr__(features.recipes_[0], "one", 9)
    save(features, tmp_path / "features.coterie")
    with pytest.raises(ModelFileError, match="recipe of a column that does not exist"):
        load(tmp_path / "features.coterie")


def test_bad_input_is_an_error() -> None:
    X, y = colours()
    with pytest.raises(InvalidParameter, match="max_features"):
        GeneratedFeatures(max_features=0).fit(X, y)
    with pytest.raises(InvalidInput, match="y"):
        GeneratedFeatures().fit(X, None)
    fitted = GeneratedFeatures(random_state=0).fit(X, y)
    with pytest.raises(SchemaMismatch, match="red"):
        fitted.transform({"blue": X["blue"], "noise": X["noise"]})
    assert clone(fitted).get_params() == fitted.get_params()


def test_few_rows_get_no_columns() -> None:
    X, y = colours(40)
    assert GeneratedFeatures(random_state=0).fit(X, y).recipes_ == []
