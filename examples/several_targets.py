"""Several targets at once: what a solar panel gives, how warm it gets, and how much cleaning it needs.

All three depend on the same weather. One model learns them together, with trees whose splits serve all three, and is
compared with a model for each. Then the same table is learned with rounds left out (DART).
"""

import numpy as np

from coterie import GradientBoostingRegressor

TARGETS = ("watts", "degrees", "grams of dust")


def days(n_rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Weather, some of it not measured, and three targets in units of their own."""
    rng = np.random.default_rng(seed)
    sun, wind, rain = rng.uniform(0, 10, n_rows), rng.gamma(2.0, 2.0, n_rows), rng.poisson(0.4, n_rows)
    roof = rng.choice(["flat", "south", "east", "west"], n_rows)
    facing = np.select([roof == "south", roof == "flat"], [1.0, 0.8], 0.6)
    watts = 400 * sun * facing + 200 * rng.normal(size=n_rows)
    degrees = 10 + 3 * sun * facing - wind + 2 * rng.normal(size=n_rows)
    dust = (0.02 + 0.01 * wind) * (rain == 0) * (1 + (roof == "flat")) + 0.02 * rng.normal(size=n_rows)
    table = {
        "sun": sun,
        "wind": np.where(rng.random(n_rows) < 0.1, np.nan, wind),
        "rain": rain,
        "roof": roof,
    }
    return table, np.column_stack([watts, degrees, dust])


def r_squared(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return 1 - ((y - predicted) ** 2).mean(axis=0) / y.var(axis=0)


def main() -> None:
    table, y = days(3000, seed=0)
    new_table, new_y = days(3000, seed=1)
    settings = {"n_estimators": 150, "random_state": 0}

    together = GradientBoostingRegressor(**settings).fit(table, y)
    alone = [GradientBoostingRegressor(**settings).fit(table, target) for target in y.T]
    dart = GradientBoostingRegressor(**settings, dropout_rate=0.1).fit(table, y)

    print("Share of the variance explained in new days:")
    shares = zip(
        TARGETS,
        r_squared(new_y, together.predict(new_table)),
        r_squared(new_y, np.column_stack([model.predict(new_table) for model in alone])),
        r_squared(new_y, dart.predict(new_table)),
        strict=True,
    )
    for name, joint, single, dropping in shares:
        print(f"{name:>14}: {joint:.3f} together, {single:.3f} alone, {dropping:.3f} with rounds left out")


if __name__ == "__main__":
    main()
