"""Lines in leaves: what a journey costs, from its length, its hour and the kind of car.

The price rises with the length, for each kind of car with a slope of its own, and there is a surcharge at night. Trees
of constants follow a slope by stairs; trees with lines in their leaves need fewer of them. Both are asked about new
journeys, and about one that is longer than any that was seen.
"""

import numpy as np

from coterie import GradientBoostingRegressor

RATES = {"bike": 0.4, "car": 1.2, "van": 2.0}


def journeys(n_rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Lengths, of which some were not measured, hours and vehicles; and the price."""
    rng = np.random.default_rng(seed)
    length, hour = rng.gamma(2.0, 4.0, n_rows), rng.uniform(0, 24, n_rows)
    vehicle = rng.choice(list(RATES), n_rows)
    rate = np.array([RATES[each] for each in vehicle])
    price = 3 + rate * length + 4 * (hour < 6) + 0.5 * rng.normal(size=n_rows)
    known = np.where(rng.random(n_rows) < 0.05, np.nan, length)
    return {"length": known, "hour": hour, "vehicle": vehicle}, price


def main() -> None:
    table, price = journeys(2000, seed=0)
    new_table, new_price = journeys(2000, seed=1)
    measured = ~np.isnan(new_table["length"])
    far = {"length": [60.0, 600.0], "hour": [12.0, 12.0], "vehicle": ["car", "car"]}

    for words, linear in (("stairs", False), ("lines", True)):
        # A longer journey never costs less: lines keep that as constants do.
        settings = {
            "n_estimators": 100,
            "max_leaf_nodes": 8,
            "monotonic_cst": {"length": 1},
            "random_state": 0,
        }
        model = GradientBoostingRegressor(linear_leaves=linear, **settings).fit(table, price)
        error = np.abs(model.predict(new_table) - new_price)[measured].mean()
        longest, beyond = model.predict(far)
        print(
            f"{words:>6}: wrong by {error:.2f} on average; 60 km cost {longest:.0f}, and 600 km {beyond:.0f}"
        )


if __name__ == "__main__":
    main()
