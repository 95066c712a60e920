"""Columns that trees cannot find: loans are paid late if the debt is greater than the income.

A forest sees the table as it is, and then with generated columns beside it: the names say what they are made of.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline

from coterie import RandomForestClassifier
from coterie.committee import GeneratedFeatures


def loans(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Debt, income, age and town of customers; and whether they pay late."""
    rng = np.random.default_rng(seed)
    debt, income = rng.uniform(1, 9, n_rows), rng.uniform(1, 9, n_rows)
    town = rng.choice(["Cork", "Oslo", "Rome"], n_rows)
    risk = 4 * np.sign(debt - income) + (town == "Rome") + rng.logistic(size=n_rows)
    table = pd.DataFrame({"debt": debt, "income": income, "age": rng.uniform(20, 70, n_rows), "town": town})
    return table, np.where(risk > 0, "late", "paid")


def main() -> None:
    table, paid = loans(800, seed=0)
    new_table, new_paid = loans(4000, seed=1)
    plain = RandomForestClassifier(random_state=0)
    model = make_pipeline(GeneratedFeatures(random_state=0), RandomForestClassifier(random_state=0))
    for name, learner in (("the table", plain), ("the table and generated columns", model)):
        learner.fit(table, paid)
        print(f"{name}: {accuracy_score(new_paid, learner.predict(new_table)):.1%} are predicted right")
    features = model[0]
    for name, made_from, gain in zip(
        features.get_feature_names_out()[4:], features.sources()[4:], features.gains_, strict=True
    ):
        print(
            f"{name}, made of {' and '.join(made_from)}, explains {gain:.0%} of what no column explains alone"
        )


if __name__ == "__main__":
    main()
