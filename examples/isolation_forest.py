"""Payments that are unlike the others: found without being told what to look for, and why each was found.

Most payments are small, by day, and to a shop; a few are not. The forest never sees which. It scores every row by how
few random splits part it from the rest, and says which columns made its path short.
"""

import numpy as np

from coterie import IsolationForest


def payments(n_rows: int, n_odd: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Amount, hour and kind of payments, the last ones at night, large, and of a kind that is rare."""
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(3.0, 0.6, n_rows)
    hour = rng.normal(14.0, 3.0, n_rows) % 24
    kind = rng.choice(["shop", "rent", "fuel"], n_rows, p=[0.8, 0.05, 0.15])
    amount[-n_odd:] *= 8.0
    hour[-n_odd:] = rng.uniform(0.0, 5.0, n_odd)
    kind[-n_odd:] = rng.choice(["wire", "shop"], n_odd)
    amount[rng.random(n_rows) < 0.02] = np.nan
    return {"amount": amount, "hour": hour, "kind": kind}, np.arange(n_rows) >= n_rows - n_odd


def main() -> None:
    table, is_odd = payments(5000, 25, seed=0)

    forest = IsolationForest(contamination=0.01, random_state=0).fit(table)

    found = forest.predict(table) == -1
    n_right = int(found[is_odd].sum())
    print(
        f"{found.sum()} of {len(found)} payments are outliers, {n_right} of the {is_odd.sum()} odd ones among them."
    )
    scores = forest.score_samples(table)
    worst = int(np.argmin(scores))
    row = {name: column[worst : worst + 1] for name, column in table.items()}
    print(f"The most unusual one has the score {scores[worst]:.2f}; that of most is {np.median(scores):.2f}.")
    explanation = forest.explain(row)
    print(f"Its path is {-explanation.values.sum():.1f} splits shorter than usual:")
    for name, value in zip(explanation.column_names, explanation.values[0], strict=True):
        print(f"  {name:7} {value:+.2f}  ({row[name][0]})")


if __name__ == "__main__":
    main()
