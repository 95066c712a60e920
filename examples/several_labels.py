"""Several labels at once: which faults a machine has, from what its sensors show.

A machine may have no fault, one, or several. One model learns all labels. With a tree for each label in a round it is
the model of one fit per label; where trees are shared, a round is one tree, with a value for each label in its leaves.
"""

import numpy as np
from sklearn.metrics import f1_score, log_loss

from coterie import GradientBoostingClassifier

FAULTS = ("worn bearing", "blocked filter", "hot motor", "loose belt")


def machines(n_rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Readings of sensors, some of them missing, and a column of 0 and 1 for each fault."""
    rng = np.random.default_rng(seed)
    age, load, dust = rng.gamma(2.0, 2.0, n_rows), rng.uniform(0, 1, n_rows), rng.gamma(1.5, 1.0, n_rows)
    odds = np.column_stack([age - 6 + 2 * load, 2 * dust - 4, 4 * load + dust - 4.5, age / 2 - 4 + 2 * load])
    faults = (rng.random((n_rows, 4)) < 1 / (1 + np.exp(-odds))).astype(int)
    noise = rng.normal(size=(3, n_rows))
    table = {
        "age": age,
        "load": load,
        "vibration": 2 * faults[:, 0] + faults[:, 3] + load + noise[0],
        "pressure": 5 - 2 * faults[:, 1] + noise[1],
        "heat": np.where(
            rng.random(n_rows) < 0.1, np.nan, 40 + 8 * faults[:, 2] + 3 * faults[:, 0] + 3 * noise[2]
        ),
    }
    return table, faults


def main() -> None:
    table, faults = machines(2000, seed=0)
    new_table, new_faults = machines(2000, seed=1)
    for strategy in ("one_tree_per_class", "shared_trees"):
        model = GradientBoostingClassifier(n_estimators=60, multi_strategy=strategy, random_state=0)
        model.fit(table, faults)
        shares = [own[:, 1] for own in model.predict_proba(new_table)]
        losses = [log_loss(truth, own) for truth, own in zip(new_faults.T, shares, strict=True)]
        score = f1_score(new_faults, model.predict(new_table), average="macro")
        print(f"{strategy}: {len(model.forest_)} trees, macro F1 {score:.3f}")
        for name, loss in zip(FAULTS, losses, strict=True):
            print(f"  log loss of {name}: {loss:.3f}")


if __name__ == "__main__":
    main()
