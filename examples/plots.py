"""Ensembles as pictures: decision regions, residuals, weights and bags, as pages, and as animations.

A classifier is boosted, and a regression; each picture is measured on the fitted model. The pages load nothing; the
animations have a slider, and are moved by the space and arrow keys.
"""

import numpy as np

from coterie import AdaBoostClassifier, RandomForestClassifier
from coterie.diagnostics import bag_counts, fit_by_step, row_weights
from coterie.ensemble import GradientBoostingRegressor
from coterie.plots import BagsDisplay, BoundaryDisplay, ResidualFitDisplay, WeightsDisplay


def make_rings(n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points in a plane; the class is the ring on which a point lies, and some are mislabelled."""
    X = rng.normal(size=(n_rows, 2))
    inner = (np.hypot(X[:, 0], X[:, 1]) < 1.2) ^ (rng.random(n_rows) < 0.08)
    return X, np.where(inner, "inner", "outer")


def main() -> None:
    rng = np.random.default_rng(0)
    X, y = make_rings(300, rng)

    boosted = AdaBoostClassifier(n_estimators=40).fit(X, y)
    regions = BoundaryDisplay.from_estimator(boosted, X, y, rounds="all", response="votes", resolution=30)
    regions.animate("boosting.html")
    print(f"boosting.html: {len(regions.frames())} boundaries, from one straight line on")

    weights = row_weights(boosted, X, y)
    display = WeightsDisplay.from_estimator(boosted, X, y, columns=(0, 1))
    display.animate("weights.html")
    print(
        f"weights.html: half of the weight is on {weights.rows_with(0.5)[0]} of {len(X)} rows before the first round, "
        f"and on {weights.rows_with(0.5)[-1]} after the last"
    )

    forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    bags = bag_counts(forest, X)
    BagsDisplay(bags).animate("bags.html")
    print(
        f"bags.html: a tree leaves out {100 * bags.share_left_out.mean():.1f} % of the rows, "
        f"(1 - 1/n)^n is {100 * bags.expected_left_out:.1f} %"
    )
    shallow = RandomForestClassifier(50, max_depth=2, random_state=0).fit(X, y)
    majority = np.mean(shallow.predict(X, voting="hard") != shallow.predict(X))
    print(f"{100 * majority:.1f} % of the rows have another class by majority vote than by mean probability")

    x = rng.uniform(0, 6, (160, 1))
    target = np.sin(x[:, 0]) + rng.normal(0, 0.3, 160)
    model = GradientBoostingRegressor(n_estimators=200, max_depth=3).fit(x[:80], target[:80])
    steps = fit_by_step(model, x[:80], target[:80], x[80:], target[80:])
    ResidualFitDisplay(steps).animate("residuals.html")
    print(
        f"residuals.html: the error on new rows is least after {steps.best_round} rounds, "
        f"{steps.test_error[steps.best_round]:.3f}, and {steps.test_error[-1]:.3f} after {steps.rounds[-1]}"
    )


if __name__ == "__main__":
    main()
