"""A decision tree to look at: grown on a table with categories and missing values, pruned, printed and drawn.

How large should a tree be? Cross-validation over the pruning path answers, and the tree that wins is small
enough to read. The drawing is written to `decision_tree.svg`.
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from coterie.trees import DecisionTreeClassifier

TOWNS = np.array(["Cork", "Oslo", "Rome", "Turku"], dtype=object)


def make_visits(n_rows: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Visits to a shop. People buy when it is near the weekend in Oslo or Turku, or when they came often."""
    town = rng.choice(TOWNS, n_rows)
    day = rng.integers(1, 8, n_rows).astype(float)
    visits = rng.poisson(3, n_rows).astype(float)
    likes = (np.isin(town, ["Oslo", "Turku"]) & (day >= 5)) | (visits >= 6)
    bought = np.where(rng.random(n_rows) < 0.1, ~likes, likes)
    visits[rng.random(n_rows) < 0.15] = np.nan  # nobody counted
    town[rng.random(n_rows) < 0.05] = None
    return {"town": town, "day of the week": day, "earlier visits": visits}, np.where(bought, "buys", "goes")


def rows_of(table: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: column[rows] for name, column in table.items()}


def held_out_accuracy(X: dict[str, np.ndarray], y: np.ndarray, alpha: float) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
    scores = []
    for train, test in folds:
        model = DecisionTreeClassifier(ccp_alpha=alpha).fit(rows_of(X, train), y[train])
        scores.append(model.score(rows_of(X, test), y[test]))
    return float(np.mean(scores))


def main() -> None:
    X, y = make_visits(2000, np.random.default_rng(0))
    whole = DecisionTreeClassifier().fit(X, y)
    alphas = whole.cost_complexity_pruning_path(X, y).ccp_alphas
    candidates = np.unique(alphas[-15:-1])  # where trees become small enough to read
    scores = np.array([held_out_accuracy(X, y, alpha) for alpha in candidates])
    chosen = np.flatnonzero(scores > scores.max() - 0.005)[-1]  # the smallest tree that is about as good
    model = DecisionTreeClassifier(ccp_alpha=candidates[chosen]).fit(X, y)

    print(
        f"Accuracy on rows that the tree did not see: {held_out_accuracy(X, y, 0.0):.3f} for the whole tree with"
    )
    print(
        f"{whole.get_n_leaves()} leaves, {scores[chosen]:.3f} for the pruned one with {model.get_n_leaves()}."
    )
    print("One row in ten is noise, so no tree can do better than about 0.9.\n")
    print(model.to_text())
    model.to_svg().save("decision_tree.svg")
    print("The drawing is in decision_tree.svg.")


if __name__ == "__main__":
    main()
