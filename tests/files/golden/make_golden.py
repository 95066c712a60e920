"""Writes the files of the newest format; `python -m tests.files.golden.make_golden`. Files of earlier formats stay."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import coterie
from coterie.files.upgrades import FORMAT
from coterie.losses import Huber

FOLDER = Path(__file__).parent
TABLE = {
    "size": [0.5, 1.5, None, 2.5, 3.5, 0.25, 4.5, 1.0],
    "town": ["Oslo", "Rome", "Oslo", None, "Cork", "Rome", "Cork", "Oslo"],
}
LABELS = ["a", "b", "a", "c", "b", "a", "c", "b"]
NUMBERS = [0.0, 1.0, 0.5, 2.0, 3.0, 1.5, 4.0, 0.25]
MANY = {
    "size": [37 * i % 101 / 20 for i in range(300)],
    "town": [("Oslo", "Rome", "Cork")[i * i % 7 % 3] for i in range(300)],
}
MANY_NUMBERS = [size + 13 * i % 5 for i, size in enumerate(MANY["size"])]


def models() -> dict[str, Any]:
    """Small models whose parts are all kinds of nodes; those of many rows have coded arrays."""
    small: dict[str, Any] = {"n_estimators": 2, "random_state": 0}
    trees = [
        ("tree", coterie.DecisionTreeClassifier(max_depth=2)),
        ("flat", coterie.DecisionTreeClassifier(max_depth=1)),
    ]
    return {
        "forest": coterie.RandomForestClassifier(**small).fit(TABLE, LABELS),
        "boosting": coterie.GradientBoostingRegressor(min_samples_leaf=1, **small).fit(TABLE, NUMBERS),
        "huber": coterie.GradientBoostingRegressor(loss=Huber(0.8), min_samples_leaf=1, **small).fit(
            TABLE, NUMBERS
        ),
        "adaboost": coterie.AdaBoostClassifier(**small).fit(TABLE, LABELS),
        "many_boosting": coterie.GradientBoostingRegressor(**small | {"n_estimators": 8}).fit(
            MANY, MANY_NUMBERS
        ),
        "many_forest": coterie.RandomForestRegressor(**small).fit(MANY, MANY_NUMBERS),
        "voting": coterie.VotingClassifier(trees, voting="soft").fit(TABLE, LABELS),
    }


def answers(model: Any) -> list[Any]:
    said = model.predict_proba(TABLE) if hasattr(model, "predict_proba") else model.predict(TABLE)
    return [float(value).hex() for value in np.ravel(said)]


def main() -> None:
    noted = {}
    for name, model in models().items():
        coterie.save(model, FOLDER / f"format{FORMAT}_{name}.coterie")
        noted[name] = answers(model)
    (FOLDER / f"format{FORMAT}.json").write_text(json.dumps(noted, indent=0) + "\n")


if __name__ == "__main__":
    main()
