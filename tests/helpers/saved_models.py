"""The small models that LightGBM and XGBoost saved, and what they answered. tools/make_import_fixtures.py made them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).parents[1] / "export" / "data"
FILES = sorted(path for path in FOLDER.iterdir() if not path.name.endswith(".answers.json"))


@dataclass(frozen=True)
class Noted:
    """Rows that a model was asked about, and its answers."""

    rows: dict[str, list[Any]]
    answers: NDArray[np.float64]
    leaves: NDArray[np.int64]


def noted(file: Path) -> Noted:
    content = json.loads((FOLDER / f"{file.stem}.answers.json").read_text(encoding="utf-8"))
    leaves = np.array(content["leaves"])
    return Noted(content["rows"], np.array(content["answers"]), leaves.reshape(len(leaves), -1))


def answers(model: Any, rows: Any) -> NDArray[Any]:
    """What the original's answers are compared with."""
    return np.asarray(model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows))
