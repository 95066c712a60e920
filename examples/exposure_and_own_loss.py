"""Counts over unequal times, a linear trend to start from, and a loss of one's own.

Shops report sales over different numbers of days. With the log of the days as the offset the model learns sales per
day, and a shop that was open for one day teaches less than one that was open for a hundred. Then a baker orders bread:
a loaf missing costs four times as much as a loaf left over, and a loss says so.
"""

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LinearRegression

from coterie import GradientBoostingRegressor
from coterie.losses import CustomLoss

MISSING, LEFT_OVER = 4.0, 1.0


def cost(wanted: np.ndarray, baked: np.ndarray) -> np.ndarray:
    """What a day's mistake costs, in loaves left over."""
    return np.where(wanted > baked, MISSING * (wanted - baked), LEFT_OVER * (baked - wanted))


def smooth_cost(wanted: np.ndarray, baked: np.ndarray) -> np.ndarray:
    """The same with the corner rounded off, so that it has a slope and a curvature everywhere."""
    short = wanted - baked
    return (MISSING + LEFT_OVER) * np.logaddexp(0, short) - LEFT_OVER * short


def slope(wanted: np.ndarray, baked: np.ndarray) -> np.ndarray:
    return LEFT_OVER - (MISSING + LEFT_OVER) * expit(wanted - baked)


def curvature(wanted: np.ndarray, baked: np.ndarray) -> np.ndarray:
    return (MISSING + LEFT_OVER) * expit(wanted - baked) * expit(baked - wanted)


def sales_per_day(rng: np.random.Generator) -> None:
    size = rng.uniform(0, 1, (6000, 1))
    rate = 2 + 8 * (size[:, 0] > 0.5)
    days = rng.choice([1.0, 5.0, 100.0], 6000)
    sales = rng.poisson(rate * days)

    with_days = GradientBoostingRegressor(loss="poisson", random_state=0).fit(
        size, sales, offset=np.log(days)
    )
    rates_alone = GradientBoostingRegressor(loss="poisson", random_state=0).fit(size, sales / days)
    for name, model in (("with the days as offset", with_days), ("sales / days, days ignored", rates_alone)):
        error = np.sqrt(np.mean((model.predict(size) - rate) ** 2))
        print(f"Sales per day, {name}: typical error {error:.3f}")


def bread(rng: np.random.Generator) -> None:
    warmth = rng.uniform(0, 30, (4000, 1))
    wanted = 120 - 2 * warmth[:, 0] + 15 * (warmth[:, 0] > 25) + 12 * rng.normal(size=4000)
    loss = CustomLoss(smooth_cost, slope, curvature)
    train, new = slice(0, 3000), slice(3000, None)
    models = {
        "the mean": GradientBoostingRegressor(init=LinearRegression(), random_state=0),
        "what is cheapest": GradientBoostingRegressor(loss=loss, init=LinearRegression(), random_state=0),
    }
    for name, model in models.items():
        baked = model.fit(warmth[train], wanted[train]).predict(warmth[new])
        print(f"Baking {name}: {cost(wanted[new], baked).mean():.1f} a day")


def main() -> None:
    rng = np.random.default_rng(0)
    sales_per_day(rng)
    bread(rng)


if __name__ == "__main__":
    main()
