"""Decisions and intervals that can be used: whom to call, and how long a repair may take.

One customer in twenty leaves, and a call costs a twentieth of what a lost customer does. The most probable class is to
call nobody; a threshold tuned to costs finds most of those who leave. For repairs, intervals are wide where they have
to be: a long repair may well take an hour more, a short one does not.
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from coterie import CommitteeClassifier, GradientBoostingRegressor, TunedThresholdClassifier


def customers(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"months": rng.exponential(20, n_rows), "complaints": rng.poisson(0.5, n_rows)})
    odds = np.exp(-3.5 + 0.9 * table["complaints"] - 0.02 * table["months"]).to_numpy()
    return table, np.where(rng.random(n_rows) < odds / (1 + odds), "leaves", "stays")


def repairs(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"parts": rng.integers(1, 15, n_rows), "age": rng.uniform(0, 20, n_rows)})
    usual = 10.0 * table["parts"] * (1 + 0.03 * table["age"])
    return table, (usual * rng.gamma(12, 1 / 12, n_rows)).to_numpy()


def cost(truth: np.ndarray, decided: np.ndarray) -> float:
    """Of a customer, in calls: one for each that is made, twenty for each customer lost without one."""
    return float(np.mean((decided == "leaves") + 20.0 * ((truth == "leaves") & (decided == "stays"))))


def main() -> None:
    table, truth = customers(3000, seed=0)
    new, new_truth = customers(5000, seed=1)
    costs = [[1, 20], [1, 0]]  # rows: leaves, stays; columns: what is decided
    members = ["linear", "quick_boosting"]
    committee = CommitteeClassifier(
        None, portfolio=members, cost_matrix=costs, pos_label="leaves", random_state=0
    )
    committee.fit(table, truth)
    wrapped = TunedThresholdClassifier(LogisticRegression(), cost_matrix=costs, pos_label="leaves").fit(
        table, truth
    )
    probable = committee.classes_[committee.predict_proba(new).argmax(axis=1)]
    print(committee.decision_.describe(committee.classes_))
    print(f"cost of a customer, most probable class: {cost(new_truth, probable):.2f}")
    print(f"with the threshold of the committee:     {cost(new_truth, committee.predict(new)):.2f}")
    print(f"with that of a logistic regression:      {cost(new_truth, wrapped.predict(new)):.2f}")

    table, minutes = repairs(3000, seed=0)
    new, new_minutes = repairs(5000, seed=1)
    model = GradientBoostingRegressor(random_state=0).fit(table, minutes)
    low, high = model.predict_interval(new, alpha=0.1).T
    inside = (low <= new_minutes) & (new_minutes <= high)
    for name, some in (("short", new["parts"] <= 4), ("long", new["parts"] >= 11)):
        print(
            f"{name} repairs: {inside[some].mean():.0%} inside, {np.mean((high - low)[some]):.0f} minutes wide"
        )


if __name__ == "__main__":
    main()
