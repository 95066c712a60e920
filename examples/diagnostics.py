"""A look inside: what an ensemble gains, how its members differ, and what it makes of its columns.

A tree, bagged trees and boosted stumps are fitted many times to samples of one world, and their errors fall into bias,
variance and noise. Then a forest on a real table is looked at from all sides. All pictures are written into one page
that loads nothing.
"""

from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from coterie import (
    BaggingRegressor,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    diagnostics,
    plots,
)
from coterie.datasets import load_table


def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A sample of a wave with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(100, 1))
    return X, np.sin(2 * X[:, 0]) + rng.normal(scale=0.3, size=100)


def parts_of_errors() -> list[plots.Display]:
    X = np.linspace(-2.8, 2.8, 60)[:, None]
    wave = np.sin(2 * X[:, 0])
    stumps = {"max_leaf_nodes": 2, "learning_rate": 0.3, "min_samples_leaf": 3}
    models = {
        "a deep tree": (DecisionTreeRegressor(), None),
        "30 bagged trees": (BaggingRegressor(n_estimators=30), "all"),
        "one stump": (GradientBoostingRegressor(n_estimators=1, **stumps), None),
        "200 boosted stumps": (GradientBoostingRegressor(n_estimators=200, **stumps), "all"),
    }
    print(f"{'':<20}{'bias':>8}{'variance':>10}{'noise':>8}{'error':>8}")
    displays: list[plots.Display] = []
    for name, (model, stages) in models.items():
        found = diagnostics.bias_variance(
            model, X, wave, draw=draw, truth=wave, noise=0.09, n_repeats=40, stages=stages, random_state=0
        )
        row = (found.bias[-1], found.variance[-1], found.noise[-1], found.error[-1])
        print(f"{name:<20}{row[0]:>8.3f}{row[1]:>10.3f}{row[2]:>8.3f}{row[3]:>8.3f}")
        if stages is not None:
            displays.append(plots.BiasVarianceDisplay(found))
    return displays


def a_forest() -> list[plots.Display]:
    table, kind = load_table("wine")
    rows, new = train_test_split(np.arange(len(kind)), test_size=0.5, stratify=kind, random_state=0)
    X, X_new = ({name: column[some] for name, column in table.items()} for some in (rows, new))
    y, y_new = kind[rows], kind[new]
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)

    voters = diagnostics.voters(forest, X_new, y_new)
    print(f"\n{voters.n} trees on wine, each wrong in {100 * voters.member_error:.1f} of 100 rows.")
    print(
        f"Together {100 * voters.ensemble_error:.1f}; independent voters: {100 * voters.independent_error:.1f}."
    )
    diversity = diagnostics.diversity(forest, X_new, y_new)
    print(f"Two trees agree with a kappa of {diversity.mean('kappa'):.2f}.")

    error = diagnostics.bootstrap(RandomForestClassifier(30), table, kind, n_repeats=20, random_state=0)
    low, high = error.interval()
    print(f"Error on new rows by .632+: {error.error_632_plus:.3f}, from {low:.3f} to {high:.3f}.")

    importance = diagnostics.importance(forest, X_new, y_new, random_state=0)
    best = importance.names[importance.order[0]]
    print(f"The most important column is {best}.")
    last = np.unique(y)[-1]
    return [
        plots.VotersDisplay(voters),
        plots.DiversityDisplay(diversity),
        plots.KappaErrorDisplay(diversity),
        plots.BootstrapDisplay(error),
        plots.CalibrationDisplay.from_estimator(forest, X_new, y_new, strategy="quantile", n_bins=6),
        plots.ImportanceDisplay(importance),
        plots.DependenceDisplay.from_estimator(forest, X_new, best, kind="individual", target=last),
        plots.DependenceDisplay.from_estimator(forest, X_new, best, kind="ale", target=last),
    ]


def main() -> None:
    displays = [*parts_of_errors(), *a_forest()]
    pictures = "\n".join(display.to_svg() for display in displays)
    Path("diagnostics.html").write_text(f'<meta charset="utf-8">\n{pictures}', encoding="utf-8")
    print(f"\n{len(displays)} pictures are in diagnostics.html.")


if __name__ == "__main__":
    main()
