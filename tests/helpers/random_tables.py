"""Small tables of any types, as hypothesis draws them."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

TYPES = ["f8", "f4", "f2", ">f8", "i8", "i4", "i2", "u1", "?", "O", "U3", "category"]


@st.composite
def columns(draw: st.DrawFn, n_rows: int) -> Any:
    """One column of some type, with missing and infinite values where the type has them."""
    kind = draw(st.sampled_from(TYPES))
    if kind in ("O", "U3", "category"):
        labels = draw(st.lists(st.sampled_from(["a", "b", "", "é", "zzz"]), min_size=n_rows, max_size=n_rows))
        if kind == "category":
            return pd.Categorical(labels)
        array = np.array(labels, dtype=object if kind == "O" else kind)
        if kind == "O" and draw(st.booleans()):
            array[draw(st.integers(0, n_rows - 1))] = None
        return array
    number: Any = st.booleans() if kind == "?" else st.integers(0, 120)
    if "f" in kind:
        number = st.floats(width=64 if kind == ">f8" else 16)
    values = draw(st.lists(number, min_size=n_rows, max_size=n_rows))
    return np.array(values, dtype=kind).repeat(2)[::2]


@st.composite
def problems(draw: st.DrawFn) -> tuple[dict[str, Any], Any, Any]:
    """A table as a dict of columns, a target as numbers, and weights or none."""
    n_rows = draw(st.integers(1, 50))
    n_columns = draw(st.integers(1, 4))
    table = {f"c{i}": draw(columns(n_rows)) for i in range(n_columns)}
    y = draw(st.lists(st.integers(-3, 3) | st.just(10**6), min_size=n_rows, max_size=n_rows))
    weight = draw(st.none() | st.lists(st.sampled_from([0, 1, 1, 2.5]), min_size=n_rows, max_size=n_rows))
    return table, y, weight
