"""Categories in boosting: sets, not numbers; unseen ones are missing or an error; very many are no trouble."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.errors import CoterieError
from tests.helpers.estimators import fingerprint

RNG = np.random.default_rng(0)
TOWNS = np.array([f"town {i:02}" for i in range(12)])
CODES = RNG.integers(0, 12, 900)
SIZE = RNG.normal(size=900)
EFFECT = RNG.permutation(12)
Y = EFFECT[CODES] + SIZE


def model(**settings: Any) -> GradientBoostingRegressor:
    return GradientBoostingRegressor(n_estimators=30, random_state=0, **settings)


def test_categories_as_text_are_categories_as_codes() -> None:
    text = model().fit({"town": TOWNS[CODES], "size": SIZE}, Y)
    codes = model(categorical_features=["town"]).fit({"town": CODES, "size": SIZE}, Y)

    assert fingerprint(text) == fingerprint(codes)
    assert text.score({"town": TOWNS[CODES], "size": SIZE}, Y) > 0.97


def test_what_categories_are_called_does_not_matter_to_the_fit() -> None:
    """New names in another order give other codes, and the same answers."""
    shuffled = np.array([f"place {i:02}" for i in RNG.permutation(12)])
    first = model().fit({"town": TOWNS[CODES], "size": SIZE}, Y).predict({"town": TOWNS[CODES], "size": SIZE})
    other = (
        model()
        .fit({"town": shuffled[CODES], "size": SIZE}, Y)
        .predict({"town": shuffled[CODES], "size": SIZE})
    )

    np.testing.assert_allclose(first, other, rtol=1e-6)


def test_every_kind_of_table_gives_the_same_model() -> None:
    columns = {"town": TOWNS[CODES], "size": SIZE}
    frame = pd.DataFrame(columns)
    tables = [
        columns,
        frame,
        frame.astype({"town": "category"}),
        pl.DataFrame(columns),
        pl.DataFrame(columns).with_columns(pl.col("town").cast(pl.Categorical)),
        pa.table(columns),
    ]
    models = [model().fit(table, Y) for table in tables]

    assert len({fingerprint(each) for each in models}) == 1
    for table in tables:
        np.testing.assert_array_equal(models[0].predict(table), models[0].predict(columns))


def test_an_unseen_category_is_a_missing_one() -> None:
    fitted = model().fit({"town": TOWNS[CODES], "size": SIZE}, Y)

    unseen, missing = (fitted.predict({"town": [town], "size": [0.3]}) for town in ("Atlantis", None))

    assert unseen == missing


def test_an_unseen_category_can_be_an_error() -> None:
    fitted = model(unknown_category="error").fit({"town": TOWNS[CODES], "size": SIZE}, Y)

    assert np.isfinite(fitted.predict({"town": [None, "town 03"], "size": [0.0, 0.0]})).all()
    with pytest.raises(CoterieError, match="Atlantis"):
        fitted.predict({"town": ["Atlantis"], "size": [0.3]})


def test_a_missing_category_can_be_the_signal() -> None:
    town = TOWNS[CODES].astype(object)
    town[SIZE > 0.8] = None
    fitted = GradientBoostingClassifier(n_estimators=20, random_state=0).fit({"town": town}, SIZE > 0.8)

    assert fitted.score({"town": town}, SIZE > 0.8) == 1


def test_seventy_thousand_categories_are_no_trouble() -> None:
    n = 70_000
    names = np.array([f"customer {i}" for i in range(n)], dtype=object)
    y = np.arange(n) % 2 + SIZE[np.arange(n) % 900]
    fitted = GradientBoostingRegressor(n_estimators=3).fit(
        {"customer": names, "size": SIZE[np.arange(n) % 900]}, y
    )

    said = fitted.predict({"customer": names[:500], "size": SIZE[:500]})
    assert np.isfinite(said).all()
    assert np.corrcoef(said, y[:500])[0, 1] > 0.5


def test_dates_are_numbers() -> None:
    days = np.arange("2020-01-01", "2021-01-01", dtype="M8[D]")
    y = (days >= np.datetime64("2020-07-01")).astype(float)
    frame = pd.DataFrame({"day": days})

    fitted = GradientBoostingRegressor(n_estimators=50, min_samples_leaf=1).fit(frame, y)

    assert fitted.score(frame, y) > 0.97
    assert fitted.predict(frame)[[0, -1]].round(2).tolist() == [0, 1]


def test_importances_see_the_category() -> None:
    fitted = model().fit({"noise": RNG.normal(size=900), "town": TOWNS[CODES]}, EFFECT[CODES])

    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert fitted.feature_importances_[1] > 0.95
