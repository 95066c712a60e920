"""Tables in memory and the same tables in batches, and whether models of both have the same bits."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tests.helpers.alike import differences


def pieces(frame: Any, sizes: Sequence[int]) -> list[Any]:
    """A frame as batches of these sizes, again and again until all rows are there."""
    found, begin, number = [], 0, 0
    while begin < len(frame):
        size = max(0, sizes[number % len(sizes)])
        found.append(frame[begin : begin + size])
        begin, number = begin + size, number + 1
    return found


def arrow_pieces(frame: Any, sizes: Sequence[int]) -> list[Any]:
    import pyarrow as pa

    return [pa.Table.from_pandas(piece, preserve_index=False) for piece in pieces(frame, sizes)]


def mixed_table(seed: int, n_rows: int) -> pd.DataFrame:
    """Columns of many types with missing values, labels of few and of many levels, and targets."""
    rng = np.random.default_rng(seed)
    few = rng.random(n_rows) < 0.1
    frame = pd.DataFrame(
        {
            "wide": rng.normal(size=n_rows),
            "narrow": rng.normal(size=n_rows).astype(np.float32).round(1),
            "whole": rng.integers(-5, 90, n_rows),
            "flag": rng.random(n_rows) < 0.3,
            "small": rng.integers(0, 9, n_rows).astype(np.int8),
            "holes": np.where(few, np.nan, rng.normal(size=n_rows)),
            "town": np.where(few, None, rng.choice(["Oslo", "Rome", "Cork", "Bern"], n_rows)),
            "code": np.char.add("c", rng.integers(0, 400, n_rows).astype(str)).astype(object),
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), unit="D"),
        }
    )
    frame["size"] = pd.Categorical(rng.choice(["s", "m", "l"], n_rows), ["s", "m", "l"], ordered=True)
    frame["shade"] = pd.Categorical(rng.choice(["red", "blue"], n_rows), ["red", "green", "blue"])
    score = frame["wide"] + (frame["town"] == "Rome") + 0.1 * frame["whole"] + rng.normal(size=n_rows)
    frame["number"] = score
    frame["label"] = np.where(score > 5, "high", np.where(score > 2, "mid", "low"))
    frame["weight"] = rng.integers(0, 4, n_rows) + (np.arange(n_rows) < 8)
    frame["team"] = rng.integers(0, 12, n_rows)
    frame["start"] = rng.normal(size=n_rows)
    return frame


FEATURES = ["wide", "narrow", "whole", "flag", "small", "holes", "town", "code", "day", "size", "shade"]


def differences_of_fits(streamed: Any, in_memory: Any) -> list[str]:
    """Where two models differ; what they remember of X to recognise it again is left aside."""
    from coterie.files.registry import class_of

    known: Any = class_of(in_memory)
    states = [dict(sorted(known.state_of(model).items())) for model in (streamed, in_memory)]
    for state in states:
        for name in [name for name in state if name.endswith("_trace")]:
            del state[name]
    return differences(*states)


class Reopened:
    """A source that counts how often it is opened."""

    def __init__(self, frames: list[Any]) -> None:
        self.frames, self.opened = frames, 0

    def __call__(self) -> Iterator[Any]:
        self.opened += 1
        return iter(self.frames)
