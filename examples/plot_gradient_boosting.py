"""Gradient boosting on a table as it comes: categories, missing values, a rule to keep, and a plot of what was learned.

Flats have an area, a district and an age that is not always known. The model is told that a larger flat is never
cheaper, stops by itself when new trees no longer help, and beats the average by far. The curve of rent
against area is written to `gradient_boosting.svg`.
"""

from pathlib import Path

import numpy as np

from coterie import GradientBoostingRegressor

DISTRICTS = np.array(["harbour", "hill", "old town", "park", "station"])
PER_METRE = np.array([14.0, 17.0, 21.0, 16.0, 11.0])


def make_flats(n_rows: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rent grows with the area, by district; new flats cost more, and the age of a third is unknown."""
    place = rng.integers(0, len(DISTRICTS), n_rows)
    area = rng.gamma(9.0, 8.0, n_rows).round()
    age = rng.uniform(0, 90, n_rows).round()
    rent = area * PER_METRE[place] * (1.25 - 0.004 * age) + rng.normal(0, 60, n_rows)
    age[rng.random(n_rows) < 0.33] = np.nan
    return {"area": area, "district": DISTRICTS[place], "age": age}, rent


def typical_error(model: GradientBoostingRegressor, flats: dict[str, np.ndarray], rent: np.ndarray) -> float:
    return float(np.abs(model.predict(flats) - rent).mean())


def rent_by_area(model: GradientBoostingRegressor, area: np.ndarray, district: str) -> np.ndarray:
    rows = {"area": area, "district": [district] * len(area), "age": np.full(len(area), np.nan)}
    return model.predict(rows)


def draw_curves(model: GradientBoostingRegressor, area: np.ndarray) -> str:
    """One line per district, as an SVG picture of 640 by 400 points."""
    curves = {district: rent_by_area(model, area, district) for district in DISTRICTS}
    top = max(curve.max() for curve in curves.values())
    x = 40 + 480 * (area - area[0]) / (area[-1] - area[0])
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 400" font-family="sans-serif" font-size="13">'
    ]
    for hue, (district, curve) in zip(range(0, 360, 72), curves.items(), strict=True):
        y = 370 - 340 * curve / top
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="hsl({hue}, 60%, 45%)" stroke-width="2"/>'
        )
        parts.append(f'<text x="526" y="{y[-1]:.0f}" fill="hsl({hue}, 60%, 35%)">{district}</text>')
    parts.append('<text x="40" y="392">area, from 20 to 140 square metres</text></svg>')
    return "\n".join(parts)


def main() -> None:
    rng = np.random.default_rng(0)
    flats, rent = make_flats(4000, rng)
    new_flats, new_rent = make_flats(1000, rng)
    model = GradientBoostingRegressor(
        n_estimators=500, monotonic_cst={"area": 1}, early_stopping=True, random_state=0
    ).fit(flats, rent)

    by_mean = float(np.abs(new_rent - rent.mean()).mean())
    print(f"{model.n_estimators_} trees were kept of at most 500.")
    print(
        f"Typical error on new flats: {typical_error(model, new_flats, new_rent):.0f}, by the mean rent {by_mean:.0f}."
    )
    for name, share in zip(flats, model.feature_importances_, strict=True):
        print(f"{name:>10} {'#' * round(40 * share)} {share:.0%}")

    area = np.linspace(20, 140, 121)
    steps = np.diff([rent_by_area(model, area, district) for district in DISTRICTS], axis=1)
    print(f"The smallest step of the rent as the area grows: {steps.min():.2f}, never below zero.")
    Path("gradient_boosting.svg").write_text(draw_curves(model, area), encoding="utf-8")
    print("The curves are in gradient_boosting.svg.")


if __name__ == "__main__":
    main()
