"""Columns of strings in Python: a warning if they are numbers, and the way to read them."""

import warnings
from typing import Any

import numpy as np
import pytest

import coterie
from coterie.errors import InvalidInput, InvalidType

PRICES = [f"{n / 7:.2f} €".replace(".", ",") for n in range(60)]
TARGET = np.arange(60.0)


def warned(X: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coterie.DecisionTreeRegressor().fit(X, TARGET)
    return [str(own.message) for own in caught]


def test_a_column_of_numbers_as_text_is_named_with_the_fix() -> None:
    [text] = warned({"price": PRICES, "x": TARGET})
    assert "Column 'price' of X holds text, and nearly all of it are numbers" in text
    assert "X = coterie.read_table(X)" in text


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_read_and_then_quiet(library: str) -> None:
    frame = pytest.importorskip(library).DataFrame({"price": PRICES, "x": TARGET, "f": TARGET > 3})
    assert len(warned(frame)) == 1
    X = coterie.read_table(frame)
    assert not warned(X)
    assert np.allclose(X["price"], np.round(np.arange(60) / 7, 2))
    assert [own.kind for own in X.reading.values()] == ["number", "number", "flag"]
    new = coterie.read_table(frame[:3], reading=X.reading)
    tree = coterie.DecisionTreeRegressor().fit(X, TARGET)
    assert tree.predict({name: new[name] for name in X}).tolist() == TARGET[:3].tolist()


def test_categories_codes_and_words_are_no_reason_to_warn() -> None:
    pandas = pytest.importorskip("pandas")
    assert not warned(pandas.DataFrame({"price": pandas.Categorical(PRICES)}))
    assert not warned({"code": [f"{n:05d}" for n in range(60)]}), "zeros before them"
    assert not warned({"class": [str(n % 5) for n in range(60)]}), "a few labels"
    assert not warned({"id": [str(10**24 + n) for n in range(60)]}), "no float holds them"
    assert not warned({"word": [f"a{n}" for n in range(60)]})
    mixed = [text if n % 5 else "closed" for n, text in enumerate(PRICES)]
    assert not warned({"mixed": mixed}), "eight of ten"


def test_kinds_and_readings_of_frames_are_checked() -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'price'"):
        coterie.read_table({"price": PRICES}, kinds={"prise": "number"})
    with pytest.raises(InvalidType, match="source is of type int"):
        coterie.read_table(3)
    known = coterie.read_table({"price": PRICES}).reading
    with pytest.raises(InvalidInput, match="none of the columns 'price'"):
        coterie.read_table({"other": PRICES}, reading=known)
    with pytest.raises(InvalidInput, match="holds 'dear' in row 1"):
        coterie.read_table({"price": ["dear"]}, reading=known)


def test_kinds_apply_to_columns_of_any_type() -> None:
    X = coterie.read_table({"zip": np.array([1067, 80331])}, kinds={"zip": "category"})
    assert X["zip"].tolist() == ["1067", "80331"]
