"""Fits that are killed, as far as a test can do that inside its own process, and the bits of a model."""

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils import Bunch

import coterie
from coterie.files.model_files import CheckpointFolder

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
X[RNG.random(X.shape) < 0.05] = np.nan
SIGNAL = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) ** 2 + 0.3 * RNG.normal(size=120)
Y = {"numbers": SIGNAL, "classes": np.array(["low", "middle", "high"])[np.digitize(SIGNAL, [0.2, 1.2])]}
Y["two classes"] = np.where(SIGNAL > 0.6, "high", "low")
WEIGHT = np.append(np.zeros(5), RNG.uniform(0.2, 3.0, size=115))


class Killed(BaseException):
    """Nobody but a test catches this."""


@contextmanager
def killed_after(n_parts: int) -> Iterator[None]:
    """Fits inside are killed as soon as they have written so many parts; nothing is written after that."""
    written: list[Any] = []
    write = CheckpointFolder.write

    def write_or_die(self: CheckpointFolder, part: Any, held: dict[str, Any]) -> None:
        if len(written) >= n_parts:
            raise Killed
        write(self, part, held)
        if part.kind == "part":
            written.append(part)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CheckpointFolder, "write", write_or_die)
        with suppress(Killed):
            yield


def bits(model: Any) -> bytes:
    """The bytes of its file, which has everything that the model knows."""
    file = io.BytesIO()
    coterie.save(model, file)
    return file.getvalue()


def parts_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix == ".part")


def timeless(model: Any) -> bytes:
    """The bits of a model without the times that it took, and without sizes: names in memory from a file are copies."""
    model.fit_time_ = 0.0
    if hasattr(model, "sizes_"):
        model.sizes_ = Bunch(**dict.fromkeys(model.sizes_, 0))
    for name in ("fit_times_", "predict_times_"):
        setattr(model, name, Bunch(**dict.fromkeys(getattr(model, name), 0.0)))
    return bits(model)
