"""Why boosting goes on learning when no training row is wrong: margins, their bounds, and the error on new rows.

AdaBoost of small trees has no wrong training row after a few rounds. The smallest margin goes on rising, and in the end
the error on new rows is lower than it was when the training error reached zero. A random forest is shown beside it, out
of bag. Three pictures are written as web pages.
"""

import numpy as np

from coterie import AdaBoostClassifier, DecisionTreeClassifier, RandomForestClassifier, diagnostics
from coterie.plots import ErrorBoundDisplay, MarginDisplay, RoundsDisplay


def make_rings(n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points in a plane with three more columns of noise; the class is the ring on which a point lies."""
    X = rng.normal(size=(n_rows, 5))
    return X, np.where(np.sin(3 * np.hypot(X[:, 0], X[:, 1])) > 0, "odd ring", "even ring")


def main() -> None:
    rng = np.random.default_rng(0)
    X, y = make_rings(1000, rng)
    X_new, y_new = make_rings(4000, rng)

    trees = DecisionTreeClassifier(max_depth=5, random_state=0)
    boosting = AdaBoostClassifier(trees, n_estimators=200, random_state=0).fit(X, y)
    found = diagnostics.margins(boosting, X, y, rounds=[5, 10, 50, 200])
    rounds = RoundsDisplay.from_estimator(boosting, X, y, X_new, y_new)
    new = rounds.test_error
    print("AdaBoost on its training rows:")
    print(found)
    print(
        "Error on new rows after the same rounds: "
        + ", ".join(f"{new[number - 1]:.3f}" for number in found.rounds)
    )

    print("\nEach quantity beside its bound:")
    bounds = diagnostics.bounds.adaboost(boosting, X, y)
    print(bounds)

    forest = RandomForestClassifier(200, random_state=0).fit(X, y)
    honest = diagnostics.margins(forest, X, y, oob=True)
    print(
        f"\nA random forest, out of bag: {100 * honest.error()[0]:.1f} % of rows have a margin of at most 0,"
    )
    print(f"and it is wrong about {100 * np.mean(forest.predict(X_new) != y_new):.1f} % of new rows.")

    MarginDisplay.from_margins(found).save("margins.html")
    ErrorBoundDisplay.from_bounds(bounds).save("error_bound.html")
    rounds.save("rounds.html")
    print("\nPictures are in margins.html, error_bound.html and rounds.html.")


if __name__ == "__main__":
    main()
