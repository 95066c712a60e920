"""Whom to believe, and when: what a flat rents for, by three members that each know a part of it.

A linear model sees how large a flat is, a forest where it is and how old; the third member knows its rows by heart. A
vote counts them alike, learned weights find out who is worth it, and a stack learns how their answers go together from
what they say of flats that they were not fitted to. At last the leak guard compares what the stack promises with what
it reaches.
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from coterie import DecisionTreeRegressor, RandomForestRegressor, StackingRegressor, VotingRegressor

DISTRICTS = {"harbour": 6.0, "hill": 14.0, "old town": 11.0, "station": 3.0}


def flats(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Area, rooms, year and district; and the rent in hundreds."""
    rng = np.random.default_rng(seed)
    area, district = rng.uniform(25, 140, n_rows), rng.choice(list(DISTRICTS), n_rows)
    rooms, year = np.maximum(1, (area / 28).round()), rng.integers(1900, 2025, n_rows)
    charm = np.array([DISTRICTS[each] for each in district]) * (year < 1930)
    rent = 2 + 0.09 * area + 0.5 * charm + rng.normal(size=n_rows)
    return pd.DataFrame({"area": area, "rooms": rooms, "year": year, "district": district}), rent


def main() -> None:
    table, rent = flats(1200, seed=0)
    new_table, new_rent = flats(1200, seed=1)
    members = [
        ("linear", LinearRegression(), ["area", "rooms"]),
        ("forest", RandomForestRegressor(50, min_samples_leaf=5, random_state=0), ["year", "district"]),
        ("by heart", DecisionTreeRegressor(random_state=0)),
    ]

    vote = VotingRegressor(members, cv=5).fit(table, rent)
    learned = vote.recombined(weights="learned")
    stack = StackingRegressor(members, members="folds", leak_guard=True).fit(table, rent)

    print("R2 on rows held out, and on new flats:")
    for name, member in vote.named_estimators_.items():
        kept = member.score(new_table[member.feature_names_in_], new_rent)
        print(f"{name:>20}: {vote.member_scores_[name]:.3f}  {kept:.3f}")
    for name, model in {"equal votes": vote, "learned weights": learned, "stack": stack}.items():
        kept = model.score(new_table, new_rent)
        print(
            f"{name:>20}: {model.oof_score_:.3f}  {kept:.3f}   (standard error {model.oof_score_error_:.3f})"
        )
    print(
        "Learned weights:", dict(zip(vote.named_estimators_, learned.weights_.round(2).tolist(), strict=True))
    )
    guard = stack.leak_guard_
    print(
        f"The stack promised {guard.promised:.3f} in a trial and reached {guard.kept:.3f}: leaks = {guard.leaks}"
    )


if __name__ == "__main__":
    main()
