"""A table in, a trusted ensemble out: who will buy, by a committee of ten kinds of members.

The table is messy: towns, gaps, a column that says nothing. A comparison shows what each family can do, a committee
weighs its members by what they say of rows held out, and promises a score; new customers show what the promise is
worth. At last one fast model learns what the committee says.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from coterie import CommitteeClassifier, compare

TOWNS = {"Cork": 0.8, "Oslo": -0.5, "Rome": 0.1}


def customers(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Age, visits, town and a number on the invoice; and whether they bought."""
    rng = np.random.default_rng(seed)
    age, visits = rng.uniform(18, 80, n_rows), rng.poisson(4, n_rows).astype(float)
    town = rng.choice(list(TOWNS), n_rows)
    wish = 0.4 * visits - ((age - 45) / 15) ** 2 + np.array([TOWNS[each] for each in town])
    bought = np.where(wish + rng.logistic(size=n_rows) > 0, "yes", "no")
    age[rng.random(n_rows) < 0.1] = np.nan
    table = pd.DataFrame({"age": age, "visits": visits, "town": town, "invoice": rng.permutation(n_rows)})
    return table, bought


def main() -> None:
    table, bought = customers(800, seed=0)
    new_table, new_bought = customers(4000, seed=1)

    print(compare(table, bought, models=["dummy", "linear", "tree", "forest"], random_state=0))

    committee = CommitteeClassifier(time_limit=60, cv=4, random_state=0).fit(table, bought)
    print()
    print(committee.leaderboard())

    found = log_loss(new_bought, committee.predict_proba(new_table))
    print(
        f"\nlog loss promised {-committee.oof_score_:.3f} ± {2 * committee.oof_score_error_:.3f}, found {found:.3f}"
    )
    sets = committee.predict_set(new_table, alpha=0.1)
    column = (new_bought == "yes").astype(int)
    print(
        f"sets hold the answer for {sets[np.arange(len(sets)), column].mean():.0%} of new customers, "
        f"and are sure of {np.mean(sets.sum(axis=1) == 1):.0%}"
    )
    student, kept = committee.distil(table, return_gain=True)
    print(f"one fast model instead: log loss {log_loss(new_bought, student.predict_proba(new_table)):.3f}")
    print(kept)


if __name__ == "__main__":
    main()
