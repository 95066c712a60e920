"""A forest that says what it does not know: what a used car sells for, and how sure one can be.

The forest is scored on its own training rows, each by the trees that did not draw it, and then on new cars. Its
intervals promise to hold nine times out of ten. At last it tells which columns matter, two of pure noise among them.
"""

import numpy as np

from coterie import ExtraTreesRegressor, RandomForestRegressor

MAKES = {"Astra": 9.0, "Corsa": 7.0, "Vectra": 12.0, "Zafira": 14.0}


def cars(n_rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Age, mileage that was not always noted, make, two columns of noise; and the price in thousands."""
    rng = np.random.default_rng(seed)
    age, make = rng.integers(0, 15, n_rows), rng.choice(list(MAKES), n_rows)
    mileage = 12 * age * rng.uniform(0.5, 1.5, n_rows)
    new = np.array([MAKES[each] for each in make])
    price = new * 0.88**age - 0.01 * mileage + (0.3 + 0.05 * new * 0.88**age) * rng.normal(size=n_rows)
    table = {
        "age": age,
        "mileage": np.where(rng.random(n_rows) < 0.1, np.nan, mileage),
        "make": make,
        "lottery number": rng.random(n_rows),
        "coin": rng.integers(0, 2, n_rows),
    }
    return table, price


def main() -> None:
    table, price = cars(1500, seed=0)
    new_table, new_price = cars(1500, seed=1)

    forest = RandomForestRegressor("auto", min_samples_leaf=3, max_features=0.6, random_state=0).fit(
        table, price
    )
    extra = ExtraTreesRegressor(forest.n_estimators_, min_samples_leaf=3, random_state=0).fit(table, price)
    print(f"The out-of-bag error had settled after {forest.n_estimators_} trees.")
    print(
        f"R2 of the forest: {forest.oob_score_:.3f} out of bag, {forest.score(new_table, new_price):.3f} on new cars"
    )
    print(f"R2 of extra trees on new cars: {extra.score(new_table, new_price):.3f}")

    low, high = forest.predict_interval(new_table, alpha=0.1).T
    inside = np.mean((low <= new_price) & (new_price <= high))
    print(
        f"Intervals of 90 % hold for {100 * inside:.1f} % of new cars, and are {np.mean(high - low):.2f} wide."
    )

    test = forest.oob_importances()
    print("What each column is worth by impurity, out of bag, and what a permutation costs:")
    for i in np.argsort(-test.importances_mean):
        name = forest.feature_names_in_[i]
        print(
            f"{name:>15}: {forest.feature_importances_[i]:.3f} {forest.unbiased_importances_[i]:7.3f} "
            f"{test.importances_mean[i]:7.3f} (p = {test.p_value[i]:.2g})"
        )


if __name__ == "__main__":
    main()
